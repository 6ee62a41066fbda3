"""The distances of each node from all others, summed, and the measures that are functions of the sums.

For a node x, with the sums over all *other* nodes y at a finite distance d(y, x): r(x) = Σ 1, D(x) = Σ d(y, x) and
H(x) = Σ 1/d(y, x). They are exact, or estimated by HyperBall with a covariance for each node; then a function
f(r, D, H) has the variance ∇f·Σ·∇f (the delta method), and an interval of Student's t. The covariances are
estimated from few values, so an interval is never narrower than the known error of HyperBall's counters makes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello.errors import InvalidArgument
from crivello.graph.scores import Scores

Unreachable = Literal["ignore", "count", "scale"]
"""What closeness makes of the nodes that do not reach a node; see ``Graph.closeness``."""

_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """The variances of r, D and H of each node, and the covariance of r and D.

    An interval is ``quantile`` standard errors wide to each side, a standard error at least ``relative`` of the
    value.
    """

    reachable: _Values
    distance: _Values
    harmonic: _Values
    covariance: _Values
    confidence: float
    quantile: float
    relative: float


@dataclass(frozen=True, slots=True)
class DistanceDistribution:
    """The number of ordered pairs of distinct nodes at each distance: ``pairs[t]`` at distance t.

    ``error`` is the half-width of the interval of each number, at ``confidence``; None if they are exact. That of
    a few pairs at large distances is too small, as few of HyperBall's counters see them, or none.
    """

    pairs: _Values
    error: _Values | None = None
    confidence: float | None = None

    @property
    def mean(self) -> float:
        """The mean of the finite distances between distinct nodes; NaN if there is none."""
        return self._moment(1)

    @property
    def spid(self) -> float:
        """The dispersion of the distances, variance over mean: below 1 for social networks, above 1 for the web
        (Boldi et al., "HyperANF", WWW 2011)."""
        mean = self._moment(1)
        return (self._moment(2) - mean * mean) / mean

    def effective_diameter(self, share: float = 0.9) -> float:
        """The distance within which ``share`` of the pairs at a finite distance are, interpolated linearly between
        whole numbers."""
        if not 0 < share <= 1:
            raise InvalidArgument(f"a share of pairs is above 0 and at most 1, and {share} is not")
        within = np.cumsum(self.pairs)
        if not len(within) or within[-1] <= 0:
            return math.nan
        wanted = share * within[-1]
        after = int(np.searchsorted(within, wanted * (1 - 1e-12)))
        return float(after - 1 + (wanted - within[after - 1]) / (within[after] - within[after - 1]))

    def _moment(self, power: int) -> float:
        total = float(self.pairs.sum())
        return float((self.pairs * np.arange(len(self.pairs)) ** power).sum()) / total if total else math.nan


@dataclass(frozen=True, slots=True)
class DistanceSums:
    """The distances of each node, summed: ``total`` is D, and the rest are the measures.

    ``eccentricity`` is the largest finite distance; None if it was estimated, which gives no bound for it.
    ``distribution`` is that of all pairs counted.
    """

    nodes: int
    _reachable: _Values
    total: _Values
    _harmonic: _Values
    _eccentricity: _Values | None
    distribution: DistanceDistribution
    spread: Spread | None = None

    @property
    def reachable(self) -> Scores:
        """r(x): the number of other nodes at a finite distance."""
        return self._scores("reachable", self._reachable, reachable=1.0)

    @property
    def harmonic(self) -> Scores:
        """H(x): the sum of the reciprocals of the distances."""
        return self._scores("harmonic", self._harmonic, harmonic=1.0)

    @property
    def eccentricity(self) -> Scores:
        """The largest finite distance; 0 if there is none."""
        if self._eccentricity is None:
            raise InvalidArgument("HyperBall does not give eccentricities", hint='method="exact" does')
        return Scores(self._eccentricity, "eccentricity")

    @property
    def lin(self) -> Scores:
        """Lin's index: (r(x) + 1)² / D(x), and 1 where r(x) is 0."""
        size, total = self._reachable + 1, self.total
        values = _divided(size * size, total, 1.0)
        slope = _divided(2 * size, total)
        return self._scores("lin", values, reachable=slope, distance=-_divided(values, total))

    def closeness(self, unreachable: Unreachable = "ignore", weights: ArrayLike | None = None) -> Scores:
        """Closeness with a rule for unreachable pairs; see ``Graph.closeness``."""
        reachable, total, others = self._reachable, self.total, max(self.nodes - 1, 1)
        numerator = np.ones(len(total)) if weights is None else weighing(weights, len(total))
        by_reachable: _Values | float = 0.0
        if unreachable == "ignore":
            values = _divided(numerator, total)
            by_total = -_divided(values, total)
        elif unreachable == "count":
            total = total + self.nodes * (others - reachable)
            values = _divided(numerator, total)
            by_total = -_divided(values, total)
            by_reachable = -by_total * self.nodes
        elif unreachable == "scale":
            values = _divided(numerator * reachable * reachable / others, total)
            by_total = -_divided(values, total)
            by_reachable = _divided(2 * numerator * reachable / others, total)
        else:
            raise InvalidArgument(
                f"there is no rule {unreachable!r} for unreachable nodes", hint="ignore, count or scale"
            )
        return self._scores("closeness", values, reachable=by_reachable, distance=by_total)

    def _scores(
        self,
        measure: str,
        values: _Values,
        *,
        reachable: _Values | float = 0.0,
        distance: _Values | float = 0.0,
        harmonic: _Values | float = 0.0,
    ) -> Scores:
        """The values of a measure, with the error that follows from its partial derivatives."""
        spread = self.spread
        if spread is None:
            return Scores(values, measure)
        variance = (
            reachable * reachable * spread.reachable
            + distance * distance * spread.distance
            + harmonic * harmonic * spread.harmonic
            + 2 * reachable * distance * spread.covariance
        )
        standard = np.maximum(np.sqrt(np.maximum(variance, 0)), spread.relative * values)
        error = spread.quantile * standard
        return Scores(values, measure, error=error, confidence=spread.confidence)


def _divided(values: _Values, by: _Values, otherwise: float = 0.0) -> _Values:
    """The quotients; ``otherwise`` where the divisor is 0."""
    quotients = np.full(len(by), otherwise)
    np.divide(values, by, out=quotients, where=by > 0)
    return quotients


def weighing(given: ArrayLike, nodes: int) -> _Values:
    """Weights of nodes, checked."""
    weights = np.ascontiguousarray(given, dtype=np.float64)
    if weights.shape != (nodes,):
        raise InvalidArgument(f"there are {weights.size:,} weights for {nodes:,} nodes")
    if not np.isfinite(weights).all():
        raise InvalidArgument("the weights of nodes must be finite numbers")
    return weights


def quantile(confidence: float, freedom: int) -> float:
    """How many standard errors make an interval, by Student's t (the expansion of Cornish and Fisher)."""
    if not 0 < confidence < 1:
        raise InvalidArgument(f"a confidence is between 0 and 1, and {confidence} is not")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(sum(term / freedom**power for power, term in enumerate(terms)))
