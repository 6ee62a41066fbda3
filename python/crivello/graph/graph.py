"""The graph: its arcs, and every measure as a method."""

from __future__ import annotations

from typing import Self

from crivello.graph.betweenness import Betweenness
from crivello.graph.degrees import Degrees
from crivello.graph.distances import Distances
from crivello.graph.files import Files
from crivello.graph.spectral import Spectral
from crivello.graph.trust import Trust


class Graph(Files, Degrees, Distances, Spectral, Betweenness, Trust):
    """A directed graph.

    >>> graph = Graph.from_arcs([0, 1, 2], [1, 2, 0])
    >>> graph.nodes, graph.arcs
    (3, 3)
    >>> graph.indegree()
    Scores([1., 1., 1.])
    """

    def transpose(self) -> Self:
        """The graph with every arc reversed; both share their arrays."""
        return type(self)(self._arcs.transpose(self._progress), self._names)
