"""Measures by distance: who is close to all others.

d(y, x) is the number of arcs of a shortest path from y to x. ``direction="in"`` measures a node by the distances
*from* all others, the negative notion, which is less easily manipulated; ``"out"`` by the distances to them.
Exact sums take a breadth-first search from every node, 512 of them in one pass over the arcs; HyperBall estimates
them in one pass a level for all nodes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.graph.base import Base, _numbers
from crivello.graph.measures import measure
from crivello.graph.scores import Scores
from crivello.graph.sums import (
    DistanceDistribution,
    DistanceSums,
    Spread,
    Unreachable,
    quantile,
    weighing,
)

Direction = Literal["in", "out"]
Method = Literal["auto", "exact", "hyperball"]

EXACT = 10**12
"""The largest nodes × arcs for which the exact sums are computed unless asked: about a minute on two threads."""

MEMORY = 1 << 30
"""The bytes that HyperBall takes besides the arcs, unless told otherwise, or 196 a node if that is more."""

_LEAST_PER_NODE = 196


class Distances(Base):
    """The measures of a graph by the distances between its nodes."""

    def distance_sums(
        self,
        *,
        direction: Direction = "in",
        method: Method = "auto",
        nodes: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
        memory: int | None = None,
    ) -> DistanceSums:
        """The distances of each node, summed: every measure by distance from one computation.

        ``method="auto"`` is exact while nodes × arcs is at most 10¹², about a minute on two threads, and always
        with ``nodes`` or ``weights``; HyperBall otherwise, with ``log2m``, ``seed``, ``confidence`` and ``memory``
        as in ``hyperball``. ``nodes`` are the only ones to compute, in their order; ``weights`` has a weight for
        each node of the graph, w(y) in H(x) = Σ w(y)/d(y, x).

        Cost, exact: O(n m / 512) operations on rows of 512 bits, and 232 bytes a node and thread.
        """
        incoming = _incoming(direction)
        if method not in ("auto", "exact", "hyperball"):
            raise InvalidArgument(f"there is no method {method!r}", hint="auto, exact or hyperball")
        if nodes is not None or weights is not None:
            if method == "hyperball":
                raise InvalidArgument("HyperBall computes all nodes, without weights", hint='method="exact"')
            method = "exact"
        if method == "exact" or (method == "auto" and self.nodes * self.arcs <= EXACT):
            if nodes is None and weights is None:
                sums = _core.distance_sums(self._arcs, incoming, self._progress)
            else:
                some = np.arange(self.nodes, dtype=np.uint32) if nodes is None else _numbers(nodes, "nodes")
                given = None if weights is None else weighing(weights, self.nodes)
                sums = _core.distance_sums_of(self._arcs, incoming, some, given, self._progress)
            reachable, total, harmonic, eccentricity, pairs = (np.asarray(part, np.float64) for part in sums)
            pairs[0] = 0
            distribution = DistanceDistribution(pairs)
            return DistanceSums(self.nodes, reachable, total, harmonic, eccentricity, distribution)
        return self.hyperball(
            direction=direction, log2m=log2m, seed=seed, confidence=confidence, memory=memory
        )

    def hyperball(
        self,
        *,
        direction: Direction = "in",
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
        memory: int | None = None,
    ) -> DistanceSums:
        """The distances of each node, summed, estimated by HyperBall with 2^log2m registers a node (8 to 16).

        The standard error of a number of nodes is 1.05/√2^log2m of it: 3.3 % for 10. Every value has an interval:
        it contains the true value with probability ``confidence``, over the choice of the ``seed``; the errors of
        the nodes of a graph are not independent of each other. The result does not depend on ``memory``, the
        bytes to take besides the arcs: with more than the least, 196 a node, it is faster.

        Cost: O(2^log2m (n + m)) for each of the passes, as many as the longest distance. Source: Boldi and
        Vigna, "In-core computation of geometric centralities with HyperBall", 2013.
        """
        incoming = _incoming(direction)
        if not 8 <= log2m <= 16:
            raise InvalidArgument(f"log2m is from 8 to 16, and {log2m} is not")
        width = quantile(confidence, 2 ** (log2m - 6) - 1)
        budget = max(MEMORY, _LEAST_PER_NODE * self.nodes) if memory is None else memory
        found = _core.hyperball(self._arcs, incoming, log2m, seed, budget, self._progress)
        (reachable, total, harmonic), variances, (pairs, squared) = (
            [np.asarray(part) for part in parts] for parts in found
        )
        pairs = pairs.copy()
        pairs[0] = 0
        relative = 1.05 / 2 ** (log2m / 2)
        error = width * np.maximum(np.sqrt(squared), relative * pairs)
        by_reachable, by_total, by_harmonic, common = variances
        spread = Spread(by_reachable, by_total, by_harmonic, common, confidence, width, relative)
        distribution = DistanceDistribution(pairs, error, confidence)
        return DistanceSums(self.nodes, reachable, total, harmonic, None, distribution, spread)

    @measure("the inverse of the sum of the distances from the pages that reach a page", family="distance")
    @measure(
        "the inverse of the sum of the distances to the pages that a page reaches",
        family="distance",
        name="closeness-out",
        direction="out",
    )
    def closeness(
        self,
        *,
        direction: Direction = "in",
        unreachable: Unreachable = "ignore",
        weights: ArrayLike | None = None,
        method: Method = "auto",
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> Scores:
        """Closeness: c(x) = w(x) / Σ_y d(y, x), where w(x) is 1 unless ``weights`` are given.

        ``unreachable`` is the rule for nodes y without a path to x. ``"ignore"``: they are left out of the sum, and
        a node that no other reaches has 0; a node that only its neighbour reaches is then the most central.
        ``"count"``: their distance is n, the number of nodes. ``"scale"``: they are left out, and the value is
        multiplied by r²/(n - 1), where r is the number of the others (Wasserman and Faust).

        ``method`` and the rest, and the cost: see ``distance_sums`` and ``hyperball``. Source: A. Bavelas,
        "Communication patterns in task-oriented groups", 1950.
        """
        sums = self._sums(direction, method, log2m, seed, confidence)
        return sums.closeness(unreachable, weights)

    @measure("closeness that rewards pages that many pages reach", family="distance")
    @measure(
        "closeness that rewards pages that reach many pages",
        family="distance",
        name="lin-out",
        direction="out",
    )
    def lin(
        self,
        *,
        direction: Direction = "in",
        method: Method = "auto",
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> Scores:
        """Lin's index: l(x) = (r(x) + 1)² / Σ_y d(y, x) over the r(x) other nodes y with a path to x.

        The node itself is among those that reach it. A node that no other reaches has 1. ``method`` and the
        rest, and the cost: see ``distance_sums`` and ``hyperball``. Source: N. Lin, "Foundations of social
        research", 1976, as in Boldi and Vigna, "Axioms for centrality", 2014.
        """
        return self._sums(direction, method, log2m, seed, confidence).lin

    @measure("the sum of the inverses of the distances from all other pages", family="distance")
    @measure(
        "the sum of the inverses of the distances to all other pages",
        family="distance",
        name="harmonic-out",
        direction="out",
    )
    def harmonic(
        self,
        *,
        direction: Direction = "in",
        weights: ArrayLike | None = None,
        normalized: bool = False,
        method: Method = "auto",
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> Scores:
        """Harmonic centrality: h(x) = Σ_y w(y)/d(y, x) over all other nodes y; 1/∞ is 0.

        The weights w(y) are 1 unless they are given; ``normalized`` divides by n - 1, the largest value possible
        without weights. ``method`` and the rest, and the cost: see ``distance_sums`` and ``hyperball``; with
        weights, a step for each pair of nodes. Source: Boldi and Vigna, "Axioms for centrality", 2014.
        """
        scores = self._sums(direction, method, log2m, seed, confidence, weights).harmonic
        if normalized and self.nodes > 1:
            others = self.nodes - 1
            error = None if scores.error is None else scores.error / others
            scores = Scores(scores / others, "harmonic", error=error, confidence=scores.confidence)
        return scores

    @measure("the number of other pages from which a page can be reached", family="distance")
    @measure(
        "the number of other pages that can be reached from a page",
        family="distance",
        name="reachable-out",
        direction="out",
    )
    def reachable(
        self,
        *,
        direction: Direction = "in",
        method: Method = "auto",
        log2m: int = 10,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> Scores:
        """The number of other nodes with a path to each node: r(x) = |{y ≠ x : d(y, x) < ∞}|.

        ``method`` and the rest, and the cost: see ``distance_sums`` and ``hyperball``.
        """
        return self._sums(direction, method, log2m, seed, confidence).reachable

    @measure("the largest distance from a page that reaches a page (large: peripheral)", family="distance")
    @measure(
        "the largest distance to a page that a page reaches (large: peripheral)",
        family="distance",
        name="eccentricity-out",
        direction="out",
    )
    def eccentricity(self, *, direction: Direction = "in") -> Scores:
        """The largest finite distance: e(x) = max_y d(y, x) over the other nodes y with a path to x.

        A node that no other reaches has 0. Large is peripheral. Cost: that of the exact ``distance_sums``.
        """
        return self.distance_sums(direction=direction, method="exact").eccentricity

    def distances(self, node: int | str, *, direction: Direction = "out") -> Scores:
        """The distance of every node from a node (``"out"``), or to it (``"in"``); infinite without a path.

        Cost: one breadth-first search, O(n + m).
        """
        found = _core.distances_from(self._arcs, _incoming(direction), self.node(node), self._progress)
        distances = np.asarray(found)
        return Scores(np.where(distances == 2**32 - 1, np.inf, distances), "distances")

    def distance_distribution(
        self, *, method: Method = "auto", log2m: int = 10, seed: int = 0, confidence: float = 0.95
    ) -> DistanceDistribution:
        """The number of ordered pairs of distinct nodes at each distance; their mean, spid and effective diameter.

        ``method`` and the rest, and the cost: see ``distance_sums`` and ``hyperball``.
        """
        return self._sums("in", method, log2m, seed, confidence).distribution

    def effective_diameter(
        self, share: float = 0.9, *, method: Method = "auto", log2m: int = 10, seed: int = 0
    ) -> float:
        """The distance within which ``share`` of the pairs of distinct nodes at a finite distance are.

        Interpolated linearly between whole numbers; NaN in a graph without arcs. The cost: that of
        ``distance_distribution``.
        """
        return self.distance_distribution(method=method, log2m=log2m, seed=seed).effective_diameter(share)

    def diameter(self) -> int:
        """The largest finite distance between two nodes, exactly; 0 if there is none.

        Cost: searches of O(n + m) from the nodes with the largest bounds, tens of them for most real graphs; at
        worst as much as the exact ``distance_sums``, or a few times that. Source: Borassi et al., "Fast
        diameter and radius BFS-based computation in (weakly connected) real-world graphs", 2015.
        """
        return _core.diameter(self._arcs, self._progress)

    def _sums(
        self,
        direction: Direction,
        method: Method,
        log2m: int,
        seed: int,
        confidence: float,
        weights: ArrayLike | None = None,
    ) -> DistanceSums:
        return self.distance_sums(
            direction=direction,
            method=method,
            weights=weights,
            log2m=log2m,
            seed=seed,
            confidence=confidence,
        )


def _incoming(direction: str) -> bool:
    if direction not in ("in", "out"):
        raise InvalidArgument(f"there is no direction {direction!r}", hint="in or out")
    return direction == "in"
