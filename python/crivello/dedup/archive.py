"""Corpora of pages: WARC, WET and ARC files, and collections. The text of a page is what the parser finds in it.

Records are copied as they lie in the file, with those that are no pages (descriptions, requests, images), and compressed as the
name of the copy says, each by itself. Damaged bytes are left out, and noted by their offset; a file of which no record can be
read is refused.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from crivello._core import ArchiveReader, ArchiveRecord, Layout, archive_texts
from crivello.dedup.compressed import head, writing
from crivello.dedup.source import BATCH_BYTES, Batch, Source, Text, Verdicts
from crivello.dedup.units import Whole, as_whole
from crivello.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    from crivello._core import Row

_PAGES = 256
_PLAIN, _GZIP, _ZSTANDARD = "plain", "gzip", "zstd"
# Of files whose own version is not seen, because they begin with a dictionary; 1.1 allows what 1.0 does.
_VERSION = b"WARC/1.1"


class Archive(Source):
    """A WARC, WET or ARC file: plain, gzip or Zstandard."""

    form: ClassVar[str] = "warc"
    can_rewrite: ClassVar[bool] = False

    def __init__(self, path: Path, name: str, limit: int) -> None:
        super().__init__(path, name, limit)
        self._out, self._is_first = "", True

    def batches(self, at: Any = None) -> Iterator[Batch]:
        reader = self._reader(at)
        has_records = at is not None
        while records := self._records(reader)[0]:
            has_records = True
            found = zip(records, archive_texts(records, self.limit), strict=True)
            pages = [(record.url, text) for record, text in found if text is not None]
            texts: list[Text] = [text for _, text in pages]
            yield Batch([url for url, _ in pages], texts, list(reader.position), reader.progress[0])
        if self.damage and not has_records:
            offset, reason = next(iter(self.damage.items()))
            raise InvalidArgument(
                f"{self.name} is not a WARC or ARC file that can be read: {reason}, at offset {offset:,}",
                hint="--format says what the input is; without it its content does",
            )

    def prepare(self, first: Source, name: str) -> Source:
        self._out, self._is_first = name, first is self
        return first

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        reader = self._reader(None)
        packing, wanted = reader.compression, _packing(self._out)
        # A Zstandard archive may begin with a dictionary of its own, which only the first in a file can have.
        is_packed_so = packing == wanted and (packing != _ZSTANDARD or self._is_first)
        first = head(self.path)[: len(_VERSION)]
        version = first if first.startswith(b"WARC/") else _VERSION
        # What is not WARC is not written again.
        is_divided = wanted != _PLAIN and version == first
        try:
            with self.path.open("rb") as file:
                for member, start, end, damaged in self._members(reader, as_whole(verdicts)):
                    is_whole = not damaged and all(stays for _, stays in member)
                    if not is_whole or (is_divided and len(member) > 1):
                        self._copy_records([record for record, stays in member if stays], version, out)
                    elif is_packed_so:
                        _copy(file, start, end, out)
                    elif packing == _ZSTANDARD:
                        self._copy_records([record for record, _ in member], version, out)
                    else:
                        copy = _copy if packing == _PLAIN else _copy_unpacked
                        with writing(out, self._out) as packed:
                            copy(file, start, end, packed)
        except OSError as error:
            raise StorageError.of(error, self.path) from None

    def _reader(self, at: Any) -> ArchiveReader:
        position = (at[0], at[1]) if at else (0, 0)
        return ArchiveReader(self.path, limit=self.limit, verify=False, position=position)

    def _records(self, reader: ArchiveReader) -> tuple[list[ArchiveRecord], list[tuple[int, str]]]:
        """The next records; damage before the one after them is noted."""
        records, damage = reader.read(BATCH_BYTES)
        self.damage.update(damage)
        return records, damage

    def _members(
        self, reader: ArchiveReader, verdicts: Whole
    ) -> Iterator[tuple[list[tuple[ArchiveRecord, bool]], int, int, bool]]:
        """Members of the file in order: their records with whether each stays, their bytes, and whether there is damage.

        The first one also has the bytes before it, which are a dictionary.
        """
        member: list[tuple[ArchiveRecord, bool]] = []
        start, offset, damaged = 0, 0, False
        while True:
            records, damage = self._records(reader)
            if not records:
                break
            texts = archive_texts(records, self.limit)
            pages = iter(verdicts.take(sum(text is not None for text in texts)).tolist())
            harmed = sorted(place for place, _ in damage)
            for record, text in zip(records, texts, strict=True):
                if member and record.offset != offset:
                    inside = any(start <= place < record.offset for place in harmed)
                    yield member, start, record.offset, damaged or inside
                    member, start, damaged = [], record.offset, False
                offset = record.offset
                member.append((record, text is None or next(pages)))
            damaged = any(place >= start for place in harmed)
        if member:
            yield member, start, reader.progress[1], damaged

    def _copy_records(self, records: list[ArchiveRecord], version: bytes, out: IO[bytes]) -> None:
        """Records, written again; each is compressed by itself."""
        for record in records:
            fields = "".join(f"{name}: {value}\r\n" for name, value in record.fields)
            with writing(out, self._out) as packed:
                packed.write(version + b"\r\n" + fields.encode() + b"\r\n" + record.block + b"\r\n\r\n")


class Pages(Source):
    """The pages of a collection with a text, in their newest versions."""

    form: ClassVar[str] = "warc"
    can_rewrite: ClassVar[bool] = False

    def __init__(self, path: Path, name: str, limit: int) -> None:
        super().__init__(path, name, limit)
        from crivello.collection import Collection

        self._collection = Collection(path)
        self._out = ""

    @property
    def size(self) -> int:
        return len(self._collection)

    def identity(self) -> list[Any]:
        """The manifest is replaced by every commit."""
        about = (self.path / Layout.MANIFEST).stat()
        return [os.fsencode(self.path.resolve()), about.st_size, about.st_mtime_ns]

    def batches(self, at: Any = None) -> Iterator[Batch]:
        number = int(at or 0)
        rows = islice(enumerate(self._collection.pages(), start=1), number, None)
        with ThreadPoolExecutor() as threads:
            while some := [(place, row) for place, row in islice(rows, _PAGES)]:
                pages = [row for _, row in some if _is_stored(row)]
                texts: list[Text] = list(threads.map(self._collection.text, pages))
                number = some[-1][0]
                yield Batch([row.url for row in pages], texts, number, number)

    def prepare(self, first: Source, name: str) -> Source:
        self._out = name
        return first

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        is_packed_so = _packing(self._out) == _GZIP
        rows: Iterator[Row] = (row for row in self._collection.pages() if _is_stored(row))
        while some := list(islice(rows, _PAGES)):
            stays = as_whole(verdicts).take(len(some)).tolist()
            kept = [row for row, stay in zip(some, stays, strict=True) if stay]
            for record in self._collection.captures(kept):
                if is_packed_so:
                    out.write(record.member)
                    continue
                with writing(out, self._out) as packed:
                    packed.write(gzip.decompress(record.member))


def _packing(name: str) -> str:
    """How an archive of this name is compressed."""
    return _GZIP if name.endswith(".gz") else _ZSTANDARD if name.endswith(".zst") else _PLAIN


def _is_stored(row: Row) -> bool:
    """Whether there is a text: a duplicate that the crawl dropped has a digest and nothing in the archive."""
    return row.digest is not None and row.length > 0


def _copy(file: IO[bytes], start: int, end: int, out: IO[bytes]) -> None:
    file.seek(start)
    while start < end and (chunk := file.read(min(end - start, 1 << 20))):
        out.write(chunk)
        start += len(chunk)


def _copy_unpacked(file: IO[bytes], start: int, end: int, out: IO[bytes]) -> None:
    """Copies a part of a file that is gzip as plain bytes."""
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(_Part(file, start, end))) as content:
            shutil.copyfileobj(content, out, 1 << 20)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidArgument(f"{file.name} is damaged at byte {start}: {error}") from None


class _Part(io.RawIOBase):
    """Some bytes of a file."""

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self._file, self._left = file, end - start
        file.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._file.read(min(len(buffer), self._left))
        buffer[: len(found)] = found
        self._left -= len(found)
        return len(found)
