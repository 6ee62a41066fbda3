"""Updates the graph and the ranks of a collection from its log of links."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crivello import _core
from crivello._core import Layout
from crivello._figures import Figures, shown
from crivello._tables import Tabular
from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.graph import Graph, Ranks, build_graph, given_ranks, rank_graph, ranks_in_use


@dataclass(frozen=True, repr=False)
class Ranking(Figures, Tabular):
    """The size of a collection's graph, and the rank of each page (the mean is 1).

    Iterating yields the URL and rank of every ranked page, in page order; ``top`` returns the best.
    """

    pages: int
    links: int
    bits_per_link: float
    iterations: int
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
            "iterations": self.iterations,
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


def update_ranks(collection: Collection, *, damping: float = 0.85, keep_given: bool = False) -> Ranking:
    """Builds the graph from the committed links, computes PageRank, and commits both.

    The files get new names each time: after a crash, and for readers of the last commit, its files still exist.
    With ``keep_given`` nothing is done if the ranks were set by ``give_ranks``.
    """
    committed = collection.length(Layout.LINKS)
    old = collection.state("graph")
    if not committed or (keep_given and old.get("given")):
        return Ranking(0, 0, 0.0, 0)
    number = old.get("number", 0) + 1
    graph_file, ranks_file = Layout.graph(number), Layout.ranks(number)
    built = build_graph(collection.folder / Layout.LINKS, committed, collection.folder / graph_file)
    graph = Graph(collection.folder / graph_file, built.length)
    ranked = rank_graph(graph, collection.folder / ranks_file, damping=damping)
    files: dict[str, int | None] = {graph_file: built.length, ranks_file: ranked.length}
    if "number" in old:
        files |= {Layout.graph(old["number"]): None, Layout.ranks(old["number"]): None}
    if given := given_ranks(old):
        files[given] = None
    collection.commit(files, graph={"number": number, "damping": damping, "gifts": old.get("gifts", 0)})
    return Ranking(graph.nodes, graph.arcs, graph.bits_per_link, ranked.iterations, collection)


def give_ranks(collection: Collection, ranks: Mapping[str, float] | Sequence[float]) -> Ranking:
    """Replaces PageRank by your own static ranks of the pages of a collection, and commits them.

    ``ranks`` has a nonnegative number for each URL, or one for each row of ``collection.pages()``, in that order. They are
    scaled so that their mean is 1, as PageRank's is, and ``search.rank_weight`` says how much they add to a
    score. A page without one has 0. They remain in effect until ``update_ranks`` computes PageRank.
    """
    if isinstance(ranks, Mapping):
        pages = [(_core.signature(url), float(rank)) for url, rank in ranks.items()]
    else:
        urls = [row.url for row in collection.pages()]
        if len(urls) != len(ranks):
            raise InvalidArgument(
                f"there are {len(ranks):,} ranks for {len(urls):,} pages",
                hint="give one for each of collection.pages(), or a mapping from URLs to ranks",
            )
        pages = [(_core.signature(url), float(rank)) for url, rank in zip(urls, ranks, strict=True)]
    old = collection.state("graph")
    gifts = old.get("gifts", 0) + 1
    new = {**old, "gifts": gifts, "given": True}
    name = given_ranks(new) or ""
    files: dict[str, int | None] = {name: _core.write_ranks(pages, collection.folder / name)}
    if given := given_ranks(old):
        files[given] = None
    collection.commit(files, graph=new)
    return Ranking(len(pages), 0, 0.0, 0, collection)


def ranked_pages(collection: Collection) -> Iterator[tuple[str, float]]:
    """The URL of each ranked page with its rank (the mean is 1)."""
    name = ranks_in_use(collection.state("graph"))
    if name is None:
        return
    ranks = Ranks(collection.folder / name, collection.length(name))
    for rows, _ in collection.table.batches():
        values = ranks.get([_core.signature(row.url) for row in rows])
        yield from ((row.url, value) for row, value in zip(rows, values, strict=True) if value is not None)
