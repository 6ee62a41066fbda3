"""Sieves whose URL-seen set is a key-value store: RocksDB (``lsm``), or a user-defined one.

The native queue holds the URLs in order, the store their signatures. The store is made durable independently
of the manifest, so after a crash it may be ahead of it, with signatures of URLs that were truncated from the
queue. Therefore the value of a signature holds an *epoch* (a number incremented at every opening) and the
offset in the queue. The state keeps the length to which the queue was truncated at the end of each earlier
epoch, and an entry at or beyond that offset of its epoch counts as unknown.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from crivello import _core, extend
from crivello.errors import InvalidArgument
from crivello.sieve import QUEUE, Checkpoint

Entry = tuple[bytes, bytes]

# The epoch, the offset in the queue, and a check that detects signature collisions.
_VALUE = struct.Struct("<IQH")
# Longer than any signature, so it cannot collide with one.
_EPOCH = b"the last epoch"


class StoredSieve:
    """See ``crivello.sieve.Sieve``. ``home`` is the folder in the collection that the store manages
    itself."""

    def __init__(
        self,
        kind: str,
        folder: Path,
        files: dict[str, int],
        state: dict[str, Any],
        open_store: Callable[[], extend.Sieve],
        *,
        home: str,
        start: int | None,
        cache: int,
    ) -> None:
        self.kind = kind
        self._home = home
        cuts: list[int] = state.pop("cuts", [])
        self._queue = _core.SieveQueue(folder, files, state, start, cache=cache)
        self._store = open_store()
        [written] = self._store.get([_EPOCH])
        self._epoch = max(len(cuts), 0 if written is None else int(written) + 1)
        self._store.put([(_EPOCH, str(self._epoch).encode())])
        self._cuts = cuts + [files.get(QUEUE, 0)] * (self._epoch - len(cuts))
        self._collisions = 0

    def add(self, urls: list[str], tags: list[int] | None = None) -> None:
        keys, checks = self._queue.screen(urls, tags)
        try:
            found = self._store.get(list(keys))
            is_new = [self._is_new(value, check) for value, check in zip(found, checks, strict=True)]
            offsets = iter(self._queue.accept(is_new))
            _core.fault_point("lsm.add.after-queue")
            entries = zip(keys, checks, is_new, strict=True)
            self._store.put(
                [(key, _VALUE.pack(self._epoch, next(offsets), check)) for key, check, new in entries if new]
            )
        except BaseException:
            self._queue.give_up()
            raise
        _core.fault_point("lsm.add.after-write")

    def _is_new(self, value: bytes | None, check: int) -> bool:
        if value is None:
            return True
        epoch, offset, first_check = _VALUE.unpack(value)
        if epoch < self._epoch and offset >= self._cuts[epoch]:
            return True
        self._collisions += check != first_check
        return False

    def take(self, n: int) -> list[tuple[int, int, str]]:
        return self._queue.take(n)

    def take_ready(self, n: int) -> list[tuple[int, int, str]]:
        return self._queue.take(n)

    def flush(self) -> None:
        """Nothing to do: ``add`` decides immediately."""

    def checkpoint(self) -> Checkpoint:
        _core.fault_point("lsm.checkpoint.before-sync")
        self._store.sync()
        files, state = self._queue.checkpoint()
        # If this is the last commit of the current epoch, the queue will be truncated to this length.
        cuts = [*self._cuts, files[QUEUE]]
        _core.fault_point("lsm.checkpoint.after-sync")
        return Checkpoint({**files, self._home: 0}, {**state, "kind": self.kind, "cuts": cuts})

    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = msgspec.json.decode(self._queue.stats(self.kind))
        stats["collisions"] += self._collisions
        return stats

    def close(self) -> None:
        del self._queue, self._store

    @property
    def next(self) -> int:
        return self._queue.next

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    def __len__(self) -> int:
        return len(self._queue)


OWN = _core.Layout.OWN


def open_own(
    named: object,
    folder: Path,
    files: dict[str, int],
    state: dict[str, Any],
    *,
    start: int | None,
    cache: int,
) -> StoredSieve:
    """A sieve over a user-defined store, given as a class or its name as ``module:Class``."""

    def open_store() -> extend.Sieve:
        home = folder / OWN
        home.mkdir(parents=True, exist_ok=True)
        return _Named(extend.load("crawl.sieve", named, home))

    kind = extend.label_of(named)
    return StoredSieve(kind, folder, files, state, open_store, home=OWN, start=start, cache=cache)


class _Named:
    """A user-defined store whose errors name its class and line."""

    def __init__(self, extension: extend.Extension) -> None:
        self._extension = extension
        self._own: extend.Sieve = extension.own

    def get(self, keys: list[bytes]) -> Sequence[bytes | None]:
        def checked(values: Sequence[bytes | None]) -> Sequence[bytes | None]:
            if len(values) != len(keys):
                raise InvalidArgument(f"it returned {len(values)} values for {len(keys)} keys")
            if not all(value is None or isinstance(value, bytes) for value in values):
                raise InvalidArgument("it returned a value that is neither bytes nor None")
            return values

        return self._extension.call(keys, method=self._own.get, check=checked, about="a look-up")

    def put(self, entries: list[Entry]) -> None:
        self._extension.call(entries, method=self._own.put, check=lambda _: None, about="a write")

    def sync(self) -> None:
        self._extension.call(method=self._own.sync, check=lambda _: None, about="a checkpoint")
