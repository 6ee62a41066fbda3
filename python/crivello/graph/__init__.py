"""The link graph and its measures, of a crawl or of any other graph.

    >>> graph = crivello.graph.load("example")
    >>> graph.nodes, graph.arcs
    (149, 1063)
    >>> graph.name(graph.indegree().argmax())
    'https://www.example.org/'

Nodes are numbered from 0. A measure is a method of ``Graph``, and returns ``Scores``: a NumPy array with a value
for each node. The formats and the costs are described in ``crates/core/src/graph``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crivello.graph.files import convert as convert
    from crivello.graph.files import generate as generate
    from crivello.graph.files import load as load
    from crivello.graph.graph import Graph as Graph
    from crivello.graph.measures import MEASURES as MEASURES
    from crivello.graph.scores import Scores as Scores

__all__ = ["MEASURES", "Graph", "Scores", "convert", "generate", "load"]

_HOMES = {
    "Graph": "graph",
    "MEASURES": "measures",
    "Scores": "scores",
    "convert": "files",
    "generate": "files",
    "load": "files",
}


def __getattr__(name: str) -> Any:
    """Loads what needs NumPy only when it is used."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module("crivello.graph.graph")
    return getattr(importlib.import_module(f"crivello.graph.{_HOMES[name]}"), name)
