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
    """The codes that can encode any list, unary, and minimal binary below the largest number plus one."""
    largest = int(numbers.max())
    return ["unary", *codes.names(), *([f"minimal:{largest + 1}"] if 0 < largest < (1 << 64) - 1 else [])]


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
