"""The filter that forgets, for streams without end."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters.base import Filter, whole_numbers


class StableBloom(Filter):
    """A stable Bloom filter (Deng and Rafiei): the duplicates in a stream, in fixed memory.

    ``add`` gives the duplicate flags. For every key, ``p`` cells are decremented and its ``k`` cells are set to
    ``max``; false positives stay below ``bound`` however long the stream is, and what is forgotten is what
    came longest ago: see ``recall``. The same ``seed`` and stream give the same answers everywhere.
    """

    kind: ClassVar[str] = "stable"

    def __init__(self, *, bits: int, max: int = 1, k: int = 2, p: int = 4, seed: int = 0) -> None:
        with whole_numbers():
            self._native = _core.Filter.stable(bits, max, k, p, seed, None)

    @classmethod
    def for_bound(
        cls, *, bits: int, false_positives: float, max: int = 1, k: int | None = None, seed: int = 0
    ) -> Self:
        """The filter of ``bits`` bits that keeps false positives below a bound.

        Without ``k``, the one that remembers longest is taken; ``p`` follows from it, rounded up.
        """
        with whole_numbers():
            solved = _core.Stability.for_bound(bits, false_positives, max, k)
            return cls(bits=bits, max=max, k=solved.k, p=solved.p, seed=seed)

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
    ) -> Self:
        """A filter that lives in the memory-mapped file ``path``.

        A file that is there is opened, with the parameters that it has; otherwise one of ``bits`` bits is made.
        One process at a time: ``flush`` it, or let it go, before another opens it.
        """
        if Path(path).exists():
            if bits is not None:
                raise InvalidArgument(f"{path} has its size already: give the path alone")
            return cls._of(_core.Filter.open(cls.kind, path, True))
        if bits is None:
            raise InvalidArgument(f"{path} does not exist: give bits to make it")
        with whole_numbers():
            return cls._of(_core.Filter.stable(bits, max, k, p, seed, path))

    @property
    def _stability(self) -> _core.Stability:
        found = self._native.stability
        assert found is not None
        return found

    @property
    def max(self) -> int:
        """What a cell is set to."""
        return self._stability.max

    @property
    def k(self) -> int:
        """How many cells are set for a key."""
        return self._stability.k

    @property
    def p(self) -> int:
        """How many cells are decremented for a key."""
        return self._stability.p

    @property
    def bound(self) -> float:
        """False positives are at most this frequent, on any stream."""
        return self._stability.bound

    def recall(self, gap: float) -> float:
        """The probability that the duplicate of a key that came ``gap`` keys before is recognised."""
        return self._stability.recall(gap)

    def __repr__(self) -> str:
        return f"StableBloom(bits={self.bits}, max={self.max}, k={self.k}, p={self.p}, count={self.count})"
