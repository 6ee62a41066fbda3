"""WARC writing and reading beside FastWARC, on the same pages: used by the part ``store``.

Both read the same file and hand out every body; with digests verified and without. Both write a gzip member for each record,
with the payload and block digests, FastWARC at the level nearest to ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from bench import Measurement, seconds
from crivello._core import warc_record
from crivello.archives import read

Page = tuple[str, bytes, bytes]
"""The URL, the HTTP header and the body of a page."""

_DATE = "2024-05-01T12:00:00Z"


def write_ours(pages: list[Page], path: Path) -> None:
    """Writes the pages with Crivello."""
    with path.open("wb") as out:
        for url, head, body in pages:
            fields = [
                ("WARC-Target-URI", url),
                ("WARC-Date", _DATE),
                ("Content-Type", "application/http; msgtype=response"),
            ]
            out.write(warc_record("response", fields, head, body))


def write_theirs(pages: list[Page], path: Path) -> None:
    """Writes the pages with FastWARC."""
    with path.open("wb") as out:
        writer = GzipWriter(out, 1)
        for url, head, body in pages:
            record = WarcRecord()
            record.init_headers(WarcRecordType.response)
            record.headers["WARC-Target-URI"] = url
            record.set_bytes_content(head + body)
            record.write(writer, checksum_data=True)
            writer.finish()
        writer.close()


def read_ours(path: Path, *, verify: bool) -> int:
    """The bytes of all blocks, read by Crivello."""
    return sum(len(record.block) for record in read(path, verify=verify))


def read_theirs(path: Path, *, verify: bool) -> int:
    """The bytes of all blocks, read by FastWARC."""
    records = ArchiveIterator(str(path), parse_http=False, verify_digests=verify)
    return sum(len(record.reader.read()) for record in records)


def measure_warc(pages: list[Page], folder: Path) -> Iterator[Measurement]:
    """The rates of writing and reading, in megabytes of records per second."""
    volume = sum(len(head) + len(body) for _, head, body in pages) / 1e6
    ours, theirs = folder / "ours.warc.gz", folder / "theirs.warc.gz"
    yield Measurement(
        "WARC writing",
        volume / seconds(lambda: write_ours(pages, ours)),
        "FastWARC",
        volume / seconds(lambda: write_theirs(pages, theirs)),
        "MB/s",
        asked=1,
    )
    for verify in (False, True):
        mine, other = partial(read_ours, ours, verify=verify), partial(read_theirs, ours, verify=verify)
        assert mine() == other()
        yield Measurement(
            "WARC reading, digests verified" if verify else "WARC reading",
            volume / seconds(mine),
            "FastWARC",
            volume / seconds(other),
            "MB/s",
            asked=1,
        )


def sample_pages(archive: Path, most: int = 20_000) -> list[Page]:
    """The responses of an archive file."""
    pages: list[Page] = []
    for record in read(archive):
        head, _, body = record.block.partition(b"\r\n\r\n")
        if record.kind == "response" and len(pages) < most:
            pages.append((record.url, head + b"\r\n\r\n", body))
    return pages
