"""The ``lsm`` sieve: signatures in RocksDB, looked up and written in batches.

A log-structured merge tree keeps sorted levels on disk, each some times larger than the one above it, and
a Bloom filter for each file, so that a signature that was never seen mostly costs no disk access; memory
is fixed (write buffers and block cache), and a URL costs about 24 bytes on disk, written several times
over as the levels merge. From the notes' section 2.3 (O'Neil et al., *The log-structured merge-tree*, 1996).

RocksDB has a durability of its own, so after a crash it may know more than the manifest: URLs whose place
in the queue was cut off again. Therefore the value of a signature says the *epoch* (a number that grows
with every opening) and the offset in the queue; of every earlier epoch the state keeps where the queue
was cut when it ended, and an entry at or past the cut of its epoch counts as unknown. Should RocksDB know
less than was committed (its sequence number tells), it is damaged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocksdict import (
    BlockBasedOptions,
    Cache,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    WriteBatch,
)

from crivello import _core
from crivello.errors import CorruptFile, StorageError
from crivello.sieve import QUEUE, Checkpoint, Kind
from crivello.sieve.native import complete_stats

FOLDER = "frontier/lsm/"
BLOOM_BITS = 10
# An epoch, an offset in the queue, and a check by which a collision of signatures shows.
_VALUE = struct.Struct("<IQH")
# Longer than any signature, so it is none.
_EPOCH = b"the last epoch"


class LsmSieve:
    """See ``crivello.sieve.Sieve``."""

    kind: Kind = "lsm"

    def __init__(
        self,
        folder: Path,
        files: dict[str, int],
        state: dict[str, Any],
        *,
        start: int | None,
        memory: int,
        cache: int,
    ) -> None:
        self._path = folder / FOLDER
        cuts: list[int] = state.pop("cuts", [])
        sequence: int = state.pop("sequence", 0)
        self._queue = _core.SieveQueue(folder, files, state, start, cache=cache)
        with self._named_errors():
            self._database = Rdict(str(self._path), database_options(memory))
        if (found := self._database.latest_sequence_number()) < sequence:
            self._database.close()
            raise CorruptFile(f"{self._path} lost the last {sequence - found} of its writes", self._path, 0)
        with self._named_errors():
            written = self._database.get(_EPOCH)
            self._epoch = max(len(cuts), 0 if written is None else int(written) + 1)
            self._database[_EPOCH] = str(self._epoch).encode()
        self._cuts = cuts + [files.get(QUEUE, 0)] * (self._epoch - len(cuts))
        self._memory = memory
        self._collisions = 0

    def add(self, urls: list[str], tags: list[int] | None = None) -> None:
        keys, checks = self._queue.screen(urls, tags)
        try:
            with self._named_errors():
                found: Any = self._database.get(list(keys))
            is_new = [self._is_new(value, check) for value, check in zip(found, checks, strict=True)]
            offsets = iter(self._queue.accept(is_new))
            _core.fault_point("lsm.add.after-queue")
            batch = WriteBatch(raw_mode=True)
            for key, check, new in zip(keys, checks, is_new, strict=True):
                if new:
                    batch.put(key, _VALUE.pack(self._epoch, next(offsets), check))
            with self._named_errors():
                self._database.write(batch)
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
        """Every addition decides at once."""

    def checkpoint(self) -> Checkpoint:
        _core.fault_point("lsm.checkpoint.before-sync")
        with self._named_errors():
            self._database.flush_wal(sync=True)
        files, state = self._queue.checkpoint()
        # The commit cuts the present epoch at the queue's length, should it be the last one of it.
        cuts = [*self._cuts, files[QUEUE]]
        _core.fault_point("lsm.checkpoint.after-sync")
        sequence = self._database.latest_sequence_number()
        own = {"kind": self.kind, "cuts": cuts, "sequence": sequence}
        return Checkpoint({**files, FOLDER: 0}, {**state, **own})

    def stats(self) -> dict[str, Any]:
        stats = complete_stats(self.kind, self._queue.stats())
        stats["bytes"] += self._memory
        stats["collisions"] += self._collisions
        return stats

    def close(self) -> None:
        self._database.close()
        del self._queue

    @property
    def next(self) -> int:
        return self._queue.next

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    def __len__(self) -> int:
        return len(self._queue)

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """RocksDB raises bare exceptions: says which of ours each is."""
        try:
            yield
        except Exception as error:
            said = str(error)
            if "Corruption" in said or "checksum" in said or "No such file" in said:
                raise CorruptFile(f"{self._path} is damaged: {said}", self._path, 0) from None
            raise StorageError(f"{self._path}: {said}", self._path) from None


def database_options(memory: int) -> Options:
    """A quarter of the memory for the blocks read last, three quarters for what is being written."""
    tables = BlockBasedOptions()
    tables.set_bloom_filter(BLOOM_BITS, block_based=False)
    tables.set_block_cache(Cache(memory // 4))
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(tables)
    options.set_write_buffer_size(memory // 4)
    options.set_max_write_buffer_number(3)
    # Signatures are random bits: nothing to compress.
    options.set_compression_type(DBCompressionType.none())
    options.set_keep_log_file_num(2)
    # A record that a crash cut off may go; damage anywhere else may not pass as the end of the log.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return options
