"""Degrees: the numbers of arcs of each node."""

from __future__ import annotations

from crivello.graph.base import Base
from crivello.graph.measures import measure
from crivello.graph.scores import Scores


class Degrees(Base):
    """The measures of a graph that count arcs."""

    @measure("the number of links to a page", family="degree")
    def indegree(self) -> Scores:
        """The number of arcs to each node (the sum of their weights, if they have weights).

        d⁻(x) = |{y : y → x}|. Cost: O(n + m). The simplest measure of importance: each arc is a vote; votes
        are easily bought.
        """
        return Scores(self._arcs.degrees(True, self._progress), "indegree")

    @measure("the number of links of a page", family="degree")
    def outdegree(self) -> Scores:
        """The number of arcs of each node (the sum of their weights, if they have weights).

        d⁺(x) = |{y : x → y}|. Cost: O(n + m).
        """
        return Scores(self._arcs.degrees(False, self._progress), "outdegree")
