"""Reads logs of records with checksums (``crates/core/src/disk/log``), and goes on behind damage.

A record is the length of its payload (u32), the CRC-32 of key and payload (u32), a key (u64) and the payload, all
little-endian. Behind a damaged record the next one is found by its checksum, byte after byte.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crivello.crawl.decisions import mapped

HEADER = 16
_RECORD = struct.Struct("<IIQ")
# A length beyond this is not tried when the next record is sought: a random one seldom is below.
_LIKELY = 1 << 20
_MOST = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, or damage: then ``payload`` is ``None`` and the bytes from ``offset`` to ``end`` are not readable."""

    offset: int
    end: int
    key: int
    payload: bytes | None


def entries(file: Path, length: int) -> Iterator[Entry]:
    """The records of a log of ``length`` bytes, and the gaps between them."""
    if length <= HEADER:
        return
    with mapped(file, length) as content:
        offset = HEADER
        while offset < length:
            end = _end(content, offset, length, _MOST)
            if end:
                _, _, key = _RECORD.unpack_from(content, offset)
                yield Entry(offset, end, key, content[offset + _RECORD.size : end])
            else:
                end = _next(content, offset + 1, length)
                yield Entry(offset, end, 0, None)
            offset = end


def sealed(key: int, payload: bytes) -> bytes:
    """A record as stored."""
    tail = struct.pack("<Q", key) + payload
    return struct.pack("<II", len(payload), zlib.crc32(tail)) + tail


def _end(content: mmap.mmap, offset: int, length: int, most: int) -> int:
    """The end of the record at an offset; 0 if there is none."""
    if offset + _RECORD.size > length:
        return 0
    size, checksum, _ = _RECORD.unpack_from(content, offset)
    end = offset + _RECORD.size + size
    if end > length or size > most:
        return 0
    with memoryview(content) as view, view[offset + 8 : end] as tail:
        return end if zlib.crc32(tail) == checksum else 0


def _next(content: mmap.mmap, offset: int, length: int) -> int:
    """The first offset of a record from an offset on; the end of the log if there is none."""
    while offset < length and not _end(content, offset, length, _LIKELY):
        offset += 1
    return offset
