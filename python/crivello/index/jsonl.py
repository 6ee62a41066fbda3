"""Documents from a file of JSON lines: ``{"id", "url", "title", "headings", "body", "language", "type", "date"}``.

Every field may be missing; a document without a URL is known by its id, and one without either by its line. The file may be compressed by gzip, and ``-`` is the standard input. Lines are read one after the other, so the file
may be of any size.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from crivello.errors import InvalidArgument, StorageError
from crivello.index import Document
from crivello.index.day import UNKNOWN, day_of_date

GZIP = b"\x1f\x8b"


class _Line(msgspec.Struct):
    body: str = ""
    title: str = ""
    url: str = ""
    id: str | int = ""
    headings: str | list[str] = ""
    anchors: str | list[str] = ""
    language: str | None = None
    type: str | None = None
    date: str | int | float | None = None


class JsonLines:
    """The documents of a file; iterating reads it once. ``read`` is how many bytes of it were read so far."""

    def __init__(self, name: str) -> None:
        """Opens the file, so that one that cannot be read is known before anything is made of it."""
        self.name = name
        self.read: int = 0
        self.size: int | None = Path(name).stat().st_size if name != "-" and Path(name).is_file() else None
        self._file = self._open()

    def __iter__(self) -> Iterator[Document]:
        decode = msgspec.json.Decoder(_Line).decode
        with self._file as raw:
            try:
                lines = self._lines(raw)
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        yield _document(decode, line, self.name, number)
            except (OSError, EOFError) as error:
                if isinstance(error, (gzip.BadGzipFile, EOFError)):
                    raise InvalidArgument(f"{self.name} is not whole: {error}") from None
                raise StorageError.of(error, Path(self.name)) from None

    def _open(self) -> IO[bytes]:
        if self.name == "-":
            return sys.stdin.buffer
        try:
            return open(self.name, "rb")  # noqa: PTH123 - a name, and the caller closes it
        except OSError as error:
            raise StorageError.of(error, Path(self.name)) from None

    def _lines(self, raw: IO[bytes]) -> Iterator[bytes]:
        packed = raw.peek(2)[:2] == GZIP if hasattr(raw, "peek") else False
        lines = gzip.GzipFile(fileobj=raw) if packed else raw
        for line in cast("Iterator[bytes]", lines):
            self.read = raw.tell() if packed and self.size else self.read + len(line)
            yield line


def _document(decode: Callable[[bytes], _Line], line: bytes, name: str, number: int) -> Document:
    try:
        read = decode(line)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"{name}, line {number}: {_said(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{name}, line {number} is not JSON: {_said(error)}") from None
    try:
        day = UNKNOWN if read.date is None else day_of_date(read.date)
    except ValueError as error:
        raise InvalidArgument(f"{name}, line {number}: {error}") from None
    identity = str(read.id)
    return Document(
        read.url or identity or f"line:{number}",
        read.title,
        read.body,
        read.language,
        _text(read.headings),
        _text(read.anchors),
        identity,
        read.type or "",
        day,
    )


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "\n".join(lines)


def _said(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]
