"""A compressed sorted list of strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.dictionaries.base import Dictionary
from crivello.errors import InvalidArgument
from crivello.filters.base import whole_numbers

_TOGETHER = 1024


class FrontCodedList(Dictionary):
    """Sorted distinct strings, each stored as its difference from the previous one (front coding).

    Strings are in blocks of ``block``, whose first is stored in full: ``list[rank]`` scans one block,
    ``ranks`` and ``prefix`` do a binary search over the blocks first. It stores its keys, so it is exact.
    """

    _kind: ClassVar = _core.FrontCodedList
    _native: _core.FrontCodedList

    def __init__(self, keys: list[str], *, block: int = 16) -> None:
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise InvalidArgument("keys must be a list of str")
        with whole_numbers("dictionary"):
            try:
                self._native = _core.FrontCodedList.build(keys, block)
            except UnicodeEncodeError as error:
                raise InvalidArgument(f"a key cannot be written as UTF-8: {error}") from None

    @overload
    def __getitem__(self, rank: int) -> str: ...
    @overload
    def __getitem__(self, rank: slice) -> list[str]: ...
    def __getitem__(self, rank: int | slice) -> str | list[str]:
        if isinstance(rank, slice):
            start, end, step = rank.indices(len(self))
            if step != 1:
                raise InvalidArgument("a front-coded list has slices without steps")
            return self._native.keys(start, max(start, end))
        place = rank + len(self) if rank < 0 else rank
        if not 0 <= place < len(self):
            raise IndexError(f"there is no key with rank {rank}: there are {len(self):,}")
        return self._native.keys(place, place + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _TOGETHER):
            yield from self[start : start + _TOGETHER]

    def ranks(self, keys: list[str]) -> NDArray[np.int64]:
        """The rank of each key; -1 if there is no such key."""
        return np.frombuffer(self._native.ranks(keys), dtype="<i8")

    def __contains__(self, key: str) -> bool:
        return bool(self.ranks([key])[0] >= 0)

    def prefix(self, prefix: str) -> range:
        """The ranks of the keys that begin with ``prefix``."""
        return range(*self._native.prefix(prefix))

    def __repr__(self) -> str:
        return f"FrontCodedList({len(self):,} keys, {self.bits_per_key:.2f} bits per key)"
