"""Betweenness: how much of what goes on between other nodes passes through a node."""

from __future__ import annotations

from typing import Literal

import numpy as np

from crivello._core import graph_betweenness, graph_random_walk_betweenness, graph_sampled_betweenness
from crivello.errors import InvalidArgument
from crivello.graph.base import Base
from crivello.graph.measures import measure
from crivello.graph.scores import Scores

_EXACT_STEPS = 2 * 10**10
"""The largest number of nodes times arcs for which ``auto`` is exact: about a minute on two threads."""


class Betweenness(Base):
    """The measures of a graph that count what passes through a node."""

    @measure("the share of shortest paths between others that pass through a page", family="betweenness")
    def betweenness(
        self,
        *,
        method: Literal["auto", "exact", "sampled"] = "auto",
        normalized: bool = False,
        multiplicity: bool = False,
        error: float = 0.01,
        confidence: float = 0.9,
        seed: int = 0,
    ) -> Scores:
        """The betweenness of each node.

        b(x) = Σ σ_yz(x) / σ_yz over the ordered pairs of other nodes y ≠ z with a path, where σ_yz is the
        number of shortest paths from y to z, and σ_yz(x) the number of those through x. With ``normalized``
        it is divided by the number of these pairs, (n - 1)(n - 2). Parallel arcs are one, unless
        ``multiplicity``: then weights multiply the number of paths. Self-loops are on no shortest path.

        Cost: ``exact`` takes O(n m) time and about 84 n bytes per thread (Brandes 2001). ``sampled`` draws
        random shortest paths until all normalised values are within ``error`` of the exact ones with
        probability ``confidence``: about 2 (b + ε) ln(8 / δ) / ε² of them for a largest value b (Riondato and
        Kornaropoulos 2014, Borassi and Natale 2016; the bound is Chernoff's). ``seed`` chooses the sample, and
        the ``iterations`` of the result are the number of paths drawn. ``auto`` is exact up to n m = 2·10¹⁰.
        """
        if method not in ("auto", "exact", "sampled"):
            raise InvalidArgument(f"there is no method {method!r}", hint="auto, exact or sampled")
        pairs = max((self.nodes - 1) * (self.nodes - 2), 1)
        scale = 1 / pairs if normalized else 1.0
        if method == "exact" or (method == "auto" and self.nodes * self.arcs <= _EXACT_STEPS):
            values = graph_betweenness(self._arcs, multiplicity, self._progress)
            return Scores(np.asarray(values) * scale, "betweenness")
        if not (0 < error < 1 and 0 < confidence < 1):
            raise InvalidArgument(f"an error of {error} with confidence {confidence} cannot be promised")
        if not 0 <= seed < 2**64:
            raise InvalidArgument(f"the seed {seed} is not between 0 and 2^64")
        sampled, samples = graph_sampled_betweenness(
            self._arcs, multiplicity, error, confidence, seed, self._progress
        )
        return Scores(
            np.asarray(sampled) * scale,
            "betweenness",
            iterations=samples,
            error=error * pairs * scale,
            confidence=confidence,
        )

    @measure("how often random walks between others pass through a page", family="betweenness", small=True)
    def random_walk_betweenness(self, *, normalized: bool = False) -> Scores:
        """The random-walk (current-flow) betweenness of each node, arcs being edges of both directions.

        b(x) = Σ I_x(y, z) over the unordered pairs of other nodes y, z of x's weak component, where I_x is the
        net flow through x of a random walk from y to z. With ``normalized`` it is divided by the number of
        these pairs, (n - 1)(n - 2) / 2. Self-loops and parallel arcs do not count. It is the remedy for the
        bridge between two communities, whose betweenness one more arc would take away.

        Cost: O(k³ + e k log k) time and 16 k² bytes for a component of k nodes and e edges; k is at most 4,000.
        Source: Newman 2005.
        """
        values = np.asarray(graph_random_walk_betweenness(self._arcs, self._progress))
        pairs = max((self.nodes - 1) * (self.nodes - 2) / 2, 1)
        return Scores(values / pairs if normalized else values, "random-walk-betweenness")
