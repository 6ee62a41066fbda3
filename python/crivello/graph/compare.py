"""How far measures agree: Kendall's τ, its weighted form, and the overlap of their best nodes.

Values that should be equal often differ in the last digits of a floating-point number, which would turn ties
into noise: all values are compared after rounding to ten significant digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello import _core
from crivello.errors import InvalidArgument

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Pair:
    """Two measures: Kendall's τ, its weighted form, and the share of their best nodes that is common.

    Both τ are between -1 (the opposite order) and 1 (the same); they are not a number if a measure gives all
    nodes the same value.
    """

    one: str
    other: str
    tau: float
    weighted_tau: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The agreement of each pair of some measures on a graph; ``top`` is the number of best nodes compared."""

    nodes: int
    top: int
    pairs: list[Pair]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def compare(
    scores: Mapping[str, ArrayLike], *, top: int = 100, progress: Callable[[int, int], None] | None = None
) -> Comparison:
    """Compares each pair of measures, given by name with the values of all nodes. Cost: O(n log n) a pair.

    >>> compare({"pagerank": graph.pagerank(), "indegree": graph.indegree()}).pairs[0].tau
    0.81
    """
    given = {name: rounded(values) for name, values in scores.items()}
    sizes = {len(values) for values in given.values()}
    if len(given) < 2 or len(sizes) > 1:
        raise InvalidArgument("a comparison needs two measures or more, of the same nodes")
    [nodes] = sizes
    top = min(top, nodes)
    best = {name: set(best_nodes(values, top).tolist()) for name, values in given.items()}
    pairs = []
    wanted = list(combinations(given, 2))
    for done, (one, other) in enumerate(wanted):
        if progress:
            progress(done, len(wanted))
        values = (given[one], given[other])
        overlap = len(best[one] & best[other]) / top if top else float("nan")
        pairs.append(Pair(one, other, kendall(*values), weighted_kendall(*values), overlap))
    return Comparison(nodes, top, pairs)


def kendall(one: ArrayLike, other: ArrayLike) -> float:
    """Kendall's τ-b, which accounts for ties."""
    return _core.kendall(_floats(one), _floats(other), False)


def weighted_kendall(one: ArrayLike, other: ArrayLike) -> float:
    """Kendall's τ with hyperbolic weights (Vigna 2015): the order of the best nodes matters most."""
    return _core.kendall(_floats(one), _floats(other), True)


def best_nodes(values: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """The nodes with the highest values, best first; ties by node number. Cost: O(n + k log k)."""
    count = min(count, len(values))
    if count == 0:
        return np.empty(0, np.intp)
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: count - len(above)]
    found = np.concatenate([above, ties])
    return found[np.lexsort((found, -values[found]))]


def positions(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rank of each node, from 1; nodes with the same value share the mean of their ranks."""
    _, group, sizes = np.unique(-values, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    ranks: NDArray[np.float64] = (ends - (sizes - 1) / 2)[group]
    return ranks


def rounded(values: ArrayLike) -> NDArray[np.float64]:
    """Values to ten significant digits."""
    array = _floats(values)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(array))) - _DIGITS + 1)
        near = np.round(array / unit) * unit
    exact = ~np.isfinite(near) | (array == 0)
    near[exact] = array[exact]
    return near


def _floats(values: ArrayLike | Sequence[float]) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.asarray(values), dtype=np.float64)
