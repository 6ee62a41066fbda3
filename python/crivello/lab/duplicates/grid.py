"""The grid of a study: which filters are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters import Bloom, Filter, StableBloom
from crivello.filters.base import whole_numbers

# A cell is a byte at most.
_LARGEST_CELL = 255


def best_hashes(cells: int, distinct: int) -> int:
    """The K of a Bloom filter with the lowest false-positive rate for so many keys: ln 2 m / n."""
    return Bloom(bits=cells, capacity=distinct).hashes


def bound_of(cells: int, k: int, maximum: int, p: int) -> float:
    """The upper bound on the false-positive rate of a stable filter."""
    zeros = (1 / (1 + 1 / (p * (1 / k - 1 / cells)))) ** maximum if p else 0.0
    return float((1 - zeros) ** k)


@dataclass(frozen=True, slots=True)
class Combination:
    """One filter: m cells, K hashes; a stable one also has Max, P, and the bound P was solved from."""

    filter: str
    cells: int
    k: int
    max: int = 1
    p: int = 0
    wanted: float | None = None

    def make(self, seed: int) -> Filter:
        """An empty filter. A cell of a stable one is as wide as Max needs."""
        if self.filter == "bloom":
            return Bloom(bits=self.cells, hashes=self.k)
        return StableBloom(bits=self.bits, max=self.max, k=self.k, p=self.p, seed=seed)

    @property
    def bits(self) -> int:
        """The size of the filter in bits."""
        return self.cells * self.max.bit_length()


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of these; P is given, and also solved from bounds on the false-positive rate."""

    cells: tuple[int, ...] = (500_000, 1_000_000, 5_000_000, 10_000_000, 40_000_000)
    k: tuple[int, ...] = (2, 4, 6, 8)
    p: tuple[int, ...] = (1, 4, 10)
    max: tuple[int, ...] = (1, 3)
    bounds: tuple[float, ...] = (0.01, 0.05)

    def __post_init__(self) -> None:
        if not (self.cells and self.k and self.max and (self.p or self.bounds)):
            raise InvalidArgument("the grid is empty: it needs cells, K, Max, and P or bounds")
        if wrong := [one for one in self.max if not 1 <= one <= _LARGEST_CELL]:
            raise InvalidArgument(f"Max must be from 1 to {_LARGEST_CELL}, and {wrong[0]:,} was asked for")

    def combinations(self, distinct: int) -> list[Combination]:
        """Each filter once, large ones first, so that the last to finish is short.

        A Bloom filter also has the K that is best for ``distinct`` keys, ln 2 m / n.
        """
        found = [
            Combination("bloom", cells, k)
            for cells in self.cells
            for k in sorted({*self.k, best_hashes(cells, distinct)})
        ]
        for cells in self.cells:
            for k in self.k:
                for maximum in self.max:
                    found += self._stable(cells, k, maximum)
        return sorted(found, key=lambda one: -one.bits)

    def _stable(self, cells: int, k: int, maximum: int) -> Iterator[Combination]:
        bits = cells * maximum.bit_length()
        with whole_numbers():
            solved = {_core.Stability.for_bound(bits, bound, maximum, k).p: bound for bound in self.bounds}
        for p in sorted({*solved, *self.p}):
            yield Combination("stable", cells, k, maximum, p, solved.get(p))
