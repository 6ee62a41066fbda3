"""Writes WACZ files: a ZIP of WARC files, their index, a list of pages, and the digests of all of these.

The index is compressed in blocks, each with a line in ``index.idx``, so that a reader on the other side of a network looks a
page up with two requests.

Source: https://specs.webrecorder.net/wacz/1.1.1/.
"""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from crivello._core import ArchivedRecord, Row
from crivello.archives import cdxj
from crivello.archives.output import SortedLines, new_file

_VERSION = "1.1.1"
_ARCHIVE, _INDEX, _BLOCKS, _PAGES = (
    "archive/data.warc.gz",
    "indexes/index.cdx.gz",
    "indexes/index.idx",
    "pages/pages.jsonl",
)
_LINES_IN_BLOCK = 3000


class _Package:
    """The ZIP, and the digests of its members."""

    def __init__(self, out: IO[bytes]) -> None:
        self.zipped = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._resources: list[dict[str, Any]] = []

    def write(self, name: str, parts: Iterable[bytes]) -> None:
        """Adds a member."""
        digest, length = hashlib.sha256(), 0
        about = zipfile.ZipInfo(name, datetime.now(UTC).timetuple()[:6])
        with self.zipped.open(about, "w", force_zip64=True) as out:
            for part in parts:
                out.write(part)
                digest.update(part)
                length += len(part)
        path = Path(name)
        self._resources.append(
            {"name": path.name, "path": name, "hash": f"sha256:{digest.hexdigest()}", "bytes": length}
        )

    def close(self, title: str) -> None:
        """Adds the descriptions, and ends the ZIP."""
        described = {
            "profile": "data-package",
            "resources": self._resources,
            "wacz_version": _VERSION,
            "software": "crivello",
            "title": title,
            "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        package = msgspec.json.format(msgspec.json.encode(described), indent=2)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
        self.zipped.writestr("datapackage.json", package)
        self.zipped.writestr("datapackage-digest.json", msgspec.json.encode(digest))
        self.zipped.close()


def write(
    path: Path,
    members: Iterable[tuple[ArchivedRecord | None, bytes]],
    rows: Callable[[], Iterator[Row]],
    title: str,
) -> int:
    """Writes a file with these records, and the pages among these rows; returns the number of records."""
    with new_file(path) as out, SortedLines() as lines, ExitStack() as whole:
        package, offset, count = _Package(out), 0, 0
        # Interrupted, it must not be ended after its file was closed.
        whole.enter_context(package.zipped)

        def indexed() -> Iterator[bytes]:
            nonlocal offset, count
            for record, member in members:
                if record is not None and record.kind != "request":
                    lines.add(cdxj.line(record, Path(_ARCHIVE).name, offset, len(member)))
                count += record is not None
                offset += len(member)
                yield member

        package.write(_ARCHIVE, indexed())
        blocks: list[bytes] = []
        package.write(_INDEX, _blocks(iter(lines), blocks))
        package.write(_BLOCKS, blocks)
        package.write(_PAGES, _pages(rows()))
        package.close(title)
    return count


def _blocks(lines: Iterator[bytes], described: list[bytes]) -> Iterator[bytes]:
    """The index in compressed blocks; a line about each is added to ``described``."""
    about = {"format": "cdxj-gzip-1.0", "filename": Path(_INDEX).name}
    described.append(b"!meta 0 " + msgspec.json.encode(about) + b"\n")
    offset = 0
    while some := list(islice(lines, _LINES_IN_BLOCK)):
        block = gzip.compress(b"".join(some), mtime=0)
        told = {
            "offset": offset,
            "length": len(block),
            "digest": f"sha256:{hashlib.sha256(block).hexdigest()}",
            "filename": Path(_INDEX).name,
        }
        described.append(b" ".join(some[0].split(b" ", 2)[:2]) + b" " + msgspec.json.encode(told) + b"\n")
        offset += len(block)
        yield block


def _pages(rows: Iterator[Row]) -> Iterator[bytes]:
    yield msgspec.json.encode({"format": "json-pages-1.0", "id": "pages", "title": "All pages"}) + b"\n"
    for row in rows:
        if row.status == 200 and row.digest is not None:
            moment = datetime.fromtimestamp(row.fetched_at, UTC)
            told = {"url": row.url, "ts": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "title": row.title or row.url}
            yield msgspec.json.encode(told) + b"\n"
