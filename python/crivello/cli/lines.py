"""Lines from files and standard input, and words from the command line, that may be anything."""

from __future__ import annotations

from collections.abc import Iterator

from crivello.errors import InvalidArgument
from crivello.lines import numbered_lines


def lines_of(names: list[str]) -> Iterator[str]:
    """The lines of files, plain or gzip, that are not empty; ``-`` is standard input."""
    for name in names:
        for _, line in numbered_lines(name):
            yield line


def utf8(text: str, name: str) -> str:
    """A word of the command line, if it is UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not UTF-8") from None
    return text
