"""Reading files for an import with many workers.

An import stores pages in the order of the files: which page is the original of a duplicate, and what a revisit refers to, depends on all
that came before. So pages are parsed and stored by one process, on all its cores, and what is divided is reading: a worker undoes the
compression of one file, checks the digests of its records, decodes JSON or Parquet, tells the URLs of a mirror's files, and leaves the
records or pages in a file that takes no time to read. What is stored is the same as without workers.

Some files are read by the importing process all the same: ARC files, indexes of captures (which name a few records of other files),
and archives with a record that is larger than ``crawl.max_bytes``.

A task may run twice, or be killed: it works in a folder of its own, which gets its name when it is complete. A few files more than there
are workers are read ahead, and removed when they are stored: that is the disk space it takes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from crivello._core import ArchiveReader, ArchiveRecord, Import
from crivello.archives.output import new_folder
from crivello.archives.pages import Page
from crivello.archives.sources import Cdxj, Source, Step, open_source
from crivello.errors import InvalidArgument, StorageError

_RECORDS, _PAGES = "records.warc", "pages"
_BYTES = 8 << 20
_STEP = 0.3
_LENGTH = 8
_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Read:
    """A task: a file to read; ``target`` is the folder to make."""

    name: str
    path: str
    identity: str
    limit: int
    base: str
    target: str


@dataclass(slots=True)
class Found:
    """What a worker found in a file: whether it left all of it, the number of damaged places, the first of them, and the offset
    of a compressed member with several records."""

    is_whole: bool = True
    damaged: int = 0
    damage: list[tuple[int, str]] = field(default_factory=list)
    shared_member: int | None = None


class _Batch(msgspec.Struct, array_like=True):
    as_text: bool
    pages: list[Page]


class _NotHere(Exception):
    """The file is better read by the importing process."""


def divides(source: Source) -> bool:
    """Whether a worker can read a file for the import."""
    return not isinstance(source, Cdxj)


def read(task: Read) -> Found:
    """Reads a file, and leaves its records or pages."""
    from crivello.archives.importing import identity_of

    path = Path(task.path)
    if not path.exists() or identity_of(path) != task.identity:
        raise InvalidArgument(
            f"{path} is missing or another file for a worker of the cluster",
            hint="all machines must see the same files under the same paths",
        )
    source = open_source(task.name, path, task.limit, task.base)
    assert isinstance(source, Source)
    found = Found()
    try:
        with (
            new_folder(Path(task.target)) as folder,
            (folder / _RECORDS).open("wb") as records,
            (folder / _PAGES).open("wb") as pages,
        ):
            for step in source.steps(cast("Import", _Recorder(records, pages)), None):
                found.damaged += len(step.damage)
                found.damage += step.damage[: _MOST_NAMED - len(found.damage)]
                if found.shared_member is None:
                    found.shared_member = step.shared_member
    except _NotHere:
        return Found(is_whole=False)
    return found


class _Recorder:
    """Takes what a source gives to an import, and writes it down."""

    def __init__(self, records: IO[bytes], pages: IO[bytes]) -> None:
        self._records, self._pages = records, pages

    def add(self, pages: list[Page], as_text: bool) -> None:
        if pages:
            batch = msgspec.msgpack.encode(_Batch(as_text, pages))
            self._pages.write(len(batch).to_bytes(_LENGTH, "little") + batch)

    def read(self, reader: ArchiveReader, seconds: float) -> tuple[list[tuple[int, str]], bool]:
        del seconds
        records, damage = reader.read(_BYTES)
        for record in records:
            self._records.write(_plain(record))
        return damage, not records

    def pick(self, path: Path, offsets: Sequence[int], limit: int) -> list[tuple[int, str]]:
        raise _NotHere(path, offsets, limit)


def _plain(record: ArchiveRecord) -> bytes:
    """A record without compression, as the reader understood it."""
    fields = record.fields
    told = {name.lower(): value for name, value in fields}
    block = record.block
    if "warc-type" not in told or told.get("content-length", "").strip() != str(len(block)):
        raise _NotHere(record.offset)
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return b"WARC/1.0\r\n" + head.encode(errors="replace") + b"\r\n" + block + b"\r\n\r\n"


class Prepared(Source):
    """What a worker left of a file."""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        place, inner = at or (0, None)
        if place == 0:
            records = ArchiveReader(
                self.path / _RECORDS, limit=self.limit, verify=False, position=tuple(inner or (0, 0))
            )
            ended = False
            while not ended:
                damage, ended = native.read(records, _STEP)
                yield Step([0, list(records.position)], *records.progress, damage)
            inner = None
        yield from self._add_pages(native, int(inner or 0))

    def _add_pages(self, native: Import, at: int) -> Iterator[Step]:
        path = self.path / _PAGES
        try:
            total = path.stat().st_size
            with path.open("rb") as file:
                file.seek(at)
                while length := file.read(_LENGTH):
                    batch = msgspec.msgpack.decode(file.read(int.from_bytes(length, "little")), type=_Batch)
                    native.add(batch.pages, batch.as_text)
                    yield Step([1, file.tell()], file.tell(), total)
        except OSError as error:
            raise StorageError.of(error, path) from None

    def remove(self) -> None:
        """Frees the space."""
        shutil.rmtree(self.path, ignore_errors=True)
