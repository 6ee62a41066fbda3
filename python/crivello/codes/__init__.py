"""Integer codes, as a library: encoding and decoding, and the theory of codes.

    >>> from crivello import codes
    >>> data = codes.encode("delta", [3, 0, 250])
    >>> codes.decode("delta", data, 3)
    array([  3,   0, 250], dtype=uint64)
    >>> codes.words("gamma", 4)
    ['1', '010', '011', '00100']

A code goes by its name: ``unary``, ``unary-ordered``, ``gamma``, ``delta``, ``zeta1`` to ``zeta63``, ``omega``,
``golomb``, ``golomb:MODULUS``, ``golomb-of:N``, ``rice``, ``rice:PARAMETER``, ``minimal:BOUND``, ``nibble``, ``byte``,
``nibble-prefix``, ``byte-prefix``, ``pfor128``, ``pfor256``, ``escape128``, ``escape256``, ``ans``, ``elias-fano``,
``simd128``, ``simd256``. They are described in ``docs/codes.md``.
"""

from __future__ import annotations

from crivello.codes.numerals import AsymmetricNumerals
from crivello.codes.streams import Measure, Numbers, decode, encode, measure, names
from crivello.codes.theory import canonical, entropy, golomb_modulus, intended, kraft, lengths, words

__all__ = [
    "AsymmetricNumerals",
    "Measure",
    "Numbers",
    "canonical",
    "decode",
    "encode",
    "entropy",
    "golomb_modulus",
    "intended",
    "kraft",
    "lengths",
    "measure",
    "names",
    "words",
]
