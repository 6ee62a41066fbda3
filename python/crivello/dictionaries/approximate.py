"""Sets of keys that sometimes say yes where the answer is no, and never change."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.dictionaries.base import Construction, DictionaryOfFunction
from crivello.filters.base import Keys, whole_numbers


class ApproximateDictionary(DictionaryOfFunction):
    """A set of keys as the static function from each key to its own signature of ``bits`` bits (1 to 32).

    A key is always there; what is none seems to be there with probability 2^-``bits``. It takes about 1.12 ``bits`` a
    key and three cache misses, where a Bloom filter takes 1.44 ``bits`` and as many misses as ``bits``; but it cannot
    take more keys. A key may come more than once.
    """

    _kind: ClassVar = _core.ApproximateDictionary
    _native: _core.ApproximateDictionary

    def __init__(
        self, keys: Keys, *, bits: int = 8, construction: Construction = "fuse", compact: bool = False
    ) -> None:
        with whole_numbers("dictionary"):
            self._native = _core.ApproximateDictionary.build(keys, bits, construction, compact)

    def contains(self, keys: Keys) -> NDArray[np.bool_]:
        """Tells of each key whether it seems to be there."""
        return np.frombuffer(self._native.contains(keys), dtype=np.bool_)

    def __contains__(self, key: str | bytes) -> bool:
        return bool(self._native.contains([key])[0])

    @property
    def signature_bits(self) -> int:
        """How many bits a signature has."""
        return self._native.signature_bits

    @property
    def expected_error(self) -> float:
        """The probability that what is no key seems to be there."""
        return 2.0**-self.signature_bits if len(self) else 0.0

    def __repr__(self) -> str:
        return self._described(f"{self.signature_bits} bits of signature")
