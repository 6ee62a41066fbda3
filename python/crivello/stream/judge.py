"""Judges decide for each line whether it was seen before: a filter of any kind, or the exact set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters import BlockedBloom, Bloom, Decay, Filter, Hashing, StableBloom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crivello.filters import Keys

DEFAULT_MEMORY = 64 << 20
DEFAULT_ERROR = 0.01


class Kind(StrEnum):
    """The kinds of judges."""

    STABLE = "stable"
    BLOOM = "bloom"
    BLOCKED_BLOOM = "blocked-bloom"
    EXACT = "exact"


class Exact:
    """The exact set of 64-bit signatures: in ``memory`` bytes, beyond that in sorted files on disk."""

    def __init__(self, memory: int) -> None:
        self._native = _core.ExactSet(memory)

    def add(self, keys: Keys) -> NDArray[np.bool_]:
        """Adds keys in order; returns for each whether it was seen before."""
        return np.frombuffer(self._native.add(keys), dtype=np.bool_)

    @property
    def bytes(self) -> int:
        """The memory used by the set, in bytes."""
        return self._native.bytes

    def __len__(self) -> int:
        return len(self._native)


@dataclass(frozen=True, slots=True)
class Description:
    """A judge's parameters and state, for a report; None for parameters that the kind does not have."""

    kind: str
    bytes: int
    bits: int | None = None
    k: int | None = None
    p: int | None = None
    max: int | None = None
    seed: int | None = None
    bound: float | None = None
    fill: float | None = None
    expected_error: float = 0.0


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The options of a judge; a parameter that is None is derived from the others.

    A Bloom filter takes all of ``memory``, with the number of hash functions that is optimal for ``error``, or
    for ``capacity`` keys; with both it takes as much as so many keys need. A stable filter takes all of
    ``memory`` and decrements enough cells to keep the false-positive rate below ``error``.
    """

    kind: Kind = Kind.STABLE
    memory: int = DEFAULT_MEMORY
    error: float | None = None
    capacity: int | None = None
    k: int | None = None
    p: int | None = None
    max: int | None = None
    seed: int | None = None
    decay: Decay | None = None
    hashing: Hashing | None = None

    def make(self) -> Filter | Exact:
        """Creates the judge; a parameter that has no meaning for its kind, or beside another, is refused."""
        bits = self.memory * 8
        error = DEFAULT_ERROR if self.error is None else self.error
        match self.kind:
            case Kind.EXACT:
                self._refuse("error", "capacity", "k", "p", "max", "seed", "decay", "hashing")
                return Exact(self.memory)
            case Kind.STABLE:
                self._refuse("capacity")
                if self.error is not None and self.p is not None:
                    raise InvalidArgument(
                        "--p is derived from --error: both cannot be given",
                        hint="leave out one of the two",
                    )
                maximum = self.max or 1
                solved = _core.Stability.for_bound(bits, error, maximum, self.k)
                return StableBloom(
                    bits=bits,
                    max=maximum,
                    k=solved.k,
                    p=solved.p if self.p is None else self.p,
                    seed=self.seed or 0,
                    decay=self.decay or "consecutive",
                    hashing=self.hashing or "enhanced",
                )
            case Kind.BLOOM | Kind.BLOCKED_BLOOM:
                self._refuse("p", "max", "seed", "decay")
                family = Bloom if self.kind is Kind.BLOOM else BlockedBloom
                hashing = self.hashing or "enhanced"
                if self.capacity is None:
                    if self.error is not None and self.k is not None:
                        raise InvalidArgument(
                            "without --capacity --k is derived from --error: both cannot be given",
                            hint="leave out one of the two",
                        )
                    return family(bits=bits, hashes=self.k or _best_hashes(error), hashing=hashing)
                self._refuse("k", reason="with --capacity")
                if self.error is None:
                    return family(bits=bits, capacity=self.capacity, hashing=hashing)
                made = family(capacity=self.capacity, error=error, hashing=hashing)
                if made.bits > bits:
                    raise InvalidArgument(
                        f"{self.capacity:,} keys at an error of {error:g} take {made.bits // 8:,} bytes, "
                        f"and there are {self.memory:,}",
                        hint="give more memory, a smaller capacity or a larger error",
                    )
                return made

    def _refuse(self, *names: str, reason: str = "") -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise InvalidArgument(
                    f"--{name} has no meaning for --filter {self.kind} {reason}".rstrip(),
                    hint="leave it out, or take another filter",
                )

    def describe(self, judge: Filter | Exact) -> Description:
        """The parameters and state of a judge created from these options."""
        if isinstance(judge, Exact):
            return Description(self.kind, judge.bytes)
        stable = judge if isinstance(judge, StableBloom) else None
        return Description(
            self.kind,
            bytes=-(-judge.bits // 8),
            bits=judge.bits,
            k=judge.hashes,
            p=stable.p if stable else None,
            max=stable.max if stable else None,
            seed=(self.seed or 0) if stable else None,
            bound=stable.bound if stable else None,
            fill=judge.fill,
            expected_error=judge.expected_error,
        )


def _best_hashes(error: float) -> int:
    """The number of hash functions of a Bloom filter that reaches this false-positive rate when it is full."""
    if not 0 < error < 1:
        raise InvalidArgument(f"the error must be between 0 and 1, and {error} is not")
    return min(64, math.ceil(-math.log2(error)))
