"""Documents from a file of JSON lines: ``{"id", "url", "title", "headings", "body", "language", "type", "date"}``.

Every field may be missing. A document without a URL is identified by its id, and one without either by a digest of its content, so
that the same document has the same identity, whichever file it comes from. The file may be compressed with gzip,
and ``-`` is the standard input. Lines are streamed, so the file may be of any size; a JSON array of documents in
place of lines is read into memory.
"""

from __future__ import annotations

import difflib
import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO, cast

import msgspec

from crivello.errors import InvalidArgument, StorageError
from crivello.index import Document
from crivello.index.day import UNKNOWN, day_of_date

GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHAPE = "a file has one JSON object a line, in UTF-8, or one JSON array of objects"
_MOST_NAMED = 5


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


class _Strict(_Line, forbid_unknown_fields=True):
    """A line with no other fields."""


class JsonLines:
    """The documents of a file; iterating reads it once. ``read`` is the number of bytes read so far."""

    def __init__(self, name: str) -> None:
        """Opens the file, so that an unreadable one fails before anything is created."""
        self.name = name
        self.read: int = 0
        self.size: int | None = Path(name).stat().st_size if name != "-" and Path(name).is_file() else None
        self._file = self._open()
        self._what = "line"
        self._unknown: Counter[str] = Counter()
        self._left_out: list[int] = []

    def __iter__(self) -> Iterator[Document]:
        with self._file as raw:
            try:
                for number, text in self._texts(self._lines(raw)):
                    document = document_in(text, f"{self.name}, {self._what} {number}", self._decoded)
                    if document is None:
                        self._left_out.append(number)
                    else:
                        yield document
            except (OSError, EOFError) as error:
                if isinstance(error, (gzip.BadGzipFile, EOFError)):
                    raise InvalidArgument(f"{self.name} is not whole: {error}") from None
                raise StorageError.of(error, Path(self.name)) from None

    def close(self) -> None:
        """Closes a file that is not to be read here."""
        self._file.close()

    def remarks(self) -> Iterator[str]:
        """Warnings for the author of the file, available after it was read: one sentence each."""
        if self._unknown:
            named = self._unknown.most_common(_MOST_NAMED)
            fields = ", ".join(f"{name} ({count:,}{_meant(name)})" for name, count in named)
            yield f"{self.name} has fields that are not indexed: {fields}{_more(len(self._unknown))}"
        if count := len(self._left_out):
            places = ", ".join(map(str, self._left_out[:_MOST_NAMED]))
            which = f"{self._what}{'s' if count > 1 else ''} {places}{_more(count)}"
            yield f"{self.name}: left out, without text, URL or id: {which}"

    def _open(self) -> IO[bytes]:
        if self.name == "-":
            return sys.stdin.buffer
        if Path(self.name).is_dir():
            raise InvalidArgument(f"{self.name} is a folder, and documents come from a file", hint=_SHAPE)
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

    def _texts(self, lines: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
        """The JSON of each document, and its line or element number."""
        first = next(lines, b"").removeprefix(_BYTE_ORDER_MARK)
        texts: Iterable[bytes] = chain([first], lines)
        if first.lstrip().startswith(b"["):
            self._what = "item"
            try:
                texts = map(bytes, msgspec.json.decode(b"".join(texts), type=list[msgspec.Raw]))
            except msgspec.DecodeError as error:
                raise InvalidArgument(
                    f"{self.name} is not a JSON array: {_said(error)}", hint=_SHAPE
                ) from None
        return ((number, text) for number, text in enumerate(texts, start=1) if text.strip())

    def _decoded(self, text: bytes) -> _Line:
        try:
            return _decode_strict(text)
        except msgspec.ValidationError:
            line = _decode(text)  # raises again, unless it was an unknown field
            self._unknown.update(msgspec.json.decode(text, type=dict[str, msgspec.Raw]).keys() - FIELDS)
            return line


FIELDS: tuple[str, ...] = _Line.__struct_fields__
_decode = msgspec.json.Decoder(_Line).decode
_decode_strict = msgspec.json.Decoder(_Strict).decode


def document_in(text: bytes, place: str, decode: Callable[[bytes], _Line] = _decode) -> Document | None:
    """The document of a JSON object, or None if it has neither text nor an identity; errors name the place."""
    try:
        return _document_of(decode(text))
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"{place}: {_said(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{place} is not JSON: {_said(error)}", hint=_SHAPE) from None
    except ValueError as error:
        raise InvalidArgument(f"{place}: {error}") from None


def _document_of(line: _Line) -> Document | None:
    day = UNKNOWN if line.date is None else day_of_date(line.date)
    identity = str(line.id)
    name = line.url or identity
    if not name:
        if not (line.body or line.title or line.headings or line.anchors):
            return None
        name = f"content:{blake2b(msgspec.json.encode(line), digest_size=8).hexdigest()}"
    return Document(
        name,
        line.title,
        line.body,
        line.language,
        _text(line.headings),
        _text(line.anchors),
        identity,
        line.type or "",
        day,
    )


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "\n".join(lines)


def _meant(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), FIELDS, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _more(count: int) -> str:
    return f" and {count - _MOST_NAMED:,} more" if count > _MOST_NAMED else ""


def _said(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]
