"""The journal of the table, written again: what reads is kept, and the archive gives what is missing.

A row is a MessagePack array (``crates/core/src/collection/row.rs``). A row made from a response in the archive has
what its record says: URL, time, status, header and place; then the page is parsed for its title, language and
digest. Not in the archive are the distance from a seed and the outcome of URLs without a response; visits that found
a page unchanged are not made again, and the text of a converted document is read by the next visit.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Protocol

import msgspec

from crivello import _core
from crivello._core import Layout
from crivello.collection import Collection
from crivello.doctor.archive import Stored, archive_files, record_at, records
from crivello.doctor.logs import Entry, entries, sealed
from crivello.errors import CrivelloError
from crivello.store import Outcome

_HEADER, _named = _core.Row.format()
_BLANK: dict[str, Any] = msgspec.msgpack.decode(_named)
_FIELDS = list(_BLANK)
_REDIRECTS = (301, 302, 303, 307, 308)
_RECOVERED = "the row was made again from the archive"
_LOST = "the record was lost"
Fields = dict[str, Any]


class Replace(Protocol):
    """Replaces a committed file, whose content follows from the one that is there."""

    def __call__(self, collection: Collection, name: str, content: Iterator[bytes], /) -> None: ...


def rebuild_journal(collection: Collection, replace: Replace, *, recover: bool) -> tuple[int, int, int]:
    """Writes the journal again; returns how many records were kept, how many rows lost their record, and how many
    were made from the archive, which is searched for them if ``recover``."""
    kept = lost = 0
    made: list[Fields] = []

    def content() -> Iterator[bytes]:
        nonlocal kept, lost
        places = set()
        yield _HEADER
        for entry, row in _rows(collection):
            kept += 1
            if row is not None and row["length"]:
                places.add((row["file"], row["offset"]))
                if not _reads(collection, row):
                    lost += 1
                    yield _sealed(_without_record(row))
                    continue
                if row["visit_length"] and not _has_visit(collection, row):
                    yield _sealed(row | {"visit_file": 0, "visit_offset": 0, "visit_length": 0})
                    continue
            yield sealed(entry.key, entry.payload or b"")
        if recover:
            made.extend(_missing(collection, places))
            yield from map(_sealed, made)

    replace(collection, Layout.ROWS, content())
    return kept, lost, len(made)


def parse_recovered(collection: Collection, replace: Replace) -> None:
    """Completes the rows that were made from the archive with what the pages say."""
    limit = collection.settings.crawl.max_bytes
    first: dict[str, str] = {}

    def completed(row: Fields) -> Fields:
        found = collection.table.at(row["url"], row["fetched_at"])
        try:
            parsed = collection.record(found).parse(limit) if found and row["status"] == 200 else None
        except CrivelloError:
            parsed = None  # it does not decode, as when it was crawled
        if parsed is None:
            return row | {"detail": ""}
        original = first.setdefault(parsed.digest, row["url"])
        return row | {
            "digest": parsed.digest,
            "simhash": parsed.simhash,
            "language": parsed.language,
            "title": parsed.title,
            "canonical": parsed.canonical if parsed.canonical != row["url"] else None,
            "noindex": parsed.noindex,
            "duplicate_of": original if original != row["url"] else None,
            "detail": "",
        }

    def content() -> Iterator[bytes]:
        yield _HEADER
        for entry, row in _rows(collection):
            if row is not None and row["detail"] == _RECOVERED:
                yield _sealed(completed(row))
                continue
            if row is not None and row["digest"] and not row["duplicate_of"]:
                first.setdefault(row["digest"], row["url"])
            yield sealed(entry.key, entry.payload or b"")

    replace(collection, Layout.ROWS, content())


def _rows(collection: Collection) -> Iterator[tuple[Entry, Fields | None]]:
    """The records of the journal that read, with the fields of those that are rows."""
    for entry in entries(collection.folder / Layout.ROWS, collection.length(Layout.ROWS)):
        if entry.payload is None:
            continue
        # A row begins as an array does; other cells begin with the number of their group.
        if entry.payload[0] < 0x80:
            yield entry, None
            continue
        try:
            values = msgspec.msgpack.decode(entry.payload, type=list[Any])
        except msgspec.DecodeError:
            continue
        # An older row has fewer fields.
        yield entry, _BLANK | dict(zip(_FIELDS, values, strict=False))


def _sealed(row: Fields) -> bytes:
    return sealed(_core.signature(row["url"]), msgspec.msgpack.encode([row[name] for name in _FIELDS]))


def _reads(collection: Collection, row: Fields) -> bool:
    """Whether the record of a row, and that of its text, are what was stored."""
    stored = record_at(collection.folder, row["file"], row["offset"], row["length"])
    if stored is None or stored.url != row["url"]:
        return False
    payload = row["payload"]
    if payload and base64.b32encode(hashlib.sha1(stored.http()[2]).digest()).decode() != payload:
        return False
    if not row["text_length"]:
        return True
    return record_at(collection.folder, row["text_file"], row["text_offset"], row["text_length"]) is not None


def _has_visit(collection: Collection, row: Fields) -> bool:
    """Whether the record of a visit that found the page unchanged reads."""
    place = (row["visit_file"], row["visit_offset"], row["visit_length"])
    return record_at(collection.folder, *place) is not None


def _without_record(row: Fields) -> Fields:
    """A row whose record was lost: without validators, so that the next visit fetches the page again."""
    nothing = dict.fromkeys(
        ("digest", "simhash", "duplicate_of", "near_duplicate_of", "near_bits", "etag", "payload")
    )
    places = dict.fromkeys(("file", "offset", "length", "text_file", "text_offset", "text_length"), 0)
    places |= dict.fromkeys(("visit_file", "visit_offset", "visit_length"), 0)
    return row | nothing | places | {"last_modified": None, "detail": _LOST}


def _missing(collection: Collection, places: set[tuple[int, int]]) -> Iterator[Fields]:
    """Rows for the responses of the archive that have none."""
    for number, file, length in archive_files(collection):
        for stored in records(file, length):
            if stored.kind == "response" and (number, stored.offset) not in places:
                yield _row(number, stored)


def _row(number: int, stored: Stored) -> Fields:
    status, header, body = stored.http()
    row: Fields = _BLANK | {
        "url": stored.url,
        "fetched_at": datetime.fromisoformat(stored.fields["warc-date"]).timestamp(),
        "status": status,
        "content_type": header.get("content-type", "").split(";")[0].strip().lower() or None,
        "file": number,
        "offset": stored.offset,
        "length": stored.end - stored.offset,
        "etag": header.get("etag"),
        "last_modified": header.get("last-modified"),
        "address": stored.fields.get("warc-ip-address"),
        "attempts": 1,
        "detail": _RECOVERED,
        "payload": base64.b32encode(hashlib.sha1(body).digest()).decode(),
    }
    location = header.get("location")
    if status in _REDIRECTS and location:
        target = _core.parse_url(location, stored.url)
        [canonical] = _core.canonical_urls([target["href"]]) if target and "href" in target else [None]
        row |= {"outcome": Outcome.REDIRECTED.value, "redirect": canonical, "detail": ""}
    return row
