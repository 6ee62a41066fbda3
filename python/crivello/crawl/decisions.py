"""Reads the decision log, ``log/decisions-*.jsonl``: one JSON object per line (``crates/core/src/crawl``).

The lines of a URL are found by a byte search in the memory-mapped files, at about 2 GB/s, without parsing the
other lines. Only committed data is read, even while a crawl is appending.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crivello._core import Layout
from crivello.errors import CorruptFile, StorageError

if TYPE_CHECKING:
    from crivello.collection import Collection

_CHUNK = 4 << 20

SEED = "seed"
TRIED_AGAIN = "tried again"
ROBOTS = "robots.txt"
GIVEN_UP = "host given up"
EXTENSION_FAILED = "extension failed"
HANDED_OVER = "handed over"
STEERED = "steered"
DECLARED = "declared"


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


class BriefDecision(msgspec.Struct, frozen=True, gc=False):
    """What counting needs of a decision."""

    url: str
    event: str
    seconds: float | None = None


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


def appended(collection: Collection, decisions: Sequence[Decision]) -> dict[str, int | None]:
    """Appends decisions to the log, durably, while no crawl is writing it; returns the file with the length to
    commit."""
    if not decisions:
        return {}
    files = decision_files(collection)
    file, length = files[-1] if files else (collection.folder / f"{Layout.DECISIONS}00000.jsonl", 0)
    lines = b"".join(msgspec.json.encode(decision) + b"\n" for decision in decisions)
    try:
        with file.open("ab") as out:
            out.truncate(length)
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise StorageError.of(error, file) from None
    return {str(file.relative_to(collection.folder)): length + len(lines)}


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


def newest_decisions(collection: Collection, newest: int) -> Iterator[BriefDecision]:
    """The decisions of the newest ``newest`` log files, about two million a second."""
    decode = msgspec.json.Decoder(BriefDecision).decode_lines
    for file, committed in decision_files(collection)[-newest:]:
        with mapped(file, committed) as content:
            start = 0
            while start < committed:
                end = committed
                if start + _CHUNK < committed:
                    end = (
                        content.rfind(b"\n", start, start + _CHUNK) + 1
                        or content.find(b"\n", start) + 1
                        or end
                    )
                try:
                    yield from decode(content[start:end])
                except msgspec.DecodeError as error:
                    raise CorruptFile(f"{file} is damaged: {error}", file, start) from None
                start = end
