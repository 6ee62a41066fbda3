"""The graph: its arcs, and every measure as a method."""

from __future__ import annotations

import base64
import html
from typing import Self

from crivello.graph.betweenness import Betweenness
from crivello.graph.degrees import Degrees
from crivello.graph.distances import Distances
from crivello.graph.files import Files
from crivello.graph.spectral import Spectral
from crivello.graph.trust import Trust

# Drawing more nodes in a notebook takes long, and shows less.
_DRAWN = 40
_MOST_ARCS = 1_000_000


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

    def _repr_html_(self) -> str:
        """The nodes with the most links to them, drawn; a large graph is counted alone."""
        said = f"<p>{html.escape(repr(self).strip('<>'))}</p>"
        if not self.arcs or self.arcs > _MOST_ARCS:
            return said
        from crivello.graph.draw import draw_most_important

        drawn = draw_most_important(self, self.indegree(), title="By in-degree", limit=_DRAWN)
        # As an image, so that its style is its own and text of the web stays text.
        image = base64.b64encode(str(drawn).encode()).decode()
        return f'{said}<img style="max-width:100%" alt="the graph" src="data:image/svg+xml;base64,{image}">'
