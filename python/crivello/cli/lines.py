"""Lines from files and standard input, and words from the command line, that may be anything."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crivello.errors import InvalidArgument, StorageError

_GZIP = b"\x1f\x8b"


def lines_of(names: list[str]) -> Iterator[str]:
    """The lines of files, plain or gzip, that are not empty; ``-`` is standard input."""
    for name in names:
        try:
            with _opened(name) as file:
                for number, line in enumerate(file, 1):
                    try:
                        text = line.decode().strip()
                    except UnicodeDecodeError:
                        raise InvalidArgument(f"line {number} of {name} is not UTF-8") from None
                    if text:
                        yield text
        except EOFError:
            raise StorageError(f"{name} is cut off: its compressed data does not end", name) from None
        except OSError as error:
            raise StorageError.of(error, name) from None


def utf8(text: str, name: str) -> str:
    """A word of the command line, if it is UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not UTF-8") from None
    return text


@contextmanager
def _opened(name: str) -> Iterator[Iterable[bytes]]:
    with Path("/dev/stdin" if name == "-" else name).open("rb") as file:
        if file.peek(2)[:2] != _GZIP:
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked
