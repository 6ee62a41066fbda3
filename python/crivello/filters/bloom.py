"""The Bloom filters, which never forget."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters.base import Filter, whole_numbers


class Bloom(Filter):
    """A Bloom filter: every key sets ``hashes`` bits.

    Sized for ``capacity`` keys with a false-positive rate of ``error``, or by ``bits`` and ``hashes``. A key
    costs 1.44 log2(1/error) bits. Beyond the capacity the rate rises; ``expected_error`` is the current one.
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
        """A filter in the memory-mapped file ``path``.

        An existing file is opened with its own size; otherwise one is created, with the given size.
        One process at a time: ``flush`` or release it before another opens it.
        """
        sizes = (capacity, error, bits, hashes)
        if Path(path).exists():
            if any(size is not None for size in sizes):
                raise InvalidArgument(f"{path} has its size already: give the path alone")
            return cls._of(_core.Filter.open(cls.kind, path, True))
        with whole_numbers():
            return cls._of(_core.Filter.bloom(cls.kind, *sizes, path))


class BlockedBloom(Bloom):
    """A Bloom filter in which all bits of a key are in one cache line of 512 bits.

    One cache miss per key instead of one per hash function, for somewhat more bits: how many is computed from
    the uneven load of the lines, so that the stated rate is the actual one.
    """

    kind: ClassVar[str] = "blocked"
