"""Spectral measures: importance that flows along arcs, from PageRank to the powers of the matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.graph.base import Base
from crivello.graph.measures import measure
from crivello.graph.scores import Scores

Weights = ArrayLike | Mapping[Any, float] | AbstractSet[Any]
"""Weights of the nodes: floats, one per node; a mapping of nodes (numbers or names) to their weights, the
others having 0; or a list or set of nodes (numbers or names), which weigh the same."""


class Spectral(Base):
    """The measures of a graph that are eigenvectors, or sums of powers, of a matrix."""

    @measure("where a surfer is who follows links and now and then jumps", family="spectral")
    def pagerank(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-9,
        iterations: int = 1000,
        preference: Weights | None = None,
        dangling: Weights | Literal["preference", "uniform", "stay"] = "preference",
        method: Literal["gauss-seidel", "power"] = "gauss-seidel",
        weighted: bool = True,
    ) -> Scores:
        """PageRank: the probability of each node for a surfer who follows arcs and now and then jumps.

        r = α Pᵀr + α r(D) u + (1 − α) v, Σ r = 1, with α the damping, P(x, y) = w(x, y)/W(x), v the
        ``preference`` (uniform unless given; PageRank is *personalised* otherwise), D the dangling nodes, and
        u the distribution that the surfer jumps by from them: ``"preference"`` (strongly preferential),
        ``"uniform"`` or other weights (weakly preferential); with ``"stay"`` he stays there until he jumps by
        the preference. Arcs count by their weights, if they have any, unless ``weighted`` is False.

        ``tolerance`` bounds the error: ‖r − r*‖₁ is at most as much, and ``residual`` is the bound that was
        reached. Cost: O(n + m) per iteration. ``"gauss-seidel"``, with extrapolation, takes about a third
        of the iterations of the ``"power"`` method. Memory: 4 bytes per arc on cycles (8 if weighted), and
        about 110 per node.

        Source: Page, Brin, Motwani and Winograd, "The PageRank citation ranking", 1998; Boldi, Santini and
        Vigna, "PageRank: functional dependencies", 2009.

        >>> Graph.from_arcs([0, 1, 2], [1, 2, 0]).pagerank()
        Scores([0.33333333, 0.33333333, 0.33333333])
        """
        vectors = [self._weights(preference, "preference")]
        return self._pageranks(vectors, damping, tolerance, iterations, dangling, method, weighted)[0]

    def topic_pagerank(
        self,
        topics: Sequence[Weights],
        *,
        damping: float = 0.85,
        tolerance: float = 1e-9,
        iterations: int = 1000,
        dangling: Weights | Literal["preference", "uniform", "stay"] = "preference",
        method: Literal["gauss-seidel", "power"] = "gauss-seidel",
        weighted: bool = True,
    ) -> list[Scores]:
        """Topic-sensitive PageRank: that of ``pagerank`` for each of several preferences.

        With Gauss–Seidel up to eight topics are computed together, so that the arcs are read once for all of
        them. As PageRank is linear in the preference (with ``dangling="uniform"`` or weights), that of a
        mixture of topics is the same mixture of these. Memory: about 75 bytes more per node and topic, for up
        to eight topics.

        Source: Haveliwala, "Topic-sensitive PageRank", 2002.
        """
        vectors = [self._weights(topic, "preference") for topic in topics]
        return self._pageranks(vectors, damping, tolerance, iterations, dangling, method, weighted)

    def _pageranks(
        self,
        preferences: list[NDArray[np.float64]],
        damping: float,
        tolerance: float,
        iterations: int,
        dangling: Weights | str,
        method: str,
        weighted: bool,
    ) -> list[Scores]:
        jump: NDArray[np.float64] | Literal[False] | None
        if not isinstance(dangling, str):
            jump = self._weights(dangling, "distribution of dangling nodes")
        elif dangling == "uniform":
            jump = np.ones(self.nodes)
        elif dangling in ("preference", "stay"):
            jump = None if dangling == "preference" else False
        else:
            hint = "preference, uniform, stay, or weights of the nodes"
            raise InvalidArgument(f"dangling nodes cannot be treated by {dangling!r}", hint=hint)
        outcomes = _core.pagerank(
            self._arcs,
            preferences,
            jump,
            damping,
            tolerance,
            _count(iterations, "iterations"),
            method,
            weighted,
            self._progress,
        )
        return [_scores(outcome, "pagerank") for outcome in outcomes]

    @measure("as important as the pages that link to it together", family="spectral")
    def eigenvector(
        self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True
    ) -> Scores:
        """The dominant eigenvector of the transposed adjacency matrix, of Euclidean norm 1.

        λ x = Aᵀx with λ the largest eigenvalue: what the power method x ← Aᵀx tends to. Iterates Aᵀ + I,
        which has the same eigenvectors and converges on periodic (such as bipartite) graphs too, from
        equal values, until ‖x' − x‖₂ is at most ``tolerance``; ``converged`` says whether it was. Nodes that the
        dominant part of the graph does not lead to tend to 0. A graph without cycles has no dominant
        eigenvector: an error. Cost: O(n + m) per iteration.

        Source: Landau, "Zur relativen Wertbemessung der Turnierresultate", 1895; Bonacich, "Factoring and
        weighting approaches to status scores and clique identification", 1972.
        """
        outcome, _ = _core.eigenvector(
            self._arcs, tolerance, _count(iterations, "iterations"), weighted, self._progress
        )
        return _scores(outcome, "eigenvector")

    def eigenvalue(
        self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True
    ) -> float:
        """The largest eigenvalue of the adjacency matrix, by the iteration of ``eigenvector``.

        Katz's attenuation must be below its inverse.
        """
        return _core.eigenvector(
            self._arcs, tolerance, _count(iterations, "iterations"), weighted, self._progress
        )[1]

    @measure("each page divides its importance among the pages it links to", family="spectral")
    def seeley(self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True) -> Scores:
        """Seeley's index: PageRank without damping, the stationary distribution of the walk along arcs.

        r = Pᵀr, Σ r = 1, with P(x, y) = w(x, y)/W(x). From dangling nodes the walk goes on to any node, each as
        likely. If there are several stationary distributions, it is the limit of the walk that starts on
        any node, each as likely. Iterates (P + I)/2, which converges on periodic graphs too, until ‖r' − r‖₁ is at
        most ``tolerance``; there is no bound of the error. Cost: O(n + m) per iteration.

        Source: Seeley, "The net of reciprocal influence", 1949.
        """
        iterations = _count(iterations, "iterations")
        outcome = _core.seeley(self._arcs, tolerance, iterations, weighted, self._progress)
        return _scores(outcome, "seeley")

    @measure("the number of walks to a page, long ones worth less", family="spectral")
    def katz(
        self,
        *,
        attenuation: float | None = None,
        preference: Weights | None = None,
        tolerance: float = 1e-9,
        iterations: int = 10_000,
        weighted: bool = True,
    ) -> Scores:
        """Katz's index: the number of walks that end in a node, each arc of a walk worth β.

        k = Σ_{i ≥ 0} βⁱ (Aᵀ)ⁱ v = v + β Aᵀk, not normalised, with β the ``attenuation`` and v the ``preference``
        (1 for each node). β must be below 1/λ, λ being the largest eigenvalue (``eigenvalue()``); it is
        0.85/λ unless given (0.85 if there is no cycle). Converged when an iteration adds at most
        ``tolerance`` times ‖k‖₁. Cost: O(n + m) per iteration, and the iterations of ``eigenvalue``.

        Source: Katz, "A new status index derived from sociometric analysis", 1953.
        """
        outcome = _core.katz(
            self._arcs,
            attenuation,
            self._weights(preference, "preference"),
            tolerance,
            _count(iterations, "iterations"),
            weighted,
            self._progress,
        )
        return _scores(outcome, "katz")

    def hits(
        self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True
    ) -> tuple[Scores, Scores]:
        """HITS: hubs point to good authorities, authorities are pointed to by good hubs.

        h = A a and a = Aᵀh up to scale, the dominant eigenvectors of A Aᵀ and Aᵀ A; both sum to 1 (zeros, if there are no
        arcs). Iterates from equal hubs until the authorities change by at most ``tolerance`` in the
        norm ℓ₁. If the largest eigenvalue is not simple, the limit depends on that start. Cost: O(n + m) per iteration.

        Source: Kleinberg, "Authoritative sources in a hyperlinked environment", 1999.
        """
        iterations = _count(iterations, "iterations")
        hubs, authorities = _core.hits(self._arcs, tolerance, iterations, weighted, self._progress)
        return _scores(hubs, "hubs"), _scores(authorities, "authorities")

    @measure("links to good authorities (HITS)", family="spectral")
    def hubs(self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True) -> Scores:
        """The hubs of ``hits``."""
        return self.hits(tolerance=tolerance, iterations=iterations, weighted=weighted)[0]

    @measure("linked from good hubs (HITS)", family="spectral")
    def authorities(
        self, *, tolerance: float = 1e-9, iterations: int = 10_000, weighted: bool = True
    ) -> Scores:
        """The authorities of ``hits``."""
        return self.hits(tolerance=tolerance, iterations=iterations, weighted=weighted)[1]

    @measure("where a walk between hubs and authorities is, on authorities", family="spectral", hubs=False)
    @measure(
        "where a walk between hubs and authorities is, on hubs",
        family="spectral",
        name="salsa-hubs",
        hubs=True,
    )
    def salsa(self, *, hubs: bool = False, weighted: bool = True) -> Scores:
        """SALSA: the walk that goes back along one arc and forward along another, by turns.

        Exact: a(x) = |A(C)|/|A| · W⁻(x)/W(C), where A are the nodes with predecessors (authorities), C is the component
        of x in the bipartite graph of hubs and authorities, A(C) its authorities, W⁻ the indegree or the sum
        of weights, and W(C) that of all arcs of C: the limit of the walk that starts on any authority, each as
        likely. 0 for nodes without predecessors; the sum is 1. With ``hubs``, the same on the transpose. Cost:
        O(n + m), nearly.

        Source: Lempel and Moran, "SALSA: the stochastic approach for link-structure analysis", 2001.
        """
        name = "salsa-hubs" if hubs else "salsa"
        return Scores(_core.salsa(self._arcs, hubs, weighted, self._progress), name)

    @measure("the number of walks of a given length to a page", family="spectral")
    def walks(self, *, length: int = 2, start: Weights | None = None, weighted: bool = True) -> Scores:
        """The number of walks of ``length`` arcs that end in each node: (Aᵀ)ᵏ v.

        A walk is a path that may repeat nodes; it counts by the weight v of the node where it starts (1, unless
        ``start`` is given) and the weights of its arcs. Floating point: exact below 2⁵³, infinite
        beyond 10³⁰⁸. Cost: O(k (n + m)).
        """
        weights = self._weights(start, "start")
        length = _count(length, "length")
        return Scores(_core.walks(self._arcs, length, weights, weighted, self._progress), "walks")

    def paths(self, length: int, source: str | int, target: str | int, *, weighted: bool = True) -> int:
        """The number of walks of ``length`` arcs from ``source`` to ``target``: the entry of Aᵏ, exact.

        An error if more than 2¹²⁸ walks of that length, or a lower one, start at ``source`` and end in one
        node. Cost: O(k (n + m)), 32 bytes per node.
        """
        ends = self.node(source), self.node(target)
        length = _count(length, "length")
        return _core.walks_between(self._arcs, length, *ends, weighted, self._progress)

    def path_matrix(self, length: int, *, weighted: bool = True) -> NDArray[np.uint64]:
        """The numbers of walks of ``length`` arcs between all pairs of nodes: Aᵏ, exact.

        For at most 4,096 nodes; an error if a number exceeds 64 bits. Cost: O(k n (n + m)).
        """
        matrix = _core.walks_matrix(self._arcs, _count(length, "length"), weighted)
        return np.asarray(matrix).reshape(self.nodes, self.nodes)

    def _weights(self, given: Weights | None, what: str) -> NDArray[np.float64]:
        """Weights as one float per node."""
        if given is None:
            return np.ones(self.nodes)
        vector = np.zeros(self.nodes)
        if isinstance(given, Mapping):
            for node, weight in given.items():
                try:
                    vector[self.node(node)] = weight
                except (TypeError, ValueError):
                    raise InvalidArgument(f"the {what} of node {node} is {weight!r}: no number") from None
            return vector
        array = np.asarray(list(given) if isinstance(given, AbstractSet) else given)
        if array.ndim != 1:
            raise InvalidArgument(f"the {what} must be weights of the nodes, or a list of nodes")
        if array.dtype.kind in "fb":
            return np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.kind in "iuU":
            for node in array.tolist():
                vector[self.node(node)] = 1
            return vector
        raise InvalidArgument(f"the {what} must be weights of the nodes, or a list of nodes")


def _scores(outcome: tuple[_core.Array, int, float, bool], name: str) -> Scores:
    values, iterations, residual, converged = outcome
    return Scores(values, name, iterations=iterations, residual=residual, converged=converged)


def _count(given: int, what: str) -> int:
    """A number that native code takes: from 0 to 2³² − 1."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < 2**32:
        raise InvalidArgument(f"the {what} must be a whole number that is at least 0, not {given!r}")
    return int(given)
