"""Private: numbered lines of text from a file, plain or gzip, or from standard input.

Readers of line formats report errors as ``FILE, line N``, so blank lines, which are skipped, count as well.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crivello.errors import InvalidArgument, StorageError

_GZIP = b"\x1f\x8b"


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """The non-blank lines of a file with their numbers, stripped of white space; ``-`` is standard input."""
    try:
        with _opened(name) as file:
            for number, line in enumerate(file, 1):
                try:
                    text = line.decode().strip()
                except UnicodeDecodeError:
                    raise InvalidArgument(f"line {number} of {name} is not UTF-8") from None
                if text:
                    yield number, text
    except EOFError:
        raise StorageError(f"{name} is cut off: its compressed data does not end", name) from None
    except OSError as error:
        raise StorageError.of(error, name) from None


@contextmanager
def _opened(name: str) -> Iterator[Iterable[bytes]]:
    with Path("/dev/stdin" if name == "-" else name).open("rb") as file:
        if file.peek(2)[:2] != _GZIP:
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked
