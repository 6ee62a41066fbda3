"""The stable Bloom filter, which forgets, for unbounded streams."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters.base import Decay, Filter, Hashing, whole_numbers


class StableBloom(Filter):
    """A stable Bloom filter (Deng and Rafiei): detects the duplicates in a stream, in fixed memory.

    ``add`` returns the duplicate flags. For every key, ``p`` cells are decremented and its ``k`` cells are
    set to ``max``; the false-positive rate stays below ``bound`` however long the stream is, and the oldest
    keys are forgotten: see ``recall``. The same ``seed`` and stream yield the same answers everywhere. The
    cells to decrement are ``consecutive`` from a random one on, or ``independent``; with ``p=0`` and ``max=1``
    it is a Bloom filter.
    """

    kind: ClassVar[str] = "stable"

    def __init__(
        self,
        *,
        bits: int,
        max: int = 1,
        k: int = 2,
        p: int = 4,
        seed: int = 0,
        decay: Decay = "consecutive",
        hashing: Hashing = "enhanced",
    ) -> None:
        with whole_numbers():
            self._native = _core.Filter.stable(bits, max, k, p, seed, decay, hashing, None)

    @classmethod
    def for_bound(
        cls,
        *,
        bits: int,
        false_positives: float,
        max: int = 1,
        k: int | None = None,
        seed: int = 0,
        decay: Decay = "consecutive",
        hashing: Hashing = "enhanced",
    ) -> Self:
        """The filter of ``bits`` bits that keeps the false-positive rate below a bound.

        By default ``k`` is the value with the longest memory; ``p`` follows from it, rounded up.
        """
        with whole_numbers():
            solved = _core.Stability.for_bound(bits, false_positives, max, k)
            return cls(bits=bits, max=max, k=solved.k, p=solved.p, seed=seed, decay=decay, hashing=hashing)

    @classmethod
    def map(
        cls,
        path: str | PathLike[str],
        *,
        bits: int | None = None,
        max: int = 1,
        k: int = 2,
        p: int = 4,
        seed: int = 0,
        decay: Decay = "consecutive",
        hashing: Hashing = "enhanced",
    ) -> Self:
        """A filter in the memory-mapped file ``path``.

        An existing file is opened with its own parameters; otherwise one of ``bits`` bits is created.
        One process at a time: ``flush`` or release it before another opens it.
        """
        if Path(path).exists():
            if bits is not None:
                raise InvalidArgument(f"{path} has its size already: give the path alone")
            return cls._of(_core.Filter.open(cls.kind, path, True))
        if bits is None:
            raise InvalidArgument(f"{path} does not exist: give bits to make it")
        with whole_numbers():
            return cls._of(_core.Filter.stable(bits, max, k, p, seed, decay, hashing, path))

    @property
    def _stability(self) -> _core.Stability:
        found = self._native.stability
        assert found is not None
        return found

    @property
    def max(self) -> int:
        """The value that cells are set to."""
        return self._stability.max

    @property
    def k(self) -> int:
        """The number of cells set per key."""
        return self._stability.k

    @property
    def p(self) -> int:
        """The number of cells decremented per key."""
        return self._stability.p

    @property
    def bound(self) -> float:
        """The upper bound on the false-positive rate, on any stream."""
        return self._stability.bound

    def recall(self, gap: float) -> float:
        """The probability of recognising the duplicate of a key seen ``gap`` keys before."""
        return self._stability.recall(gap)

    def __repr__(self) -> str:
        return f"StableBloom(bits={self.bits}, max={self.max}, k={self.k}, p={self.p}, count={self.count})"
