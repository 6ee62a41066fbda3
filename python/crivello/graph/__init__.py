"""The link graph, compressed, and PageRank.

    >>> committed = write_links("graph/links.log", [(signature, [another])])
    >>> built = build_graph("graph/links.log", committed, "graph/links-1.graph")
    >>> graph = Graph("graph/links-1.graph", built.length)
    >>> ranked = rank_graph(graph, "graph/pagerank-1.ranks")
    >>> Ranks("graph/pagerank-1.ranks", ranked.length).get([signature])
    [1.73]

A page is identified by its 64-bit signature. Both files are written completely and then renamed; their lengths
go into the manifest. A file that the manifest names must not be replaced, so file names contain the number of the
build. The formats and the costs are described in ``crates/core/src/graph``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from crivello._core import Graph, Layout, Ranks, rank_edges, write_links

__all__ = [
    "Built",
    "Graph",
    "Ranked",
    "Ranks",
    "build_graph",
    "rank_edge_list",
    "rank_graph",
    "ranks_in_use",
    "write_links",
]


def given_ranks(state: Mapping[str, Any]) -> str | None:
    """The file of ranks that were given, by what the manifest remembers of the graph; None if none were."""
    return Layout.given_ranks(state["gifts"]) if state.get("given") else None


def ranks_in_use(state: Mapping[str, Any]) -> str | None:
    """The file of ranks that searches read; None if there is none."""
    return given_ranks(state) or (Layout.ranks(state["number"]) if "number" in state else None)


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build; ``length`` is the length of its file, to be committed."""

    nodes: int
    arcs: int
    length: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """The result of PageRank: ``residual`` is the change in the last of the ``iterations``."""

    length: int
    iterations: int
    residual: float


def build_graph(links: str | PathLike[str], committed: int, target: str | PathLike[str]) -> Built:
    """Builds the file ``target`` from the first ``committed`` bytes of a log of links."""
    return Built(*Graph.build(links, committed, target))


def rank_graph(
    graph: Graph,
    target: str | PathLike[str],
    *,
    damping: float = 0.85,
    threshold: float = 1e-9,
    iterations: int = 200,
) -> Ranked:
    """Writes the PageRank of every page (times their number, so the mean is 1) to ``target``."""
    return Ranked(*graph.pagerank(target, damping, threshold, iterations))


def rank_edge_list(
    path: str | PathLike[str],
    *,
    damping: float = 0.85,
    threshold: float = 1e-9,
    iterations: int = 200,
) -> list[tuple[str, float]]:
    """The names in a text of ``source target`` lines with their PageRank (the sum is 1), best first."""
    return rank_edges(path, damping, threshold, iterations)
