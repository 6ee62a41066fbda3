"""Measures every code on the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello import codes
from crivello.codes import Measure
from crivello.errors import InvalidArgument

_MOST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The cost of all codes on some numbers, the smallest first; which codes rejected them, and why."""

    numbers: int
    largest: int
    mean: float
    entropy: float
    measures: list[Measure]
    refused: dict[str, str]

    @property
    def smallest(self) -> Measure:
        """The code that takes the fewest bits."""
        return self.measures[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def candidates(numbers: NDArray[np.uint64]) -> list[str]:
    """Every code; those that need a parameter with the one that fits the numbers.

    ``golomb-of`` takes the numbers as gaps: of a sorted list in the natural numbers up to its last, their sum.
    """
    bounds = {"golomb-of": _sum(numbers), "minimal": int(numbers.max())}
    fitted = [f"{code}:{min(bound + 1, _MOST)}" for code, bound in bounds.items()]
    return ["unary", "unary-ordered", *codes.names(), *fitted]


def _sum(numbers: NDArray[np.uint64]) -> int:
    """The exact sum, which may exceed 64 bits."""
    high, low = numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())


def study(numbers: NDArray[np.uint64], progress: Callable[[int, int], None] | None = None) -> Outcome:
    """Measures every code that can encode the numbers."""
    measures, refused = [], {}
    tried = candidates(numbers)
    for done, code in enumerate(tried):
        if progress:
            progress(done, len(tried))
        try:
            measures.append(codes.measure(code, numbers))
        except InvalidArgument as error:
            refused[code] = str(error)
    return Outcome(
        numbers=int(numbers.size),
        largest=int(numbers.max()),
        mean=float(numbers.mean(dtype=np.float64)),
        entropy=codes.entropy(numbers),
        measures=sorted(measures, key=lambda measure: measure.bits),
        refused=refused,
    )
