"""Pings from outside, queued on disk until a writer takes them.

The server that receives them holds no writer lock: it appends a line of JSON to ``feeds/pings.jsonl`` and syncs
it, under a lock of that file alone. A writer reads on from the offset that it committed last (``Pings.read``), and
commits the new one together with what it did (``Pings.done``). A ping that was answered is therefore never lost,
and one that is read twice after a crash only asks twice whether a page changed. A line is at most 4 KiB; beyond
``MOST_BYTES`` pings are refused until the queue was read.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from crivello.errors import StorageError

NAME = "feeds/pings.jsonl"
MOST_BYTES = 16 * 2**20
_LONGEST_URL = 2048


class Ping(msgspec.Struct, omit_defaults=True):
    """Word from outside that a URL changed."""

    url: str
    by: str
    """websub or indexnow."""
    time: float


class Full(Exception):
    """There are more pings than a writer takes."""


class Pings:
    """The queue of a collection's pings."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME

    def add(self, pings: Sequence[Ping]) -> None:
        """Queues pings durably; raises `Full` if there are too many."""
        lines = b"".join(msgspec.json.encode(ping) + b"\n" for ping in pings if len(ping.url) <= _LONGEST_URL)
        with self._open() as out:
            if out.seek(0, os.SEEK_END) + len(lines) > MOST_BYTES:
                raise Full
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())

    def read(self, start: int) -> tuple[list[Ping], int]:
        """The pings from an offset on, and the offset after them."""
        if not self._file.exists():
            return [], 0
        with self._open() as file:
            length = file.seek(0, os.SEEK_END)
            # A queue that is shorter than what was read of it has begun anew.
            start = start if start <= length else 0
            file.seek(start)
            read = file.read(length - start)
        whole = read[: read.rfind(b"\n") + 1]
        pings = []
        for line in whole.splitlines():
            try:
                pings.append(msgspec.json.decode(line, type=Ping))
            except msgspec.DecodeError:
                continue  # a line that a crash cut off
        return pings, start + len(whole)

    def done(self, offset: int) -> int:
        """Empties a queue that was read to its end; returns the offset to go on from."""
        if not offset:
            return 0
        with self._open() as file:
            if file.seek(0, os.SEEK_END) != offset:
                return offset
            file.truncate(0)
            return 0

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            self._file.parent.mkdir(exist_ok=True)
            with self._file.open("ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as error:
            raise StorageError.of(error, self._file) from None
