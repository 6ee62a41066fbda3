"""From the links of a collection to its graph and its ranks."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crivello import _core
from crivello._figures import Figures, shown
from crivello._tables import Tabular
from crivello.collection import Collection
from crivello.graph import LINKS, Graph, Ranks, build_graph, graph_name, rank_graph, ranks_name


@dataclass(frozen=True, repr=False)
class Ranking(Figures, Tabular):
    """What the graph of a collection is like, and the rank of each page (1 is the mean).

    Iterating gives every ranked page as its URL and its rank, in the order of the pages; ``top`` gives the best.
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


def update_ranks(collection: Collection, *, damping: float = 0.85) -> Ranking:
    """Builds the graph from the committed links, computes PageRank, and commits both.

    Each time under new names: a crash, or a reader of the last commit, still finds the files of that commit.
    """
    committed = collection.length(LINKS)
    if not committed:
        return Ranking(0, 0, 0.0, 0)
    old = collection.state("graph")
    number = old.get("number", 0) + 1
    graph_file, ranks_file = graph_name(number), ranks_name(number)
    built = build_graph(collection.folder / LINKS, committed, collection.folder / graph_file)
    graph = Graph(collection.folder / graph_file, built.length)
    ranked = rank_graph(graph, collection.folder / ranks_file, damping=damping)
    files: dict[str, int | None] = {graph_file: built.length, ranks_file: ranked.length}
    if old:
        files |= {graph_name(old["number"]): None, ranks_name(old["number"]): None}
    collection.commit(files, graph={"number": number, "damping": damping})
    return Ranking(graph.nodes, graph.arcs, graph.bits_per_link, ranked.iterations, collection)


def ranked_pages(collection: Collection) -> Iterator[tuple[str, float]]:
    """The URL of each ranked page with its rank (1 is the mean)."""
    number = collection.state("graph").get("number")
    if number is None:
        return
    ranks = Ranks(collection.folder / ranks_name(number), collection.length(ranks_name(number)))
    for rows, _ in collection.table.batches():
        values = ranks.get([_core.signature(row.url) for row in rows])
        yield from ((row.url, value) for row, value in zip(rows, values, strict=True) if value is not None)
