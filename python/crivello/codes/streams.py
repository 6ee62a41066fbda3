"""Encoding, decoding and measuring lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import InvalidArgument

Numbers: TypeAlias = Sequence[int] | NDArray[np.integer]


def naturals(numbers: Numbers) -> NDArray[np.uint64]:
    """The numbers as an array of uint64; rejects anything but a list of integers from 0 to 2^64 - 1."""
    refused = InvalidArgument("numbers must be whole, not negative and below 2^64, in a list or an array")
    if isinstance(numbers, np.ndarray):
        whole = numbers.dtype.kind == "u" or (numbers.dtype.kind == "i" and (numbers >= 0).all())
        if numbers.ndim != 1 or not whole:
            raise refused
        return np.ascontiguousarray(numbers, dtype=np.uint64)
    try:
        return np.array([index(number) for number in numbers], dtype=np.uint64)
    except (TypeError, OverflowError):
        raise refused from None


def index_of(number: int, what: str) -> int:
    """Checks and returns a count or bound."""
    if not 0 <= number < 1 << 63:
        raise InvalidArgument(f"{what} must be from 0 to 2^63 - 1, and is {number}")
    return number


def names() -> list[str]:
    """The names of the codes that can encode any list."""
    return _core.code_names()


def encode(code: str, numbers: Numbers) -> bytes:
    """Encodes the numbers; their count is not in the bytes."""
    return _core.code_encode(code, naturals(numbers))


def decode(code: str, data: bytes, n: int) -> NDArray[np.uint64]:
    """Decodes n numbers from the bytes that ``encode`` returned."""
    return np.frombuffer(_core.code_decode(code, data, index_of(n, "n")), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Measure:
    """The cost of a code: bits per number, and nanoseconds per number to encode and to decode."""

    code: str
    bits: float
    encode: float
    decode: float


def measure(code: str, numbers: Numbers) -> Measure:
    """Encodes and decodes the numbers several times, in native code."""
    array = naturals(numbers)
    if array.size == 0:
        raise InvalidArgument("there are no numbers to measure")
    length, writing, reading = _core.code_measure(code, array)
    each = 1e9 / array.size
    return Measure(_core.code_checked(code), 8 * length / array.size, writing * each, reading * each)
