"""The table: a row for each URL that something became of.

Rows are appended to a log whose key is the URL's signature, so an older version of a row stays in the
log and the newest is found in one step. A row costs about 200 bytes on disk and 18 to 37 in memory.
The crawl writes rows natively (``crates/core/src/collection/row.rs``), in this order of fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from crivello import _core
from crivello.errors import CorruptFile

NAME = "table/rows.log"
_BATCH = 1000


class Outcome(StrEnum):
    """What became of a URL."""

    FETCHED = "fetched"
    REDIRECTED = "redirected"
    NOT_MODIFIED = "not modified"
    ROBOTS = "refused by robots.txt"
    TRAP = "cut off as a trap"
    LIMIT = "over a limit"
    FILTERED = "filtered out"
    PRIVATE = "private address"
    DNS = "no such host"
    REFUSED = "connection refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "TLS failed"
    RESET = "connection lost"
    PROXY = "proxy failed"
    TOO_LARGE = "too large"
    BOMB = "decodes to too much"
    BAD_ENCODING = "does not decode"
    BAD_RESPONSE = "not HTTP"
    UNPARSED = "could not be parsed"


class Row(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """What is known about a URL, and where its record lies in the archive."""

    url: str
    outcome: Outcome
    depth: int
    fetched_at: float
    status: int | None = None
    content_type: str | None = None
    digest: str | None = None
    simhash: int | None = None
    language: str | None = None
    title: str = ""
    redirect: str | None = None
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    noindex: bool = False
    file: int = 0
    offset: int = 0
    length: int = 0
    text_file: int = 0
    text_offset: int = 0
    text_length: int = 0
    canonical: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    address: str | None = None
    attempts: int = 0
    seconds: float = 0.0
    detail: str = ""

    @property
    def indexable(self) -> bool:
        """Whether the page belongs into the index."""
        good = self.outcome is Outcome.FETCHED and self.status == 200 and self.digest is not None
        return good and not self.noindex and self.duplicate_of is None

    def to_dict(self) -> dict[str, Any]:
        """The row as ``crivello pages --json`` gives it."""
        return {
            "url": self.url,
            "status": self.status,
            "depth": self.depth,
            "content_type": self.content_type,
            "digest": self.digest,
            "fetched_at": datetime.fromtimestamp(self.fetched_at, UTC).isoformat(timespec="milliseconds"),
            "outcome": self.outcome.value,
            "title": self.title,
            "language": self.language,
            "redirect": self.redirect,
            "duplicate_of": self.duplicate_of,
            "near_duplicate_of": self.near_duplicate_of,
            "canonical": self.canonical,
            "address": self.address,
            "attempts": self.attempts,
            "detail": self.detail,
        }


class Table:
    """The rows of a collection."""

    def __init__(self, folder: Path, committed: int, *, write: bool = False) -> None:
        self._file = folder / NAME
        self._log = _core.Log(self._file, "rows", committed, write=write)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Row)

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows; a row for a URL that has one replaces it."""
        self._log.append([(_core.signature(row.url), self._encoder.encode(row)) for row in rows])

    def get(self, url: str) -> Row | None:
        """The newest row of a URL."""
        return self.by_signature(_core.signature(url))

    def by_signature(self, signature: int) -> Row | None:
        """The newest row of the URL with a signature."""
        payload = self._log.get(signature)
        return None if payload is None else self._decode(payload)

    def contains(self, urls: Iterable[str]) -> list[bool]:
        """Whether each URL has a row."""
        return self._log.contains([_core.signature(url) for url in urls])

    def batches(self, start: int = 0) -> Iterator[tuple[list[Row], int]]:
        """The rows from an offset on, in batches, each with the offset where the next one starts."""
        while True:
            payloads, start = self._log.read(start, _BATCH)
            if not payloads:
                return
            yield [self._decode(payload) for payload in payloads], start

    def __iter__(self) -> Iterator[Row]:
        for rows, _ in self.batches():
            yield from rows

    def __len__(self) -> int:
        return len(self._log)

    def sync(self) -> int:
        """Makes everything durable; gives the length to commit."""
        return self._log.sync()

    def _decode(self, payload: bytes) -> Row:
        try:
            return self._decoder.decode(payload)
        except msgspec.DecodeError as error:
            raise CorruptFile(f"{self._file}: a row does not decode: {error}", self._file, 0) from None
