"""The link graph, compressed, and PageRank.

    >>> built = build_graph("links.log", committed, "graph")
    >>> graph = Graph("graph/links.graph", built.length)
    >>> ranked = rank_graph(graph, "graph")
    >>> Ranks("graph/pagerank.ranks", ranked.length).get([signature])
    [1.73]

A page is known by its 64-bit signature. Both files are written whole and then renamed; their lengths are
for the manifest. A file that the manifest still names with its old length must not be replaced: give a new
build a folder of its own, and drop the old one after the checkpoint. The formats and the costs are described in
``crates/core/src/graph``.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from crivello._core import Graph, Ranks, rank_edges

__all__ = [
    "GRAPH",
    "RANKS",
    "Built",
    "Graph",
    "Ranked",
    "Ranks",
    "build_graph",
    "rank_edge_list",
    "rank_graph",
]

GRAPH = "links.graph"
"""The name of the graph's file in its folder."""

RANKS = "pagerank.ranks"
"""The name of the file of ranks in the same folder."""


@dataclass(frozen=True, slots=True)
class Built:
    """A graph that was built; ``length`` is what its file has to be committed with."""

    nodes: int
    arcs: int
    length: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """Ranks that were computed: ``residual`` is how much the last of the ``iterations`` changed them."""

    length: int
    iterations: int
    residual: float


def build_graph(links: str | PathLike[str], committed: int, folder: str | PathLike[str]) -> Built:
    """Builds ``links.graph`` in ``folder`` from the first ``committed`` bytes of a log of links."""
    return Built(*Graph.build(links, committed, Path(folder) / GRAPH))


def rank_graph(
    graph: Graph,
    folder: str | PathLike[str],
    *,
    damping: float = 0.85,
    threshold: float = 1e-9,
    iterations: int = 200,
) -> Ranked:
    """Writes the PageRank of every page (times their number, so the mean is 1) to ``pagerank.ranks``."""
    return Ranked(*graph.pagerank(Path(folder) / RANKS, damping, threshold, iterations))


def rank_edge_list(
    path: str | PathLike[str],
    *,
    damping: float = 0.85,
    threshold: float = 1e-9,
    iterations: int = 200,
) -> list[tuple[str, float]]:
    """The names in a text of ``source target`` lines with their PageRank (the sum is 1), best first."""
    return rank_edges(path, damping, threshold, iterations)
