"""Streams of numbers, and what a code makes of them."""

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
    """The numbers as an array of uint64; refuses what is not a list of whole numbers from 0 to 2^64 - 1."""
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
    """A count or bound, if it is one."""
    if not 0 <= number < 1 << 63:
        raise InvalidArgument(f"{what} must be from 0 to 2^63 - 1, and is {number}")
    return number


def names() -> list[str]:
    """The codes that hold any list."""
    return _core.code_names()


def encode(code: str, numbers: Numbers) -> bytes:
    """The numbers in a code; how many there are is not in the bytes."""
    return _core.code_encode(code, naturals(numbers))


def decode(code: str, data: bytes, n: int) -> NDArray[np.uint64]:
    """The n numbers that ``encode`` made the bytes of."""
    return np.frombuffer(_core.code_decode(code, data, index_of(n, "n")), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a code makes of some numbers: bits a number, and nanoseconds a number to write and to read."""

    code: str
    bits: float
    encode: float
    decode: float


def measure(code: str, numbers: Numbers) -> Measure:
    """Writes and reads the numbers some times, in native code."""
    array = naturals(numbers)
    if array.size == 0:
        raise InvalidArgument("there are no numbers to measure")
    length, writing, reading = _core.code_measure(code, array)
    each = 1e9 / array.size
    return Measure(_core.code_checked(code), 8 * length / array.size, writing * each, reading * each)
