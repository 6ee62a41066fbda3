"""Reads the records of an archive one after the other, and goes on behind damage.

Each record is a gzip member (``crates/core/src/collection/warc.rs``); behind a damaged one the next is found by the
first bytes of a member.
"""

from __future__ import annotations

import base64
import hashlib
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crivello._core import Layout
from crivello.collection import Collection
from crivello.crawl.decisions import mapped

_GZIP = b"\x1f\x8b\x08"
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Stored:
    """A record: its place in its file, its fields with names in lower case, and its block."""

    offset: int
    end: int
    fields: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        """Its type: response, revisit, conversion, warcinfo."""
        return self.fields.get("warc-type", "")

    @property
    def url(self) -> str:
        """Its target."""
        return self.fields.get("warc-target-uri", "")

    def http(self) -> tuple[int, dict[str, str], bytes]:
        """The status, the header and the body of a response."""
        head, _, body = self.block.partition(b"\r\n\r\n")
        first, fields = _fields(head)
        words = first.split()
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0, fields, body


def archive_files(collection: Collection) -> Iterator[tuple[int, Path, int]]:
    """The number of each file of the archive, the file, and its committed length."""
    number = 1
    while (length := collection.length(Layout.archive(number))) > 0:
        yield number, collection.folder / Layout.archive(number), length
        number += 1


def records(file: Path, length: int) -> Iterator[Stored]:
    """The records of a file that read, in order."""
    with mapped(file, length) as content:
        offset = 0
        while 0 <= offset < length:
            stored = _read(content, offset, length)
            if stored is None:
                offset = content.find(_GZIP, offset + 1)
            else:
                yield stored
                offset = stored.end


def record_at(folder: Path, number: int, offset: int, length: int) -> Stored | None:
    """The record at a place; ``None`` if it does not read."""
    try:
        with (folder / Layout.archive(number)).open("rb") as file:
            file.seek(offset)
            member = file.read(length)
    except OSError:
        return None
    stored = _read(member, 0, length)
    return stored if stored and stored.end == length else None


def _read(content: bytes | mmap.mmap, offset: int, length: int) -> Stored | None:
    """The record of the gzip member at an offset; ``None`` if there is none, or it does not match its digest."""
    if content[offset : offset + len(_GZIP)] != _GZIP:
        return None
    unpacker = zlib.decompressobj(31)
    parts, position = [], offset
    try:
        while not unpacker.eof and position < length:
            piece = content[position : min(position + _PIECE, length)]
            parts.append(unpacker.decompress(piece))
            position += len(piece)
    except zlib.error:
        return None
    if not unpacker.eof:
        return None
    header, _, block = b"".join(parts).partition(b"\r\n\r\n")
    version, fields = _fields(header)
    size = fields.get("content-length", "")
    if not version.startswith("WARC/") or not size.isdigit():
        return None
    block = block[: int(size)]
    digest = base64.b32encode(hashlib.sha1(block).digest()).decode()
    if fields.get("warc-block-digest") != f"sha1:{digest}":
        return None
    return Stored(offset, position - len(unpacker.unused_data), fields, block)


def _fields(head: bytes) -> tuple[str, dict[str, str]]:
    """The first line of a header, and its fields; of those with the same name the first counts."""
    first, *lines = head.decode(errors="replace").split("\r\n")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    return first, fields
