"""Corpora of lines: plain text with a document a line, and JSON lines.

A line that stays is copied byte for byte. Blank lines are no documents, and are not copied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import IO, Any, ClassVar, cast

import msgspec

from crivello.dedup.compressed import LineTooLong, blocks
from crivello.dedup.source import Batch, Id, Source, Text, Verdicts, readable
from crivello.dedup.units import Whole
from crivello.errors import InvalidArgument

_SHAPE = "a file has one JSON object a line, in UTF-8"


class TextLines(Source):
    """Plain text with a document a line; its id is the number of the line."""

    form: ClassVar[str] = "text"
    is_text: ClassVar[bool] = True

    def batches(self, at: Any = None) -> Iterator[Batch]:
        for block, number, position, done in self._blocks(at):
            yield Batch(*self._documents(block, number), position, done)

    def copy(self, verdicts: Verdicts, out: IO[bytes], *, is_first: bool) -> None:  # noqa: ARG002 - no header
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
        places = [place for place, line in enumerate(lines, start=number + 1) if line.strip()]
        texts: list[Text]
        try:
            texts = [line for line in block.decode().split("\n") if line.strip()]
        except UnicodeDecodeError:
            texts = [_decoded(line) for line in lines if line.strip()]
        return [self.place(place) for place in places], texts

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
        kinds: list[tuple[str, Any, Any]] = [
            ("text", str | None | msgspec.UnsetType, msgspec.UNSET),
            ("id", str | int | float | None, None),
        ]
        names = {"text": field, "id": id}
        if "url" not in (field, id):
            kinds.append(("url", Any, None))  # nobody asked for it: only a text is taken
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
            msgspec.defstruct("Line", kinds, rename=names)
        )
        self._has_url = len(kinds) > 2

    def _documents(self, block: bytes, number: int) -> tuple[list[Id], list[Text]]:
        try:
            rows = self._decoder.decode_lines(block)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._one_by_one(block, number)
        texts = [row.text for row in rows]
        if len(rows) != block.count(b"\n") + (not block.endswith(b"\n")) or not all(
            type(text) is str for text in texts
        ):
            return self._one_by_one(block, number)
        return [self._name(row, place) for place, row in enumerate(rows, start=number + 1)], texts

    def _one_by_one(self, block: bytes, number: int) -> tuple[list[Id], list[Text]]:
        """The same for lines of which some are blank, damaged or without a text."""
        ids: list[Id] = []
        texts: list[Text] = []
        for place, line in enumerate(block.split(b"\n"), start=number + 1):
            if line.strip():
                row = self._row(line, f"{self.name}, line {place}")
                ids.append(self._name(row, place))
                texts.append(row.text or "")
        return ids, texts

    def _row(self, line: bytes, where: str) -> Any:
        try:
            row = self._decoder.decode(line)
        except msgspec.ValidationError as error:
            is_id = str(error).endswith(f"`$.{self._id}`")
            hint = "--id names the field with the id" if is_id else "--field names the field with the text"
            raise InvalidArgument(f"{where}: {_said(error)}", hint=hint) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            row = self._forgiving(line, where, error)
        if row.text is msgspec.UNSET:
            raise InvalidArgument(
                f"{where} has no field {self._field!r}", hint="--field names the field with the text"
            )
        return row

    def _forgiving(self, line: bytes, where: str, error: Exception) -> Any:
        """Python's own reader accepts halves of surrogate pairs; they and invalid UTF-8 are replaced."""
        try:
            told = json.loads(line.decode(errors="replace"))
            clean = json.dumps(told).encode("ascii")
            replaced = json.dumps(_without_surrogates(told)).encode() if b"\\ud" in clean else clean
            return self._decoder.decode(replaced)
        except (ValueError, RecursionError):
            raise InvalidArgument(f"{where} is not JSON: {_said(error)}", hint=_SHAPE) from None

    def _name(self, row: Any, place: int) -> Id:
        if row.id is not None and row.id != "":
            return cast(Id, row.id)
        url = row.url if self._has_url else None
        return url if url and isinstance(url, str) else self.place(place)

    def _with(self, line: bytes, text: Text) -> bytes:
        """A line with another text; the other fields stay as they are written."""
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
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


def _without_surrogates(told: Any) -> Any:
    match told:
        case str():
            return told.encode(errors="surrogatepass").decode(errors="replace")
        case list():
            return [_without_surrogates(one) for one in told]
        case dict():
            return {_without_surrogates(name): _without_surrogates(value) for name, value in told.items()}
        case _:
            return told


def _said(error: Exception) -> str:
    text = str(error).removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]
