"""What a corpus is to the deduplication: documents in a fixed order, read in batches, and copied without some of them."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import msgspec

from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.dedup.inputs import Input

Text = str | bytes
# A number of JSON, and a text that is not UTF-8, as they are written there.
Id = str | int | msgspec.Raw
BATCH_BYTES = 8 << 20


class Batch(NamedTuple):
    """Documents with their ids, the position after them, and the number of bytes of the file that were read."""

    ids: list[Id]
    texts: list[Text]
    position: Any
    done: int


class Verdicts(Protocol):
    """What becomes of each document, asked for in the order of the documents."""

    def left(self, texts: Sequence[Text]) -> list[Text | None]:
        """What is left of the next documents: the same object, another text, or ``None``."""


class Source(ABC):
    """A file or folder of documents. Every pass gives the same documents in the same order.

    A text that is not UTF-8 is given as its bytes. ``limit`` is the size of the largest document.
    """

    form: ClassVar[str]
    """What the source is; sources of the same form can be copied into one file."""
    is_text: ClassVar[bool] = False
    """Whether a copy is compressed as its name says."""
    can_rewrite: ClassVar[bool] = True
    """Whether the text of a document can be replaced in a copy."""

    def __init__(self, path: Path, name: str, limit: int) -> None:
        self.path, self.name, self.limit = path, name, limit
        self.is_alone = True
        """Whether ids need not say which input a document is from."""
        self.input: Input | None = None
        """What it was opened from."""
        self.damage: dict[int, str] = {}
        """What any pass has left out because it is damaged, by offset."""

    @property
    def size(self) -> int:
        """The number of bytes of the file, for progress."""
        return self.path.stat().st_size

    def identity(self) -> list[Any]:
        """What changes when the corpus does: its path, size and time of change."""
        about = self.path.stat()
        return [os.fsencode(self.path.resolve()), about.st_size, about.st_mtime_ns]

    @abstractmethod
    def batches(self, at: Any = None) -> Iterator[Batch]:
        """The documents after a position (``None``: all)."""

    def prepare(self, first: Source, name: str) -> Source:
        """Prepares a copy into the file ``name``, of which ``first`` says how it is written; this source, if it is the first.

        Returns the one that says so for the next. Raises an error if the two cannot be in one file.
        """
        del name
        return first

    @abstractmethod
    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        """Writes what is left of the corpus, as it was prepared for."""

    def place(self, number: int) -> str:
        """The id of a document that has none: its number, after the name of its file if there are others."""
        return str(number) if self.is_alone else f"{self.name}:{number}"

    def too_long(self, number: int, what: str = "line") -> InvalidArgument:
        """The error about a document that does not fit into memory."""
        return InvalidArgument(
            f"{self.name}, {what} {number} is longer than {self.limit:,} bytes, which is the most for a document",
            hint="give more memory: a document may be as large as a twelfth of --memory, which is 1G if not given",
        )


def write_json_lines(source: Source, verdicts: Verdicts, out: IO[bytes]) -> None:
    """Writes what is left of any corpus as JSON lines of ids and texts."""
    encode = msgspec.json.Encoder().encode
    for batch in source.batches():
        lines = [
            encode({"id": readable(name) if isinstance(name, str) else name, "text": readable(text)})
            for name, text in zip(batch.ids, verdicts.left(batch.texts), strict=True)
            if text is not None
        ]
        out.write(b"".join(line + b"\n" for line in lines))


def comparable(text: Text) -> str:
    """A text for the engine: bytes that are not UTF-8, and halves of surrogate pairs, are spelled out, and so stay different."""
    if isinstance(text, bytes):
        return text.decode(errors="backslashreplace")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def readable(text: Text) -> str:
    """A text for people and for JSON: what is not UTF-8 is replaced."""
    if isinstance(text, bytes):
        return text.decode(errors="replace")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shown(name: Id) -> str:
    """An id for people, and as the beginning of another id."""
    if isinstance(name, msgspec.Raw):
        written = bytes(name).decode()
        return readable(json.loads(written)) if written.startswith('"') else written
    return str(name)
