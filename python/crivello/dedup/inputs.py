"""Which corpus an input is: by the format that is asked for, or by its content."""

from __future__ import annotations

import glob
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from crivello._core import Layout
from crivello.dedup.arguments import chosen
from crivello.dedup.compressed import MARK, SKIPPABLE, head
from crivello.dedup.source import Source
from crivello.errors import InvalidArgument, StorageError

STANDARD_INPUT = "-"
_SPOOL_BYTES = 1 << 20


class Format(StrEnum):
    """What an input is."""

    AUTO = "auto"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"
    LINES = "lines"
    FILES = "files"
    WARC = "warc"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Input:
    """One input, and how it is read: all that another process needs to open it."""

    path: Path
    name: str
    format: Format
    field: str
    id: str
    limit: int
    is_alone: bool

    def open(self) -> Source:
        """The documents."""
        source = _opened(self.path, self.name, self.format, self.field, self.id, self.limit)
        source.is_alone, source.input = self.is_alone, self
        return source


def open_inputs(
    names: Sequence[str | Path], *, format: str, field: str, id: str, limit: int, spool: Path
) -> list[Source]:
    """The sources that names and patterns stand for; streams are copied into the folder ``spool``, as every input is read more
    than once."""
    form = chosen(Format, format, "format")
    paths = [found for name in names for found in _expanded(str(name))]
    for number, (_, name) in enumerate(paths):
        if is_read_once(name):
            paths[number] = _spooled(name, spool), "standard input" if name == STANDARD_INPUT else name
    is_alone = len(paths) == 1
    return [Input(path, name, form, field, id, limit, is_alone).open() for path, name in paths]


def is_read_once(name: str) -> bool:
    """Whether an input can be read only once: standard input, a pipe, a device."""
    path = Path(name)
    return name == STANDARD_INPUT or (path.exists() and not path.is_file() and not path.is_dir())


def _expanded(name: str) -> list[tuple[Path, str]]:
    if name == STANDARD_INPUT or Path(name).exists():
        return [(Path(name), name)]
    if found := sorted(glob.glob(name, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
        return [(Path(one), one) for one in found]
    raise InvalidArgument(f"there is no file {name}", hint="check the name, or the pattern")


def _spooled(name: str, spool: Path) -> Path:
    """A copy of a stream."""
    before = len(list(spool.iterdir()))
    copy = spool / (f"input-{before + 1}" if before else "input")
    try:
        with _streaming(name) as stream:
            try:
                with copy.open("wb") as out:
                    shutil.copyfileobj(stream, out, _SPOOL_BYTES)
            except OSError as error:
                raise StorageError.of(error, copy) from None
    except OSError as error:
        raise StorageError.of(error, name) from None
    return copy


@contextmanager
def _streaming(name: str) -> Iterator[IO[bytes]]:
    if name != STANDARD_INPUT:
        with Path(name).open("rb") as stream:
            yield stream
    elif sys.stdin is None:
        raise InvalidArgument("standard input is closed", hint="give it a file or a pipe, or name files")
    else:
        yield sys.stdin.buffer


def _opened(path: Path, name: str, format: Format, field: str, id: str, limit: int) -> Source:
    match _recognised(path, name) if format is Format.AUTO else format:
        case Format.COLLECTION:
            from crivello.dedup.archive import Pages

            return Pages(path, name, limit)
        case Format.FILES:
            from crivello.dedup.folder import Folder

            return Folder(path, name, limit)
        case Format.WARC:
            from crivello.dedup.archive import Archive

            return Archive(path, name, limit)
        case Format.PARQUET:
            from crivello.dedup.rows import Parquet

            return Parquet(path, name, limit, field, id)
        case Format.CSV:
            from crivello.dedup.rows import Csv

            return Csv(path, name, limit, field, id)
        case Format.JSONL:
            from crivello.dedup.lines import JsonLines

            return JsonLines(path, name, limit, field, id)
        case _:
            from crivello.dedup.lines import TextLines

            return TextLines(path, name, limit)


def _recognised(path: Path, name: str) -> Format:
    if path.is_dir():
        return Format.COLLECTION if (path / Layout.MANIFEST).exists() else Format.FILES
    try:
        with path.open("rb") as file:
            raw = file.read(4)
    except OSError as error:
        raise StorageError.of(error, path) from None
    first = head(path).removeprefix(MARK)
    # A Zstandard archive begins with its dictionary.
    if first.startswith((b"WARC/", b"filedesc://")) or raw[1:4] == SKIPPABLE:
        return Format.WARC
    if first.startswith(b"PAR1"):
        return Format.PARQUET
    if first.lstrip().startswith(b"{"):
        return Format.JSONL
    if b"\0" in first:
        raise InvalidArgument(
            f"{name} is a binary file of no known format",
            hint="JSON lines, Parquet, CSV, text, WARC, WET, a folder or a collection; --format says which",
        )
    endings = {ending for ending in Path(name).suffixes if ending not in (".gz", ".zst")}
    return Format.CSV if endings & {".csv", ".tsv"} else Format.LINES
