"""Exports a collection: its records as WARC, WACZ and an index of captures, its pages as JSON lines and Parquet,
its index as CIFF.

Everything streams: memory is a batch of pages, and files appear whole under their names.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from crivello import _core
from crivello._core import ArchivedRecord, Layout, Row
from crivello._extras import optional
from crivello._figures import Figures
from crivello.archives import cdxj
from crivello.archives.output import SortedLines, new_file
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.collection import Collection

FORMATS: dict[str, str] = {
    "warc": "the records of the pages as received: .warc.gz, or .warc.zst with a dictionary",
    "wacz": "a WACZ file: the records, their index and a list of pages, for ReplayWeb.page and others",
    "cdxj": "an index of the captures in the collection's own archive, as pywb reads it",
    "jsonl": "JSON lines: URL, date, status, headers, title, language, text and HTML of each page",
    "parquet": "the same columns as a Parquet file",
    "ciff": "the index in the Common Index File Format",
}
_ENDINGS = {
    ".warc.gz": "warc",
    ".warc.zst": "warc",
    ".wacz": "wacz",
    ".cdxj": "cdxj",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".parquet": "parquet",
    ".ciff": "ciff",
}
Progress = Callable[[float, int], object]
"""Called with the fraction that is done, and the number of rows."""

_BATCH = 200
_DICTIONARY_BYTES = 112_640
_SAMPLES = 1000
_ZSTD_LEVEL = 10
_DICTIONARY_FRAME = b"\x5d\x2a\x4d\x18"
_COLUMNS = {
    "url": "VARCHAR",
    "date": "TIMESTAMPTZ",
    "status": "SMALLINT",
    "content_type": "VARCHAR",
    "language": "VARCHAR",
    "title": "VARCHAR",
    "text": "VARCHAR",
    "html": "VARCHAR",
    "headers": "MAP(VARCHAR, VARCHAR)",
    "digest": "VARCHAR",
    "redirect": "VARCHAR",
    "duplicate_of": "VARCHAR",
    "near_duplicate_of": "VARCHAR",
    "near_bits": "TINYINT",
}


@dataclass(frozen=True, slots=True, repr=False)
class Exported(Figures):
    """What an export wrote."""

    file: str
    format: str
    records: int
    bytes: int
    seconds: float

    def _headline(self) -> str:
        return f"{self.records:,} records, {self.bytes:,} bytes, into {self.file}"

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "file", self.file
        yield "format", self.format
        yield "records", f"{self.records:,}"
        yield "bytes", f"{self.bytes:,}"
        yield "seconds", f"{self.seconds:,.1f}"

    def to_dict(self) -> dict[str, Any]:
        """The format of ``crivello export --json``."""
        return {
            "file": self.file,
            "format": self.format,
            "records": self.records,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which rows are exported."""

    collection: Collection
    site: str = ""
    since: float = 0.0
    all_versions: bool = False
    on_progress: Progress | None = None

    def rows(self) -> Iterator[Row]:
        """The rows, in the order in which they were stored: what a revisit refers to comes before it."""
        total, count = self.collection.length(Layout.ROWS), 0
        for rows, end in self.collection.table.batches(newest=not self.all_versions):
            for row in rows:
                if row.fetched_at >= self.since and self._is_of_site(row.url):
                    yield row
                    count += 1
            if self.on_progress:
                self.on_progress(end / total, count)

    def _is_of_site(self, url: str) -> bool:
        if not self.site:
            return True
        host = urlsplit(url).netloc
        return (
            host == self.site
            or host.split(":")[0] == self.site
            or host.split(":")[0].endswith(f".{self.site}")
        )

    def records(self) -> Iterator[ArchivedRecord]:
        """The records of the rows."""
        rows = iter(self.rows())
        while batch := list(islice(rows, _BATCH)):
            yield from self.collection.captures(batch, of_visits=self.all_versions)


def export(
    collection: Collection,
    out: str | Path = "",
    *,
    format: str = "",
    site: str = "",
    since: float = 0.0,
    versions: str = "newest",
    compression: str = "",
    on_progress: Progress | None = None,
) -> Exported:
    """Exports a collection; see ``Collection.export``."""
    format, compression = _form(str(out), format, compression)
    name = str(out) or f"{collection.name}{_ending(format, compression)}"
    if versions not in ("all", "newest"):
        raise InvalidArgument(f"{versions!r} are no versions", hint="say all or newest")
    if name == "-" and format in ("wacz", "parquet", "ciff"):
        raise InvalidArgument(f"a {format} file is not written to standard output", hint="name it with --out")
    started = time.monotonic()
    path = None if name == "-" else Path(name)
    chosen = Chosen(collection, site, since, versions == "all", on_progress)
    records = _WRITERS[format](chosen, path, compression)
    size = path.stat().st_size if path else 0
    return Exported(name, format, records, size, time.monotonic() - started)


def _form(out: str, format: str, compression: str) -> tuple[str, str]:
    told = next((form for ending, form in _ENDINGS.items() if out.endswith(ending)), "")
    form = format or told or "warc"
    if form not in FORMATS:
        raise InvalidArgument(f"there is no format {form}", hint=f"one of {', '.join(FORMATS)}")
    if format and told and format != told:
        raise InvalidArgument(f"{out} is the name of a {told} file, and --format says {format}")
    packed = compression or ("zstd" if out.endswith(".zst") else "gzip")
    if packed not in ("gzip", "zstd"):
        raise InvalidArgument(f"there is no compression {packed}", hint="gzip or zstd")
    if packed == "zstd" and form != "warc":
        raise InvalidArgument(f"a {form} file is not compressed with zstd", hint="only --format warc")
    return form, packed


def _ending(format: str, compression: str) -> str:
    if format == "warc":
        return ".warc.zst" if compression == "zstd" else ".warc.gz"
    return f".{format}"


def _introduction(chosen: Chosen, filename: str) -> bytes:
    """The first record of a WARC file."""
    from crivello.crawl.crawler import user_agent

    software = user_agent(chosen.collection.settings.crawl)
    fields = [
        ("WARC-Date", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"),
        ("WARC-Filename", filename),
        ("Content-Type", "application/warc-fields"),
    ]
    about = f"software: {software}\r\nformat: WARC File Format 1.1\r\nisPartOf: {chosen.collection.name}\r\n"
    return _core.warc_record("warcinfo", fields, b"", about.encode())


def _members(chosen: Chosen, filename: str) -> Iterator[tuple[ArchivedRecord | None, bytes]]:
    """The gzip members of a WARC file, each with the record that an index names."""
    yield None, _introduction(chosen, filename)
    for record in chosen.records():
        yield record, record.member


def _write_warc(chosen: Chosen, path: Path | None, compression: str) -> int:
    members = _members(chosen, path.name if path else "standard output")
    count = 0
    with new_file(path) as out:
        packed = _zstandard(members, out) if compression == "zstd" else (member for _, member in members)
        for member in packed:
            out.write(member)
            count += 1
    return count - 1


def _zstandard(members: Iterable[tuple[ArchivedRecord | None, bytes]], out: IO[bytes]) -> Iterator[bytes]:
    """The same records as Zstandard frames, after a dictionary trained on the first of them."""
    import zstandard

    texts = (gzip.decompress(member) for _, member in members)
    first = list(islice(texts, _SAMPLES))
    try:
        # A dictionary must be much smaller than what it is trained on.
        size = min(_DICTIONARY_BYTES, sum(map(len, first)) // 10)
        dictionary = zstandard.train_dictionary(size, [*first], level=_ZSTD_LEVEL)
    except zstandard.ZstdError:
        dictionary = None
    if dictionary:
        encoded = dictionary.as_bytes()
        out.write(_DICTIONARY_FRAME + len(encoded).to_bytes(4, "little") + encoded)
    compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, dict_data=dictionary, write_checksum=True)
    for some in (first, texts):
        yield from map(compressor.compress, some)


def _write_cdxj(chosen: Chosen, path: Path | None, _: str) -> int:
    count = 0
    with SortedLines() as lines:
        for record in chosen.records():
            if record.kind != "request" and (record.mime != "unk" or record.status):
                lines.add(cdxj.line(record, record.file, record.offset, len(record.member)))
                count += 1
        with new_file(path) as out:
            out.writelines(lines)
    return count


def _write_wacz(chosen: Chosen, path: Path | None, _: str) -> int:
    from crivello.archives.wacz import write

    assert path is not None
    members = _members(chosen, "data.warc.gz")
    return write(path, members, chosen.rows, chosen.collection.name)


def _page(chosen: Chosen, row: Row) -> dict[str, Any]:
    """A page with everything that is known of it."""
    collection, limit = chosen.collection, chosen.collection.settings.crawl.max_bytes
    told: dict[str, Any] = {
        "url": row.url,
        "date": datetime.fromtimestamp(row.fetched_at, UTC).isoformat(),
        "status": row.status,
        "content_type": row.content_type,
        "language": row.language,
        "title": row.title or None,
        "text": None,
        "html": None,
        "headers": None,
        "digest": row.digest,
        "redirect": row.redirect,
        "duplicate_of": row.duplicate_of,
        "near_duplicate_of": row.near_duplicate_of,
        "near_bits": row.near_bits,
    }
    if not row.length:
        return told
    record = collection.record(row)
    told["headers"] = dict(sorted(record.headers.items())) or None
    if row.digest is not None:
        told["text"] = collection.text(row)
        if _core.reading(row.content_type or "") == "html" and (page := record.parse(limit)):
            told["html"] = record.decoded(limit).decode(page.charset, errors="replace")
    return told


def _write_jsonl(chosen: Chosen, path: Path | None, _: str) -> int:
    count = 0
    with new_file(path) as out:
        packed = None
        if path and path.suffix == ".gz":
            packed = gzip.GzipFile("", "wb", fileobj=out, mtime=0)
        lines: Any = packed or out
        for row in chosen.rows():
            lines.write(msgspec.json.encode(_page(chosen, row)) + b"\n")
            count += 1
        if packed:
            packed.close()
    return count


def _write_parquet(chosen: Chosen, path: Path | None, _: str) -> int:
    with optional():
        import duckdb

    assert path is not None
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _COLUMNS.items())
    count = 0
    with tempfile.TemporaryDirectory(prefix=".crivello-", dir=path.resolve().parent) as folder:
        lines, table = Path(folder, "pages.jsonl"), Path(folder, "pages.parquet")
        with lines.open("wb") as written:
            for row in chosen.rows():
                written.write(msgspec.json.encode(_page(chosen, row)) + b"\n")
                count += 1
        with duckdb.connect() as database:
            database.execute("SET preserve_insertion_order = true")
            database.execute(
                f"COPY (SELECT * FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}}, "
                "maximum_object_size = 268435456)) TO ? (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 5000)",
                [str(lines), str(table)],
            )
        lines.unlink()
        with new_file(path) as out, table.open("rb") as made:
            shutil.copyfileobj(made, out, 1 << 20)
    return count


def _write_ciff(chosen: Chosen, path: Path | None, _: str) -> int:
    assert path is not None
    collection = chosen.collection
    if chosen.site or chosen.since or chosen.all_versions:
        raise InvalidArgument(
            "a ciff file has the whole index", hint="leave out --site, --since and --versions"
        )
    if not collection.segments:
        raise InvalidArgument(f"{collection.folder} has no index", hint=f"crivello index {collection.folder}")
    documents, _lists = _core.write_ciff(
        collection.folder / Layout.INDEX, collection.segments, path, f"the index of {collection.name}"
    )
    return documents


_WRITERS: dict[str, Callable[[Chosen, Path | None, str], int]] = {
    "warc": _write_warc,
    "wacz": _write_wacz,
    "cdxj": _write_cdxj,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
    "ciff": _write_ciff,
}
