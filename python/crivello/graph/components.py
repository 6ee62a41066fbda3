"""Components, paths, and the bow-tie: which nodes reach which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crivello._core import graph_bow_tie, graph_components, graph_path
from crivello.graph.base import Base
from crivello.graph.groups import Groups

PLACES = ("core", "in", "out", "tubes", "tendrils", "disconnected")
"""The places in a bow-tie, in the order of their numbers."""


class Components(Base):
    """The parts of a graph, and the paths between its nodes."""

    def strong_components(self) -> Groups:
        """The strong component of each node: the nodes of one reach each other.

        Components are numbered by decreasing size, ties by their smallest node. Cost: O(n + m), at most
        24 bytes per node. Source: Tarjan 1972, in the form of Pearce 2016.
        """
        return Groups(*graph_components(self._arcs, True, self._progress))

    def weak_components(self) -> Groups:
        """The weak component of each node: the nodes of one are joined by arcs of any direction.

        Components are numbered by decreasing size, ties by their smallest node. Cost: O(m α(n)) by
        union-find, 8 bytes per node.
        """
        return Groups(*graph_components(self._arcs, False, self._progress))

    def bow_tie(self) -> Groups:
        """The place of each node around the largest strong component.

        ``core`` is that component, ``in`` reaches it, ``out`` is reached from it, ``tubes`` lead from in to
        out without it, ``tendrils`` are the other nodes joined to it by arcs of any direction,
        and the rest is ``disconnected``. Cost: O(n + m). Source: Broder et al. 2000.

        >>> graph.bow_tie().counts()
        {'core': 1300, 'in': 3858, 'out': 1016, 'tubes': 0, 'tendrils': 892, 'disconnected': 49}
        """
        return Groups(graph_bow_tie(self._arcs, self._progress), names=PLACES)

    def path(self, source: int | str, target: int | str) -> NDArray[np.uint32] | None:
        """A shortest path from a node to another, both included; None if there is none.

        Cost: O(n + m) by breadth-first search from both ends, in practice far less.
        """
        found = graph_path(self._arcs, self.node(source), self.node(target), self._progress)
        return None if found is None else np.asarray(found)

    def reaches(self, source: int | str, target: int | str) -> bool:
        """Whether there is a path from a node to another; a node reaches itself."""
        return self.path(source, target) is not None
