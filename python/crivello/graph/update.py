"""The graph of a collection, and the ranks of its pages."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello._core import Layout, Progress, Ranks, Row
from crivello._figures import Figures, shown
from crivello._tables import Tabular
from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.kept import Kept
from crivello.graph.measures import Measure, named
from crivello.graph.scores import Scores
from crivello.store import Outcome

SHARE_OF_BASE = 8
"""A new base is written when the log of links grew by more than a SHARE_OF_BASE-th since the last."""


@dataclass(frozen=True, repr=False)
class Ranking(Figures, Tabular):
    """The size of a collection's graph, and the rank of each page by a measure.

    Iterating yields the URL and rank of every ranked page, in page order; ``top`` returns the best.
    """

    pages: int = 0
    links: int = 0
    bits_per_link: float = 0.0
    measure: str = ""
    iterations: int = 0
    converged: bool = True
    _collection: Collection | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(()) if self._collection is None else ranked_pages(self._collection)

    def top(self, count: int = 10) -> list[tuple[str, float]]:
        """The URLs of the pages with the highest rank, best first."""
        return heapq.nlargest(count, self, key=lambda page: (page[1], page[0]))

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello index --json``."""
        return {
            "ranked_pages": self.pages,
            "links": self.links,
            "bits_per_link": self.bits_per_link,
            "measure": self.measure,
            **({"iterations": self.iterations, "converged": self.converged} if self.iterations else {}),
        }

    def _headline(self) -> str:
        return f"{self.pages:,} pages ranked by {self.links:,} links"

    def _figures(self) -> Iterator[tuple[str, str]]:
        for name, value in self.to_dict().items():
            yield name.replace("_", " "), shown(value)

    def _columns(self) -> Mapping[str, str]:
        return {"url": "VARCHAR", "rank": "DOUBLE"}

    def _rows(self) -> Iterable[tuple[str, float]]:
        return self


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a page stands in a measure: its value, its position from 1 on, and the number of pages."""

    measure: str
    value: float
    position: int
    pages: int

    @property
    def percentile(self) -> float:
        """The share of pages, in percent, that do not stand above it."""
        return 100 * (self.pages - self.position + 1) / self.pages

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello why --json``."""
        return {
            "measure": self.measure,
            "value": self.value,
            "position": self.position,
            "pages": self.pages,
            "percentile": self.percentile,
        }


def graph_of(collection: Collection, *, nofollow: bool = False, progress: Progress | None = None) -> Graph:
    """The graph of the pages of a collection as of its last commit; its names are their URLs."""
    kept, parts = Kept.of(collection.state("graph")), collection.parts
    if parts and kept.covered != _covered(parts):
        arcs, names = _core.merged_page_graph(*_merge_of(collection), nofollow, progress)
    else:
        committed = kept.read_from(collection.files)
        arcs, names = _core.page_graph(collection.folder, kept.base, committed, nofollow, progress)
    return Graph(arcs, names).showing(progress)


def update_ranks(
    collection: Collection,
    *,
    measure: str | None = None,
    damping: float | None = None,
    keep_given: bool = False,
) -> Ranking:
    """Computes the ranks of the pages by ``measure`` and by the other measures that are kept, and commits them.

    Files get new names each time: after a crash, and for readers of the last commit, its files still exist.
    With ``keep_given`` nothing is done if the ranks were set by ``give_ranks``.
    """
    old = Kept.of(collection.state("graph"))
    has_links = any(part.length(Layout.LINKS) for part in [*collection.parts.values()] or [collection])
    if not has_links or (keep_given and old.is_given):
        return Ranking()
    settings = collection.settings.rank
    names = dict.fromkeys([measure or settings.measure, *settings.measures.split()])
    measures = [named(name) for name in names]
    new = replace(old, number=old.number + 1, measures=tuple(names), is_given=False)
    new, written = _with_base(collection, new)
    files: dict[str, int | None] = {**written}
    graph = Graph(*_core.page_graph(collection.folder, new.base, new.read_from(collection.files) | written))
    results = []
    for each, (_, file) in zip(measures, new.ranks(), strict=True):
        scores = each(graph, **_options(each, settings.damping if damping is None else damping))
        values = np.asarray(scores)
        files[file] = graph.names.write_ranks(values, strengths(values), collection.folder / file)  # type: ignore[union-attr]
        results.append(scores)
    files |= dict.fromkeys(_replaced(collection, old, new))
    collection.commit(files, graph=new.state())
    return _ranking(graph, results[0], new, collection)


def _ranking(graph: Graph, scores: Scores, kept: Kept, collection: Collection) -> Ranking:
    links = Layout.graph_files(kept.base[0])[2] if kept.base else None
    bits = _core.Arcs.open(collection.folder / links).bits_per_link if links else 0.0
    ended = (scores.measure, scores.iterations or 0, scores.converged)
    return Ranking(graph.nodes, graph.arcs, bits, *ended, collection)


def _options(measure: Measure, damping: float) -> dict[str, Any]:
    return {"damping": damping} if "damping" in measure.options() else {}


def strengths(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a search adds ln(1 + r) for: r = n / p − 1 for the page in position p of n.

    So the score depends on the order of the pages alone, whatever the scale and the distribution of the
    measure. Values of a measure like PageRank follow a power law of the position, so their logarithm is linear
    in ln p, too. Of equal values the last position counts: pages that nobody links to add nothing.
    """
    order = np.sort(values)
    positions = len(values) - np.searchsorted(order, values, side="left")
    return np.asarray(len(values) / np.maximum(positions, 1) - 1.0, dtype=np.float64)


def _with_base(collection: Collection, kept: Kept) -> tuple[Kept, dict[str, int]]:
    """The state with a new base, if what was logged since the last has outgrown it, and the files of that base."""
    if parts := collection.parts:
        covered = _covered(parts)
        if kept.covered == covered:
            return kept, {}
        written = _core.write_merged_page_graph(collection.folder, *_merge_of(collection), kept.number)
        return replace(kept, base=(kept.number, 0, 0), covered=covered), written
    committed = dict(collection.files)
    rows, links = committed[Layout.ROWS], committed[Layout.LINKS]
    before = kept.base[2] if kept.base else 0
    if (links - before) * SHARE_OF_BASE <= before:
        return kept, {}
    written = _core.write_page_graph(collection.folder, kept.base, committed, kept.number)
    return replace(kept, base=(kept.number, rows, links)), written


def _covered(parts: Mapping[int, Collection]) -> dict[str, int]:
    """How much of the tables of parts a graph of all of them covers."""
    return {str(number): part.length(Layout.ROWS) for number, part in parts.items()}


def _merge_of(collection: Collection) -> tuple[list[_core.Table], bool]:
    """The tables of the parts of a collection, and whether a page with the text of another part's stands for that one."""
    tables = [part.table for part in collection.parts.values()]
    return tables, collection.settings.crawl.exact_duplicates != "keep"


def _replaced(collection: Collection, old: Kept, new: Kept) -> Iterator[str]:
    """The committed files of the last update that are needed no more."""
    for _, file in old.ranks():
        yield file
    if old.base == new.base:
        return
    for file in Layout.graph_files(old.base[0] if old.base else old.number):
        if file in collection.files:
            yield file


def give_ranks(collection: Collection, ranks: Mapping[str, float] | Sequence[float]) -> Ranking:
    """Replaces the measure's ranks by your own static ranks of the pages of a collection, and commits them.

    ``ranks`` has a nonnegative number for each URL, or one for each row of ``collection.pages()``, in that
    order. They are scaled so that their mean is 1; a page with r has ``rank_weight`` · ln(1 + r) more. A page without
    one has 0. They remain in effect until ``update_ranks`` computes a measure.
    """
    if isinstance(ranks, Mapping):
        pages = {_core.signature(url): float(rank) for url, rank in ranks.items()}
    else:
        urls = [row.url for row in collection.pages()]
        if len(urls) != len(ranks):
            raise InvalidArgument(
                f"there are {len(ranks):,} ranks for {len(urls):,} pages",
                hint="give one for each of collection.pages(), or a mapping from URLs to ranks",
            )
        pages = {_core.signature(url): float(rank) for url, rank in zip(urls, ranks, strict=True)}
    wrong = [rank for rank in pages.values() if not (np.isfinite(rank) and rank >= 0)]
    if wrong:
        raise InvalidArgument(f"{wrong[0]} is not a rank: it must be a finite number from 0 on")
    total = sum(pages.values())
    scale = len(pages) / total if total else 0.0
    scaled = [(page, rank * scale, rank * scale) for page, rank in pages.items()]
    old = Kept.of(collection.state("graph"))
    new = replace(old, gifts=old.gifts + 1, is_given=True)
    name = new.ranks_in_use() or ""
    files: dict[str, int | None] = {name: _core.write_ranks(scaled, collection.folder / name)}
    if old.is_given and (last := old.ranks_in_use()):
        files[last] = None
    collection.commit(files, graph=new.state())
    return Ranking(len(pages), measure=new.measure or "", _collection=collection)


def ranked_pages(collection: Collection) -> Iterator[tuple[str, float]]:
    """The URL of each ranked page with its rank."""
    kept = Kept.of(collection.state("graph"))
    name = kept.ranks_in_use()
    if name is None:
        return
    ranks = Ranks(collection.folder / name, collection.length(name))
    stored = (Outcome.FETCHED, Outcome.NOT_MODIFIED)
    for rows, _ in collection.table.batches(newest=True):
        pages = _originals(collection, kept, [row for row in rows if row.outcome in stored])
        values = ranks.get([_core.signature(row.url) for row in pages])
        yield from ((row.url, value) for row, value in zip(pages, values, strict=True) if value is not None)


def _originals(collection: Collection, kept: Kept, pages: list[Row]) -> list[Row]:
    """The pages that are no copies of others: of those of other agents only the merged graph knows."""
    if not (kept.covered and kept.base):
        return [row for row in pages if row.duplicate_of is None and not row.is_dropped]
    name = Layout.graph_files(kept.base[0])[1]
    signatures = _core.signatures([row.url for row in pages])
    copies = _core.are_copies(collection.folder / name, collection.length(name), signatures)
    return [row for row, is_copy in zip(pages, copies, strict=True) if not is_copy]


def standings(collection: Collection, url: str) -> list[Standing]:
    """Where a page stands in each measure that is kept, the one that searches use first."""
    found = []
    for measure, name in Kept.of(collection.state("graph")).ranks():
        standing = Ranks(collection.folder / name, collection.length(name)).standing(_core.signature(url))
        if standing is not None:
            found.append(Standing(measure, *standing))
    return found
