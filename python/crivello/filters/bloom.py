"""The filters that never forget."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters.base import Filter, whole_numbers


class Bloom(Filter):
    """A Bloom filter: ``hashes`` bits are set for every key.

    Sized for ``capacity`` keys with false positives at rate ``error``, or given ``bits`` and ``hashes``. A key costs
    1.44 log2(1/error) bits. Beyond the capacity it errs more; ``expected_error`` tells how often.
    """

    kind: ClassVar[str] = "bloom"

    def __init__(
        self,
        *,
        capacity: int | None = None,
        error: float | None = None,
        bits: int | None = None,
        hashes: int | None = None,
    ) -> None:
        with whole_numbers():
            self._native = _core.Filter.bloom(self.kind, capacity, error, bits, hashes, None)

    @classmethod
    def map(
        cls,
        path: str | PathLike[str],
        *,
        capacity: int | None = None,
        error: float | None = None,
        bits: int | None = None,
        hashes: int | None = None,
    ) -> Self:
        """A filter that lives in the memory-mapped file ``path``.

        A file that is there is opened, and its size taken from it; otherwise one is made, with the size given.
        One process at a time: ``flush`` it, or let it go, before another opens it.
        """
        sizes = (capacity, error, bits, hashes)
        if Path(path).exists():
            if any(size is not None for size in sizes):
                raise InvalidArgument(f"{path} has its size already: give the path alone")
            return cls._of(_core.Filter.open(cls.kind, path, True))
        with whole_numbers():
            return cls._of(_core.Filter.bloom(cls.kind, *sizes, path))


class BlockedBloom(Bloom):
    """A Bloom filter whose bits for a key all lie in one cache line of 512.

    One cache miss per key instead of one per hash function, for somewhat more bits: how many more is solved from the
    uneven load of the lines, so that the stated error is the real one.
    """

    kind: ClassVar[str] = "blocked"
