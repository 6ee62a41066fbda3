"""Collections without a crawl: rows and links, written to the logs in their documented formats."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from crivello._core import Layout, signature
from crivello.collection import Collection


@dataclass(frozen=True)
class Visit:
    """What a crawl learns of a URL."""

    url: str
    links: Sequence[str] = ()
    nofollow: Sequence[str] = ()
    redirect: str | None = None
    canonical: str | None = None
    duplicate_of: str | None = None
    gone: bool = False
    words: str = field(default="0" * 32)


class Logs:
    """Appends visits to the logs of a collection; ``commit`` makes them its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = bytearray(_header(b"ROWS", 2))
        self._links = bytearray(_header(b"LINK", 2))

    def append(self, visits: Iterable[Visit]) -> None:
        """Appends a row for each visit, and the links of those that have any."""
        for visit in visits:
            key = signature(visit.url)
            self._rows += _record(key, msgspec.msgpack.encode(_row(visit)))
            if visit.redirect is not None:
                self._links += _record(key, _signatures([visit.redirect]))
            elif not visit.gone:
                others = _signatures(visit.nofollow)
                count = struct.pack("<I", len(visit.nofollow)) if visit.nofollow else b""
                self._links += _record(key, _signatures(visit.links) + others + count)

    def commit(self, collection: Collection) -> None:
        """Commits what was appended."""
        (self._folder / Layout.ROWS).write_bytes(self._rows)
        (self._folder / Layout.LINKS).write_bytes(self._links)
        collection.commit({Layout.ROWS: len(self._rows), Layout.LINKS: len(self._links)})


def _header(kind: bytes, version: int) -> bytes:
    return struct.pack("<4s4sII", b"CRVL", kind, version, 0)


def _record(key: int, payload: bytes) -> bytes:
    sealed = struct.pack("<Q", key) + payload
    return struct.pack("<II", len(payload), zlib.crc32(sealed)) + sealed


def _signatures(urls: Sequence[str]) -> bytes:
    return struct.pack(f"<{len(urls)}Q", *map(signature, urls))


def _row(visit: Visit) -> list[object]:
    outcome = "redirected" if visit.redirect is not None else "fetched"
    status = 302 if visit.redirect is not None else 404 if visit.gone else 200
    words = None if visit.gone or visit.redirect is not None else visit.words
    row: list[object] = [
        visit.url,
        outcome,
        0,
        0.0,
        status,
        "text/html",
        words,
        7 if words else None,
        "en",
        "",
    ]
    row += [visit.redirect, visit.duplicate_of, None, False, 0, 0, 0, 0, 0, 0, visit.canonical]
    return row
