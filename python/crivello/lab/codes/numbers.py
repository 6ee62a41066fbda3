"""Reads integers from a file in common formats."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crivello.codes.streams import naturals
from crivello.errors import InvalidArgument, StorageError

FORMATS = ("auto", "text", "npy", "u32", "u64")
_NPY = b"\x93NUMPY"


def read(name: str, format: str = "auto") -> NDArray[np.uint64]:
    """The numbers in a file, or on standard input if the name is ``-``.

    ``text`` is one number per line, ``npy`` a NumPy array, ``u32`` and ``u64`` are raw and little-endian;
    ``auto`` recognises a NumPy array by its magic number and treats everything else as text.
    """
    if format not in FORMATS:
        raise InvalidArgument(f"there is no format {format!r}", hint=f"one of {', '.join(FORMATS)}")
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise StorageError.of(error, name) from None
    called = "standard input" if name == "-" else name
    if format == "auto":
        format = "npy" if data.startswith(_NPY) else "text"
    numbers = {"text": _text, "npy": _array, "u32": _raw32, "u64": _raw64}[format](data, called)
    if numbers.size == 0:
        raise InvalidArgument(f"{called} has no numbers")
    return numbers


def gaps(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The first number of a sorted list, and the difference of each other number to the previous one."""
    falling = np.flatnonzero(numbers[1:] < numbers[:-1])
    if falling.size:
        place = int(falling[0]) + 1
        raise InvalidArgument(
            f"the numbers are not sorted: number {place + 1:,} is {numbers[place]}, after {numbers[place - 1]}",
            hint="sort them, or leave out --gaps",
        )
    return np.diff(numbers, prepend=np.uint64(0))


def _text(data: bytes, name: str) -> NDArray[np.uint64]:
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        if not (word := line.strip()):
            continue
        if not word.isdigit() or len(word) > 20 or (value := int(word)) >= 1 << 64:
            shown = word[:40].decode(errors="replace")
            raise InvalidArgument(
                f"line {number:,} of {name} is not a whole number from 0 to 2^64 - 1: {shown!r}",
                hint="one number a line; other files need --format",
            )
        found.append(value)
    return np.array(found, dtype=np.uint64)


def _array(data: bytes, name: str) -> NDArray[np.uint64]:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError):
        raise InvalidArgument(f"{name} is not a NumPy array that can be read") from None
    try:
        return naturals(np.ravel(array))
    except InvalidArgument:
        raise InvalidArgument(f"{name} has other things than whole numbers from 0 to 2^64 - 1") from None


def _raw32(data: bytes, name: str) -> NDArray[np.uint64]:
    return _whole(data, name, "<u4").astype(np.uint64)


def _raw64(data: bytes, name: str) -> NDArray[np.uint64]:
    return _whole(data, name, "<u8").astype(np.uint64)


def _whole(data: bytes, name: str, kind: str) -> NDArray[np.unsignedinteger]:
    width = np.dtype(kind).itemsize
    if len(data) % width:
        raise InvalidArgument(f"{name} has {len(data):,} bytes, which is no multiple of {width}")
    return np.frombuffer(data, dtype=kind)
