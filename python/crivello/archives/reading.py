"""The records of an archive file, whatever wrote and compressed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crivello._core import ArchiveReader, ArchiveRecord

# A batch that stays in the cache of the processor.
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Damage:
    """A place of a file where there should be a record: the offset, and what is wrong there."""

    file: str
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, offset {self.offset:,}: {self.reason}"


def read(
    path: str | Path,
    *,
    verify: bool = True,
    limit: int = 1 << 26,
    on_damage: Callable[[Damage], object] | None = None,
) -> Iterator[ArchiveRecord]:
    """Iterates over the records of a WARC or ARC file: plain, gzip or Zstandard.

    Damaged records are passed over, and told to ``on_damage``. ``verify`` compares blocks with their digests;
    of a longer block the first ``limit`` bytes are kept.

        >>> for record in read("crawl.warc.gz"):
        ...     print(record.kind, record.url)
    """
    reader = ArchiveReader(path, limit=limit, verify=verify)
    while True:
        records, damage = reader.read(_BATCH)
        for offset, reason in damage if on_damage else ():
            assert on_damage is not None
            on_damage(Damage(str(path), offset, reason))
        if not records:
            return
        yield from records
