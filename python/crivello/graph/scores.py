"""What a measure returns: a value for each node, as a NumPy array that knows how it was computed."""

from __future__ import annotations

import html
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello._core import Array
from crivello._figures import table_html


class Scores(np.ndarray):
    """A NumPy array with the value of each node, in node order, and how it was computed.

    ``measure`` is the name of the measure. For iterative measures, ``iterations`` is how many were done,
    ``residual`` the change of the last one, and ``converged`` whether it fell to the tolerance. For
    estimates, ``error`` is the half-width of the interval in which the true value lies with probability
    ``confidence``: a number, or an array with one per node; it is None for exact values. Arrays derived from
    it by arithmetic or slicing are not about all nodes any more, and have none of these.

    >>> scores = graph.pagerank()
    >>> scores.iterations, scores.converged
    (61, True)
    >>> scores.argmax()
    17
    """

    measure: str
    iterations: int | None
    residual: float | None
    converged: bool
    error: float | NDArray[np.float64] | None
    confidence: float | None

    def __new__(
        cls,
        values: ArrayLike | Array,
        measure: str,
        *,
        iterations: int | None = None,
        residual: float | None = None,
        converged: bool = True,
        error: float | NDArray[np.float64] | None = None,
        confidence: float | None = None,
    ) -> Self:
        made = np.array(values, dtype=np.float64).view(cls)
        made.measure = measure
        made.iterations, made.residual, made.converged = iterations, residual, converged
        made.error, made.confidence = error, confidence
        return made

    def __array_finalize__(self, given: Any) -> None:
        self.measure = ""
        self.iterations = self.residual = self.error = self.confidence = None
        self.converged = True

    def top(self, count: int = 10) -> list[tuple[int, float]]:
        """The nodes with the highest values, best first; ties by node number."""
        count = min(count, len(self))
        order = np.lexsort((np.arange(len(self)), -np.asarray(self)))[:count]
        return [(int(node), float(self[node])) for node in order]

    def _repr_html_(self) -> str:
        """The best nodes, as a notebook shows them."""
        if self.ndim != 1 or not self.measure:
            return f"<pre>{html.escape(repr(self))}</pre>"
        best = ((node, f"{value:.6g}") for node, value in self.top(10))
        return table_html(f"{self.measure} of {len(self):,} nodes, the best", ("node", self.measure), best)
