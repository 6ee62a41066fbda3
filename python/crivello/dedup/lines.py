"""Corpora of lines: plain text with a document a line, and JSON lines.

A line that stays is copied byte for byte. Lines of nothing but ASCII white space are blank: they are no documents, and are not
copied. Every pass must take the same lines for blank, as its verdicts are in the order of the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import IO, Any, ClassVar

import msgspec

from crivello.dedup.compressed import LineTooLong, blocks
from crivello.dedup.source import Batch, Id, Source, Text, Verdicts, readable
from crivello.dedup.units import Whole
from crivello.errors import InvalidArgument

_SHAPE = "a file has one JSON object a line, in UTF-8"
_TEXT_HINT = "--field names the field with the text"
_NULL = b"null"
_TEXTS = msgspec.json.Decoder(str)
# In JSON every backslash begins an escape; a pair of surrogates is two.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"{_HIGH}{_LOW}|(?P<half>{_HIGH}|{_LOW})|\\.", re.DOTALL)


class TextLines(Source):
    """Plain text with a document a line; its id is the number of the line."""

    form: ClassVar[str] = "text"
    is_text: ClassVar[bool] = True

    def batches(self, at: Any = None) -> Iterator[Batch]:
        for block, number, position, done in self._blocks(at):
            yield Batch(*self._documents(block, number), position, done)

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        for block, number, _, _ in self._blocks(None):
            lines = _lines(block)
            if isinstance(verdicts, Whole):
                stays = verdicts.take(len(lines))
                kept = lines if stays.all() else list(compress(lines, stays.tolist()))
            else:
                texts = self._documents(block, number)[1]
                kept = [
                    line if left is text else self._with(line, left)
                    for line, text, left in zip(lines, texts, verdicts.left(texts), strict=True)
                    if left is not None
                ]
            if kept:
                out.write(b"\n".join(kept) + b"\n")

    def _blocks(self, at: Any) -> Iterator[tuple[bytes, int, list[int], int]]:
        """Blocks of lines with the number of lines before, the position after, and the bytes of the file read."""
        start, number = at or (0, 0)
        try:
            for block, end, done in blocks(self.path, start, self.limit):
                before = number
                number += block.count(b"\n")
                yield block, before, [end, number], done
        except LineTooLong:
            raise self.too_long(number + 1) from None

    def _documents(self, block: bytes, number: int) -> tuple[list[Id], list[Text]]:
        """The ids and texts of the lines of a block."""
        lines = block.split(b"\n")
        places = [place for place, line in enumerate(lines) if line.strip()]
        texts: list[Text]
        try:
            decoded = block.decode().split("\n")
            texts = [decoded[place] for place in places]
        except UnicodeDecodeError:
            texts = [_decoded(lines[place]) for place in places]
        return [self.place(number + 1 + place) for place in places], texts

    def _with(self, line: bytes, text: Text) -> bytes:
        """A line with another text."""
        del line
        return text.encode() if isinstance(text, str) else text


class JsonLines(TextLines):
    """JSON lines: the text is in one field, and the id in another; else it is the URL, or the number of the line."""

    form: ClassVar[str] = "jsonl"

    def __init__(self, path: Path, name: str, limit: int, field: str, id: str) -> None:
        super().__init__(path, name, limit)
        self._field, self._id = field, id
        kinds: list[tuple[str, Any, Any]] = [("text", str | None | msgspec.UnsetType, msgspec.UNSET)]
        self._has_id, self._has_url = id != field, "url" not in (field, id)
        if self._has_id:
            kinds.append(("id", msgspec.Raw, msgspec.Raw(_NULL)))
        if self._has_url:
            kinds.append(("url", Any, None))  # nobody asked for it: only a text is taken
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
            msgspec.defstruct("Line", kinds, rename={"text": field, "id": id})
        )

    def _documents(self, block: bytes, number: int) -> tuple[list[Id], list[Text]]:
        ids: list[Id] = []
        texts: list[Text] = []
        decode = self._decoder.decode
        for place, line in enumerate(block.split(b"\n"), start=number + 1):
            if not line.strip():
                continue
            try:
                row = decode(line)
            except (ValueError, RecursionError) as error:
                row = self._forgiving(line, f"{self.name}, line {place}", error)
            if row.text is msgspec.UNSET:
                raise InvalidArgument(
                    f"{self.name}, line {place} has no field {self._field!r}",
                    hint=_TEXT_HINT + _texts_in(line),
                )
            texts.append(row.text or "")
            ids.append(self._name(row, place))
        return ids, texts

    def _forgiving(self, line: bytes, where: str, error: Exception) -> Any:
        """A line that is no strict JSON: halves of surrogate pairs and invalid UTF-8 are accepted, as Python's own reader does.

        A text or an id with them is not UTF-8; in other fields they are replaced.
        """
        if isinstance(error, msgspec.ValidationError):
            raise InvalidArgument(f"{where}: {_said(error)}", hint=_TEXT_HINT) from None
        if isinstance(error, RecursionError):
            raise InvalidArgument(f"{where} is nested too deeply to be read", hint=_SHAPE) from None
        try:
            told = json.loads(line.decode(errors="surrogateescape"))
            row = self._decoder.decode(_ESCAPE.sub(_whole, line.decode(errors="replace")))
        except msgspec.ValidationError as wrong:
            raise InvalidArgument(f"{where}: {_said(wrong)}", hint=_TEXT_HINT) from None
        except (ValueError, RecursionError):
            raise InvalidArgument(f"{where} is not JSON: {_said(error)}", hint=_SHAPE) from None
        if isinstance(text := told.get(self._field), str):
            row.text = text if readable(text) == text else text.encode(errors="surrogatepass")
        if self._has_id and isinstance(name := told.get(self._id), str):
            row.id = json.dumps(name).encode()
        return row

    def _name(self, row: Any, place: int) -> Id:
        if not self._has_id:
            return readable(row.text) if row.text else self._other_name(row, place)
        written = bytes(row.id)
        if written.startswith(b'"'):
            return self._text_id(written) or self._other_name(row, place)
        if written == _NULL:
            return self._other_name(row, place)
        if written[:1] in b"-0123456789":
            return msgspec.Raw(written)
        raise InvalidArgument(
            f"{self.name}, line {place}: the id is neither a text nor a number",
            hint="--id names the field with the id",
        )

    def _text_id(self, written: bytes) -> Id:
        try:
            return _TEXTS.decode(written)
        except msgspec.DecodeError:
            return msgspec.Raw(written)

    def _other_name(self, row: Any, place: int) -> str:
        url = row.url if self._has_url else None
        return url if url and isinstance(url, str) else self.place(place)

    def _with(self, line: bytes, text: Text) -> bytes:
        """A line with another text; the other fields stay as they are written."""
        try:
            fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeDecodeError):
            whole = _ESCAPE.sub(_whole, line.decode(errors="replace"))
            fields = msgspec.json.decode(whole, type=dict[str, msgspec.Raw])
        fields[self._field] = msgspec.Raw(msgspec.json.encode(readable(text)))
        return msgspec.json.encode(fields)


def _lines(block: bytes) -> list[bytes]:
    """The lines that are not blank."""
    lines = block.removesuffix(b"\n").split(b"\n")
    return lines if all(map(bytes.strip, lines)) else [line for line in lines if line.strip()]


def _decoded(line: bytes) -> Text:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line


def _texts_in(line: bytes) -> str:
    """The fields of a line that are texts."""
    told = json.loads(line.decode(errors="replace"))
    names = [name for name, value in told.items() if isinstance(value, str)]
    return f": {readable(', '.join(names))}" if names else ""


def _whole(escape: re.Match[str]) -> str:
    """An escape of JSON; for half of a surrogate pair that of the replacement character."""
    return "\\ufffd" if escape["half"] else escape[0]


def _said(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]
