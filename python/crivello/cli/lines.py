"""Lines from files and standard input, and arguments of the command line, which may be arbitrary bytes."""

from __future__ import annotations

from collections.abc import Iterator

from crivello.errors import InvalidArgument
from crivello.lines import numbered_lines


def lines_of(names: list[str]) -> Iterator[str]:
    """The non-blank lines of files, plain or gzip; ``-`` is standard input."""
    for name in names:
        for _, line in numbered_lines(name):
            yield line


def utf8(text: str, name: str) -> str:
    """Checks that an argument of the command line is UTF-8, and returns it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not UTF-8") from None
    return text
