"""The link graph and its measures, of a crawl or of any other graph.

    >>> graph = crivello.open("example").graph()
    >>> graph.nodes, graph.arcs
    (149, 1063)
    >>> graph.name(graph.indegree().argmax())
    'https://www.example.org/'

Nodes are numbered from 0. A measure is a method of ``Graph``, and returns ``Scores``: a NumPy array with a value
for each node. The formats and the costs are described in ``crates/core/src/graph``.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from crivello._core import rank_edges

if TYPE_CHECKING:
    from crivello.graph.graph import Graph as Graph
    from crivello.graph.measures import MEASURES as MEASURES
    from crivello.graph.scores import Scores as Scores

__all__ = ["MEASURES", "Graph", "Scores", "rank_edge_list"]

_HOMES = {"Graph": "graph", "MEASURES": "measures", "Scores": "scores"}


def __getattr__(name: str) -> Any:
    """Loads what needs NumPy only when it is used."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module("crivello.graph.graph")
    return getattr(importlib.import_module(f"crivello.graph.{_HOMES[name]}"), name)


def rank_edge_list(
    path: str | PathLike[str],
    *,
    damping: float = 0.85,
    threshold: float = 1e-9,
    iterations: int = 200,
) -> list[tuple[str, float]]:
    """The names in a text of ``source target`` lines with their PageRank (the sum is 1), best first."""
    return rank_edges(path, damping, threshold, iterations)
