"""The Bloom filters, which never forget."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import ClassVar, Self

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.filters.base import Filter, Hashing, whole_numbers


class Bloom(Filter):
    """A Bloom filter: every key sets ``hashes`` bits.

    Sized for ``capacity`` keys with a false-positive rate of ``error``; or by ``bits`` and ``hashes``; or by
    ``bits`` and ``capacity``, with the best number of hashes, ln 2 bits / capacity. A key costs 1.44
    log2(1/error) bits. Beyond the capacity the rate rises; ``expected_error`` is the current one. With
    ``hashing="double"`` the positions of a key are plain a + i b, without the cubic term: in small filters
    the rate is higher than stated.
    """

    kind: ClassVar[str] = "bloom"

    def __init__(
        self,
        *,
        capacity: int | None = None,
        error: float | None = None,
        bits: int | None = None,
        hashes: int | None = None,
        hashing: Hashing = "enhanced",
    ) -> None:
        self._check(hashing)
        with whole_numbers():
            self._native = _core.Filter.bloom(self.kind, capacity, error, bits, hashes, hashing, None)

    @classmethod
    def _check(cls, hashing: Hashing) -> None:
        """Whether there is a filter of this kind with that hashing; the core knows the names."""

    @classmethod
    def map(
        cls,
        path: str | PathLike[str],
        *,
        capacity: int | None = None,
        error: float | None = None,
        bits: int | None = None,
        hashes: int | None = None,
        hashing: Hashing = "enhanced",
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
        cls._check(hashing)
        with whole_numbers():
            return cls._of(_core.Filter.bloom(cls.kind, *sizes, hashing, path))


class BlockedBloom(Bloom):
    """A Bloom filter in which all bits of a key are in one cache line of 512 bits.

    One cache miss per key instead of one per hash function, for somewhat more bits: how many is computed from
    the uneven load of the lines, so that the stated rate is the actual one.
    """

    kind: ClassVar[str] = "blocked"

    @classmethod
    def _check(cls, hashing: Hashing) -> None:
        if hashing != "enhanced":
            raise InvalidArgument(
                "a blocked filter draws the bits of a key independently: it has no other hashing",
                hint="take Bloom, or leave hashing out",
            )
