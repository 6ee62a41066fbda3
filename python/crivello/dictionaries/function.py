"""Values for keys, without storing the keys."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.dictionaries.base import Construction, DictionaryOfFunction
from crivello.errors import InvalidArgument
from crivello.filters.base import Keys, whole_numbers


class StaticFunction(DictionaryOfFunction):
    """Any function from keys to integers of ``bits`` bits (default: the width of the largest value).

    It takes 1.12 ``bits`` per key with ``fuse`` and 1.23 with ``peeling``; ``compact`` takes about ``bits`` +
    1.3, and more time. For a string that is not a key the value is arbitrary: see ``Ranks`` and
    ``ApproximateDictionary``, which recognise such strings. Duplicate keys are allowed if their values are
    equal.
    """

    _kind: ClassVar = _core.StaticFunction
    _native: _core.StaticFunction

    def __init__(
        self,
        keys: Keys,
        values: Sequence[int] | NDArray[np.unsignedinteger] | NDArray[np.signedinteger],
        *,
        bits: int | None = None,
        construction: Construction = "fuse",
        compact: bool = False,
    ) -> None:
        with whole_numbers("dictionary"):
            self._native = _core.StaticFunction.build(keys, _numbers(values), bits, construction, compact)

    def get(self, keys: Keys) -> NDArray[np.uint64]:
        """The value of each key; arbitrary for a string that is not a key."""
        return np.frombuffer(self._native.get(keys), dtype="<u8")

    def __getitem__(self, key: str | bytes) -> int:
        return int(self.get([key])[0])

    @property
    def value_bits(self) -> int:
        """The width of a value in bits."""
        return self._native.value_bits

    def __repr__(self) -> str:
        return self._described(f"{self.value_bits} bits")


def _numbers(
    values: Sequence[int] | NDArray[np.unsignedinteger] | NDArray[np.signedinteger],
) -> NDArray[np.uint64]:
    """The values as an array of uint64; rejects negative, too large and fractional ones."""
    try:
        if not isinstance(values, np.ndarray):
            return np.array([index(value) for value in values], dtype=np.uint64)
        if values.ndim == 1 and values.dtype.kind in "ui" and not (values.size and int(values.min()) < 0):
            return np.ascontiguousarray(values, dtype=np.uint64)
    except (OverflowError, TypeError):
        pass
    raise InvalidArgument("values must be a sequence of whole numbers from 0 to 2^64 - 1")
