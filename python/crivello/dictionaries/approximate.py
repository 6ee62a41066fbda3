"""Static approximate sets of keys, with false positives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.dictionaries.base import Construction, DictionaryOfFunction
from crivello.filters.base import Keys, whole_numbers


class ApproximateDictionary(DictionaryOfFunction):
    """A set of keys as a static function from each key to its own signature of ``bits`` bits (1 to 32).

    There are no false negatives; the false-positive rate is 2^-``bits``. It takes about 1.12 ``bits`` per key
    and three cache misses, where a Bloom filter takes 1.44 ``bits`` and as many misses as ``bits``; but it is
    immutable. Duplicate keys are allowed.
    """

    _kind: ClassVar = _core.ApproximateDictionary
    _native: _core.ApproximateDictionary

    def __init__(
        self, keys: Keys, *, bits: int = 8, construction: Construction = "fuse", compact: bool = False
    ) -> None:
        with whole_numbers("dictionary"):
            self._native = _core.ApproximateDictionary.build(keys, bits, construction, compact)

    def contains(self, keys: Keys) -> NDArray[np.bool_]:
        """Whether each key is present, up to false positives."""
        return np.frombuffer(self._native.contains(keys), dtype=np.bool_)

    def __contains__(self, key: str | bytes) -> bool:
        return bool(self._native.contains([key])[0])

    @property
    def signature_bits(self) -> int:
        """The width of a signature in bits."""
        return self._native.signature_bits

    @property
    def expected_error(self) -> float:
        """The false-positive rate."""
        return 2.0**-self.signature_bits if len(self) else 0.0

    def __repr__(self) -> str:
        return self._described(f"{self.signature_bits} bits of signature")
