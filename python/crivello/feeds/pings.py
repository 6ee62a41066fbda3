"""Pings from outside, queued on disk until a writer takes them (``crates/core/src/collection/pings.rs``).

The server that receives them is no writer of the collection: it appends to a log of its own, and answers once that
is durable. A writer reads on from the position that it committed last.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from crivello import _core

Position = tuple[int, int]
"""How far the queue was read: the number of the log, and an offset in it."""
START: Position = (0, 0)
_LONGEST_URL = 2048


class Ping(NamedTuple):
    """Word from outside that a URL changed, with its new content if the sender gave it."""

    url: str
    by: str
    """websub or indexnow."""
    time: float
    content_type: str = ""
    content: bytes = b""


class Pings:
    """The queue of a collection's pings. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._native = _core.Pings(folder)

    def add(self, pings: Iterable[Ping]) -> bool:
        """Queues pings durably; returns whether there was room for them."""
        return self._native.add([ping for ping in pings if len(ping.url) <= _LONGEST_URL])

    def read(self, start: Position) -> tuple[list[Ping], Position]:
        """The pings after a position, and the position after them."""
        found, end = self._native.read(start)
        return [Ping(*fields) for fields in found], end

    def clear(self, end: Position) -> None:
        """Empties a queue that was read to a position, once that is committed."""
        self._native.clear(end)
