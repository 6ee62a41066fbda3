"""The kinds of files that can be imported, recognised by their content, and how each is read.

A source imports itself step by step: after each step its position says from where to go on, and everything before it is
stored.
"""

from __future__ import annotations

import gzip
import mimetypes
import re
import shutil
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from crivello._core import ArchiveReader, Import, reading
from crivello._extras import optional
from crivello.archives import cdxj
from crivello.archives.pages import FROM_JSON, Batch, from_mapping, json_pages
from crivello.archives.trees import Tree, is_url
from crivello.errors import InvalidArgument, StorageError

_STEP = 0.3
_BATCH = 500
_BATCH_BYTES = 16 << 20
_PEEK = 1 << 16
_GZIP, _ZSTD, _ZIP, _PARQUET = b"\x1f\x8b", (b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"), b"PK\x03\x04", b"PAR1"
_ARCHIVE = (b"WARC/", b"filedesc://")
_ZIM = b"ZIM\x04"


@dataclass(slots=True)
class Step:
    """What a step came to: the position, the share that is done, the damage that was met, and the offset of a member
    with several records."""

    position: Any
    done: int
    total: int
    damage: list[tuple[int, str]] = field(default_factory=list)
    shared_member: int | None = None


class Source(ABC):
    """A file to import."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit

    @abstractmethod
    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        """Imports from a position (``None``: the start), step by step."""


class Archive(Source):
    """A WARC, WET or ARC file, or a part of a file that is one."""

    start: int = 0
    end: int | None = None

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        position = (at[0], at[1]) if at else (0, 0)
        reader = ArchiveReader(self.path, start=self.start, end=self.end, limit=self.limit, position=position)
        ended = False
        while not ended:
            damage, ended = native.read(reader, _STEP)
            yield Step(list(reader.position), *reader.progress, damage, reader.shared_member)


class Wacz(Source):
    """A WACZ file: a ZIP whose archive files are read where they lie."""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        number, inner = at or (0, None)
        with zipfile.ZipFile(self.path) as zipped:
            members = [member for member in zipped.infolist() if _is_archive_name(member.filename)]
            total = sum(member.file_size for member in members)
            for place, member in enumerate(members[number:], start=number):
                before = sum(member.file_size for member in members[:place])
                with _as_file(zipped, member, self.path) as (path, start):
                    part = Archive(path, self.limit)
                    part.start, part.end = start, start + member.file_size
                    for step in part.steps(native, inner):
                        yield Step(
                            [place, step.position], before + step.done, total, step.damage, step.shared_member
                        )
                inner = None


class Cdxj(Source):
    """An index of captures: only the records that it names, from the files beside it."""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        size = self.path.stat().st_size
        wanted: dict[str, list[int]] = {}
        with _opened(self.path) as lines:
            number = 0
            for number, text in enumerate(lines, start=1):
                if number > (at or 0) and text.strip() and not text.startswith(b"!"):
                    name, offset = cdxj.place(text, str(self.path), number)
                    wanted.setdefault(name, []).append(offset)
                if number % _BATCH == 0 and wanted:
                    yield Step(number, min(size, lines.tell()), size, self._pick(native, wanted))
            yield Step(number, size, size, self._pick(native, wanted))

    def _pick(self, native: Import, wanted: dict[str, list[int]]) -> list[tuple[int, str]]:
        damage = []
        for name, offsets in wanted.items():
            path = cdxj.find_file(name, self.path.resolve().parent)
            damage += native.pick(path, sorted(offsets), self.limit)
        wanted.clear()
        return damage


class Files(Source):
    """A folder that a mirroring program wrote."""

    base: str = ""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        tree = Tree(self.path, self.base)
        files = list(tree.files())
        done, batch = int(at or 0), Batch()
        for file in files[done:]:
            done += 1
            try:
                body = file.read_bytes()
                when = file.stat().st_mtime
            except OSError as error:
                raise StorageError.of(error, file) from None
            kind, packed = mimetypes.guess_type(file.name)
            known = kind if kind and not packed and reading(kind) != "unread" else None
            batch.add((tree.url(file, body), when, None, [], known, body))
            if batch.is_full:
                native.add(batch.take(), False)
                yield Step(done, done, len(files))
        native.add(batch.take(), False)
        yield Step(done, done, len(files))


class JsonLines(Source):
    """JSON lines of pages."""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        size, batch, texts = self.path.stat().st_size, Batch(), Batch()
        number = 0
        with _opened(self.path) as lines:
            for number, page, is_text in json_pages(lines, str(self.path), int(at or 0), self.path):
                (texts if is_text else batch).add(page)
                if batch.is_full or texts.is_full:
                    native.add(batch.take(), False)
                    native.add(texts.take(), True)
                    yield Step(number, min(size, lines.tell()), size)
        native.add(batch.take(), False)
        native.add(texts.take(), True)
        yield Step(number, size, size)


class Parquet(Source):
    """A Parquet file of pages, read by DuckDB."""

    def steps(self, native: Import, at: Any) -> Iterator[Step]:
        with optional():
            import duckdb

        done, batch, texts = int(at or 0), Batch(), Batch()
        with duckdb.connect() as database:
            try:
                found = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(self.path)])
                columns = ", ".join(
                    f'epoch("{name}") AS "{name}"' if kind.startswith("TIMESTAMP") else f'"{name}"'
                    for name, kind, *_ in found.fetchall()
                    if name.lower() in FROM_JSON
                )
                if not columns:
                    raise InvalidArgument(f"{self.path} is not a Parquet file of pages: it has no url")
                [total] = database.execute(
                    "SELECT count(*) FROM read_parquet(?)", [str(self.path)]
                ).fetchone() or (0,)
                rows = database.execute(
                    f"SELECT {columns} FROM read_parquet(?) OFFSET {done}", [str(self.path)]
                )
            except duckdb.Error as error:
                raise InvalidArgument(
                    f"{self.path} is not a Parquet file of pages: {_first(error)}"
                ) from None
            keys = [column[0].lower() for column in rows.description or ()]
            while some := rows.fetchmany(_BATCH):
                for row in some:
                    done += 1
                    page, is_text = from_mapping(
                        dict(zip(keys, row, strict=True)), f"{self.path}, row {done}", self.path
                    )
                    (texts if is_text else batch).add(page)
                native.add(batch.take(), False)
                native.add(texts.take(), True)
                yield Step(done, done, total)


def open_source(name: str, path: Path, limit: int, base: str) -> Source | list[str]:
    """The source of a file, by its content; a list of URLs is itself."""
    if path.is_dir():
        return _tree(path, limit, base)
    first = _first_bytes(path)
    if first.startswith(_ARCHIVE):
        return Archive(path, limit)
    if first.startswith(_PARQUET):
        return Parquet(path, limit)
    if first.startswith(_ZIP):
        if not zipfile.is_zipfile(path):
            raise InvalidArgument(f"{name} is a ZIP file that is not whole")
        with zipfile.ZipFile(path) as zipped:
            if any(_is_archive_name(member) for member in zipped.namelist()):
                return Wacz(path, limit)
        raise InvalidArgument(
            f"{name} is a ZIP file without WARC files", hint="unpack it, and import the folder"
        )
    if first.startswith(_ZIM):
        raise InvalidArgument(
            f"{name} is a ZIM file, which is not read", hint="extract it with zimdump, and import the folder"
        )
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    line = text.split(b"\n", 1)[0]
    if line.startswith(b"{"):
        return JsonLines(path, limit)
    if cdxj.LINE.fullmatch(line) or line.startswith(b"!meta "):
        return Cdxj(path, limit)
    if b"<urlset" in text or b"<sitemapindex" in text:
        with _opened(path) as file:
            return _locations(file.read())
    if is_url(line.decode(errors="replace").strip()):
        with _opened(path) as file:
            return [
                url
                for part in file
                if (url := part.decode(errors="replace").strip()) and not url.startswith("#")
            ]
    if re.match(rb"(?i)<!doctype html|<html|<!--", text):
        return _tree(path, limit, base)
    raise InvalidArgument(
        f"{name} is none of the files that can be imported",
        hint="WARC, ARC, WET, WACZ, CDXJ, a folder of HTML files, JSON lines, Parquet, a sitemap or a list of URLs",
    )


def spooled(stream: IO[bytes]) -> Path:
    """A copy of a stream on disk: archives are read with going back after damage."""
    with tempfile.NamedTemporaryFile(prefix="crivello-", delete=False) as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        return Path(copy.name)


def _tree(path: Path, limit: int, base: str) -> Files:
    tree = Files(path, limit)
    tree.base = base
    return tree


def _locations(text: bytes) -> list[str]:
    from html import unescape

    found = re.findall(rb"<(?:\w+:)?loc>\s*(.*?)\s*</(?:\w+:)?loc>", text, re.DOTALL)
    return [
        unescape(url.decode(errors="replace")).removeprefix("<![CDATA[").removesuffix("]]>").strip()
        for url in found
    ]


def _is_archive_name(name: str) -> bool:
    return bool(re.search(r"\.w?arc(\.gz|\.zst)?$", name))


def _first_bytes(path: Path) -> bytes:
    """The first bytes of a file, without its compression."""
    try:
        with path.open("rb") as file:
            raw = file.read(_PEEK)
    except OSError as error:
        raise StorageError.of(error, path) from None
    if raw.startswith(_GZIP):
        try:
            return zlib.decompressobj(31).decompress(raw, _PEEK)
        except zlib.error:
            # A damaged first member: the reader reports it.
            return b"WARC/"
    if raw.startswith(_ZSTD[0]) or raw[1:4] == _ZSTD[1]:
        return _first_of_zstandard(path)
    return raw


def _first_of_zstandard(path: Path) -> bytes:
    import zstandard

    reader = ArchiveReader(path, limit=1)
    records, _ = reader.read(1)
    if records:
        return b"WARC/"
    with path.open("rb") as file:
        try:
            return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read(_PEEK)
        except zstandard.ZstdError:
            return b""


def _opened(path: Path) -> IO[bytes]:
    """A file of lines, plain or gzip; its position is that of the compressed bytes."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
        return cast("IO[bytes]", gzip.open(path)) if is_packed else path.open("rb")
    except OSError as error:
        raise StorageError.of(error, path) from None


class _as_file:  # noqa: N801 - a context manager
    """A member of a ZIP as a part of a file: where it lies if it is stored as it is, else as a copy."""

    def __init__(self, zipped: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
        self._zipped, self._member, self._path = zipped, member, path
        self._copy: Path | None = None

    def __enter__(self) -> tuple[Path, int]:
        if self._member.compress_type == zipfile.ZIP_STORED:
            return self._path, self._start()
        with self._zipped.open(self._member) as packed:
            self._copy = spooled(packed)
        return self._copy, 0

    def __exit__(self, *exception: object) -> None:
        if self._copy:
            self._copy.unlink(missing_ok=True)

    def _start(self) -> int:
        """The first byte of a member: after its local header, of 30 bytes and two texts."""
        with self._path.open("rb") as file:
            file.seek(self._member.header_offset + 26)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
        return self._member.header_offset + 30 + name + extra


def _first(error: Exception) -> str:
    return str(error).splitlines()[0]
