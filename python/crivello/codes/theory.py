"""What can be said of a code without writing anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.codes.streams import Numbers, index_of, naturals


def lengths(code: str, numbers: Numbers) -> NDArray[np.uint64]:
    """How long the word of each number is; refused where it has none, or one of more than 2^16 bits."""
    return np.frombuffer(_core.code_lengths(code, naturals(numbers)), dtype=np.uint64)


def intended(code: str, numbers: Numbers) -> NDArray[np.float64]:
    """The probability 2^-length for which the code is optimal.

    An incomplete code (nibbles and bytes) has its probabilities divided by its Kraft sum, so that they add up to 1.
    """
    return np.frombuffer(_core.code_intended(code, naturals(numbers)), dtype=np.float64)


def kraft(code: str, upto: int) -> float:
    """Kraft's sum of 2^-length over the numbers below ``upto``: at most 1, and 1 in the end if the code is complete."""
    return _core.code_kraft(code, index_of(upto, "upto"))


def words(code: str, upto: int) -> list[str]:
    """The words of the numbers below ``upto``, as they are written on paper."""
    return _core.code_words(code, index_of(upto, "upto"))


def canonical(lengths: Sequence[int]) -> list[str]:
    """The words of the canonical instantaneous code with these lengths; refused where Kraft's sum is more than 1."""
    return _core.code_canonical([index_of(length, "a length") for length in lengths])


def golomb_modulus(p: float) -> int:
    """The best modulus of Golomb's code where n has the probability p (1 - p)^n."""
    return _core.code_golomb_modulus(p)


def entropy(numbers: Numbers) -> float:
    """The empirical entropy, in bits a number."""
    return _core.code_entropy(naturals(numbers))
