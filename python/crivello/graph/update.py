"""From the links of a collection to its graph and its ranks."""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass
from typing import Any

from crivello import _core
from crivello.collection import Collection
from crivello.graph import LINKS, Graph, Ranks, build_graph, graph_name, rank_graph, ranks_name


@dataclass(frozen=True)
class Ranking:
    """What the graph of a collection is like."""

    pages: int
    links: int
    bits_per_link: float
    iterations: int

    def to_dict(self) -> dict[str, Any]:
        return {f"ranked_{name}" if name == "pages" else name: value for name, value in asdict(self).items()}


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
    return Ranking(graph.nodes, graph.arcs, graph.bits_per_link, ranked.iterations)


def best_pages(collection: Collection, top: int) -> list[tuple[str, float]]:
    """The URLs of the pages with the highest rank (1 is the mean), best first."""
    number = collection.state("graph").get("number")
    if number is None:
        return []
    ranks = Ranks(collection.folder / ranks_name(number), collection.length(ranks_name(number)))
    best: list[tuple[float, str]] = []
    for rows, _ in collection.table.batches():
        values = ranks.get([_core.signature(row.url) for row in rows])
        scored = [(value, row.url) for row, value in zip(rows, values, strict=True) if value is not None]
        best = heapq.nlargest(top, [*best, *scored])
    return [(url, value) for value, url in best]
