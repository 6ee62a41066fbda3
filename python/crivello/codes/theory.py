"""The theory of codes: codewords, lengths, Kraft sums, intended distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.codes.streams import Numbers, index_of, naturals


def lengths(code: str, numbers: Numbers) -> NDArray[np.uint64]:
    """The length of each number's codeword; an error if it has none, or one of more than 2^16 bits."""
    return np.frombuffer(_core.code_lengths(code, naturals(numbers)), dtype=np.uint64)


def intended(code: str, numbers: Numbers) -> NDArray[np.float64]:
    """The probability 2^-length for which the code is optimal.

    An incomplete code (nibbles and bytes) has its probabilities divided by its Kraft sum, so that they add up
    to 1.
    """
    return np.frombuffer(_core.code_intended(code, naturals(numbers)), dtype=np.float64)


def kraft(code: str, upto: int) -> float:
    """Kraft's sum of 2^-length below ``upto``: at most 1, and tends to 1 if the code is complete."""
    return _core.code_kraft(code, index_of(upto, "upto"))


def words(code: str, upto: int) -> list[str]:
    """The codewords of the numbers below ``upto``, highest bit first."""
    return _core.code_words(code, index_of(upto, "upto"))


def canonical(lengths: Sequence[int]) -> list[str]:
    """The codewords of the canonical prefix code with these lengths; an error if Kraft's sum exceeds 1."""
    return _core.code_canonical([index_of(length, "a length") for length in lengths])


def golomb_modulus(p: float) -> int:
    """The optimal modulus of the Golomb code for the distribution p (1 - p)^n."""
    return _core.code_golomb_modulus(p)


def entropy(numbers: Numbers) -> float:
    """The empirical entropy, in bits per number."""
    return _core.code_entropy(naturals(numbers))
