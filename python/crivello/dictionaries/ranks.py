"""The ranks of keys, without storing the keys."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.dictionaries.base import Construction, DictionaryOfFunction
from crivello.filters.base import Keys, whole_numbers


class Ranks(DictionaryOfFunction):
    """The index of each key in a list (its rank, if the list is sorted), and -1 for any other string.

    A static function to ⌈log2 n⌉ bits, and a signature of ``signature_bits`` bits (0 to 32) for each key.
    There are no false negatives; the false-positive rate is at most 2^-``signature_bits`` (see
    ``expected_error``). Duplicate keys are an error.
    """

    _kind: ClassVar = _core.KeyRanks
    _native: _core.KeyRanks

    def __init__(
        self,
        keys: Keys,
        *,
        signature_bits: int = 8,
        construction: Construction = "fuse",
        compact: bool = False,
    ) -> None:
        with whole_numbers("dictionary"):
            self._native = _core.KeyRanks.build(keys, signature_bits, construction, compact)

    def get(self, keys: Keys) -> NDArray[np.int64]:
        """The rank of each key; -1 if it is not a key (up to false positives)."""
        return np.frombuffer(self._native.get(keys), dtype="<i8")

    def __contains__(self, key: str | bytes) -> bool:
        return bool(self.get([key])[0] >= 0)

    @property
    def signature_bits(self) -> int:
        """The width of a signature in bits."""
        return self._native.signature_bits

    @property
    def function_bits_per_key(self) -> float:
        """The bits per key of the function alone."""
        return 8 * self._native.function_bytes / len(self) if len(self) else float("inf")

    @property
    def expected_error(self) -> float:
        """The probability that a string that is not a key has a rank (the false-positive rate).

        The function maps it to one of 2^⌈log2 n⌉ numbers: those from n on are not ranks, and of the others
        one in 2^``signature_bits`` has its signature.
        """
        if not len(self):
            return 0.0
        return len(self) / 2.0 ** ((len(self) - 1).bit_length() + self.signature_bits)

    def __repr__(self) -> str:
        return self._described(f"{self.signature_bits} bits of signature")
