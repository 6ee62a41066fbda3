"""Reads the decision log, ``log/decisions-*.jsonl``: one JSON object per line (``crates/core/src/crawl``).

The lines of a URL are found by a byte search in the memory-mapped files, at about 2 GB/s, without parsing the
other lines. Only committed data is read, even while a crawl is appending.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crivello._core import Layout
from crivello.errors import CorruptFile, StorageError

if TYPE_CHECKING:
    from crivello.collection import Collection

_COPY = 1 << 20

SEED = "seed"
TRIED_AGAIN = "tried again"
ROBOTS = "robots.txt"
GIVEN_UP = "host given up"
EXTENSION_FAILED = "extension failed"


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """One log entry about a URL; ``event`` is the text of an outcome, or one of the constants above."""

    time: float
    url: str
    event: str
    detail: str = ""
    status: int | None = None
    content_type: str | None = None
    depth: int | None = None
    attempt: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    address: str | None = None
    other: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The decision as logged."""
        return {
            name: value for name, value in msgspec.structs.asdict(self).items() if value not in (None, "")
        }


def decision_files(collection: Collection) -> list[tuple[Path, int]]:
    """The log files with their committed lengths, oldest first."""
    names = sorted(
        name for name, length in collection.files.items() if name.startswith(Layout.DECISIONS) and length
    )
    return [(collection.folder / name, collection.length(name)) for name in names]


def decisions_naming(collection: Collection, *urls: str) -> Iterator[Decision]:
    """The decisions about any of the URLs, or that mention one, in log order."""
    needles = [msgspec.json.encode(url) for url in urls]
    decode = msgspec.json.Decoder(Decision).decode
    for file, committed in decision_files(collection):
        with mapped(file, committed) as content:
            for start in sorted(set(_lines_with(content, needles))):
                line = content[start : content.find(b"\n", start)]
                try:
                    yield decode(line)
                except msgspec.DecodeError as error:
                    raise CorruptFile(f"{file} is damaged at byte {start}: {error}", file, start) from None


def decisions_since(collection: Collection, before: Mapping[str, int]) -> Iterator[Decision]:
    """The decisions that were committed since the log files had these lengths."""
    decode = msgspec.json.Decoder(Decision).decode
    for file, committed in decision_files(collection):
        start = before.get(str(file.relative_to(collection.folder)), 0)
        if start >= committed:
            continue
        with mapped(file, committed) as content:
            content.seek(start)
            while line := content.readline():
                try:
                    yield decode(line)
                except msgspec.DecodeError as error:
                    raise CorruptFile(f"{file} is damaged: {error}", file, content.tell()) from None


def _lines_with(content: mmap.mmap, needles: list[bytes]) -> Iterator[int]:
    """The offsets of the lines that contain one of the needles."""
    for needle in needles:
        place = content.find(needle)
        while place >= 0:
            yield content.rfind(b"\n", 0, place) + 1
            place = content.find(needle, place + len(needle))


@contextmanager
def mapped(file: Path, length: int) -> Iterator[mmap.mmap]:
    """Memory-maps the committed part of a file."""
    try:
        with file.open("rb") as source:
            content = mmap.mmap(source.fileno(), length, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise StorageError(f"{file} cannot be read: {error}", file) from None
    with content:
        yield content


@contextmanager
def committed_files(collection: Collection, newest: int) -> Iterator[list[str]]:
    """The newest ``newest`` log files, for tools that read complete files, such as DuckDB.

    The file being written may be longer than its committed length: then the committed part is copied.
    """
    with tempfile.TemporaryDirectory(prefix="crivello-log-") as temporary:
        yield [
            str(file if file.stat().st_size == length else _copy(file, length, Path(temporary)))
            for file, length in decision_files(collection)[-newest:]
        ]


def _copy(file: Path, length: int, folder: Path) -> Path:
    target = folder / file.name
    try:
        with file.open("rb") as source, target.open("wb") as out:
            while length and (part := source.read(min(_COPY, length))):
                out.write(part)
                length -= len(part)
    except OSError as error:
        raise StorageError.of(error, file) from None
    return target
