"""Corpora of pages: WARC, WET and ARC files, and collections. The text of a page is what the parser finds in it.

Records are copied as they lie in the file, with those that are no pages (descriptions, requests, images); damaged bytes are
left out.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from crivello._core import ArchiveReader, ArchiveRecord, Layout, archive_texts
from crivello.dedup.source import BATCH_BYTES, Batch, Source, Text, Verdicts
from crivello.dedup.units import Whole, as_whole
from crivello.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    from crivello._core import Row

_PAGES = 256
_ZSTANDARD = "zstd"


class Archive(Source):
    """A WARC, WET or ARC file: plain, gzip or Zstandard."""

    form: ClassVar[str] = "warc"
    can_rewrite: ClassVar[bool] = False

    def batches(self, at: Any = None) -> Iterator[Batch]:
        reader = self._reader(at)
        while records := reader.read(BATCH_BYTES)[0]:
            found = zip(records, archive_texts(records, self.limit), strict=True)
            pages = [(record.url, text) for record, text in found if text is not None]
            texts: list[Text] = [text for _, text in pages]
            yield Batch([url for url, _ in pages], texts, list(reader.position), reader.progress[0])

    def copy(self, verdicts: Verdicts, out: IO[bytes], *, is_first: bool) -> None:
        reader = self._reader(None)
        if not is_first and reader.compression == _ZSTANDARD:
            raise InvalidArgument(
                "several Zstandard archives are not written into one: each has a dictionary of its own",
                hint="let --out be a folder: --out clean/",
            )
        try:
            with self.path.open("rb") as file:
                for member, start, end, damaged in self._members(reader, as_whole(verdicts)):
                    if not damaged and all(stays for _, stays in member):
                        _copy(file, start, end, out)
                    else:
                        self._copy_some(
                            [record for record, stays in member if stays], reader.compression, out
                        )
        except OSError as error:
            raise StorageError.of(error, self.path) from None

    def _reader(self, at: Any) -> ArchiveReader:
        position = (at[0], at[1]) if at else (0, 0)
        return ArchiveReader(self.path, limit=self.limit, verify=False, position=position)

    def _members(
        self, reader: ArchiveReader, verdicts: Whole
    ) -> Iterator[tuple[list[tuple[ArchiveRecord, bool]], int, int, bool]]:
        """Members of the file in order: their records with whether each stays, their bytes, and whether there is damage.

        The first one also has the bytes before it, which are a dictionary.
        """
        member: list[tuple[ArchiveRecord, bool]] = []
        start, offset, damaged = 0, 0, False
        while True:
            records, damage = reader.read(BATCH_BYTES)
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

    def _copy_some(self, records: list[ArchiveRecord], compression: str, out: IO[bytes]) -> None:
        """Some records of a member, or those beside damage: written again, each as a member of its own."""
        for record in records:
            fields = "".join(f"{name}: {value}\r\n" for name, value in record.fields)
            block = record.block
            whole = b"WARC/1.0\r\n" + fields.encode() + b"\r\n" + block + b"\r\n\r\n"
            if compression == _ZSTANDARD:
                import zstandard

                whole = zstandard.ZstdCompressor(write_checksum=True).compress(whole)
            out.write(gzip.compress(whole, 6, mtime=0) if compression == "gzip" else whole)


class Pages(Source):
    """The pages of a collection with a text, in their newest versions."""

    form: ClassVar[str] = "warc"
    can_rewrite: ClassVar[bool] = False

    def __init__(self, path: Path, name: str, limit: int) -> None:
        super().__init__(path, name, limit)
        from crivello.collection import Collection

        self._collection = Collection(path)

    @property
    def size(self) -> int:
        return len(self._collection)

    def identity(self) -> list[Any]:
        """The manifest is replaced by every commit."""
        about = (self.path / Layout.MANIFEST).stat()
        return [str(self.path.resolve()), about.st_size, about.st_mtime_ns]

    def batches(self, at: Any = None) -> Iterator[Batch]:
        number = int(at or 0)
        rows = islice(enumerate(self._collection.pages(), start=1), number, None)
        with ThreadPoolExecutor() as threads:
            while some := [(place, row) for place, row in islice(rows, _PAGES)]:
                pages = [row for _, row in some if row.digest is not None]
                texts: list[Text] = list(threads.map(self._collection.text, pages))
                number = some[-1][0]
                yield Batch([row.url for row in pages], texts, number, number)

    def copy(self, verdicts: Verdicts, out: IO[bytes], *, is_first: bool) -> None:  # noqa: ARG002 - no header
        rows: Iterator[Row] = (row for row in self._collection.pages() if row.digest is not None)
        while some := list(islice(rows, _PAGES)):
            stays = as_whole(verdicts).take(len(some)).tolist()
            kept = [row for row, stay in zip(some, stays, strict=True) if stay]
            for record in self._collection.captures(kept):
                out.write(record.member)


def _copy(file: IO[bytes], start: int, end: int, out: IO[bytes]) -> None:
    file.seek(start)
    while start < end and (chunk := file.read(min(end - start, 1 << 20))):
        out.write(chunk)
        start += len(chunk)
