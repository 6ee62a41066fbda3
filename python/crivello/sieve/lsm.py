"""The ``lsm`` sieve: signatures in RocksDB, looked up and written in batches.

A log-structured merge tree keeps sorted levels on disk, each several times larger than the one above it, and
a Bloom filter for each file, so that looking up an unseen signature mostly costs no disk access; memory
is fixed (write buffers and block cache), and a URL costs about 24 bytes on disk, rewritten several times
as the levels are merged (write amplification). From the notes' section 2.3 (O'Neil et al., *The
log-structured merge-tree*, 1996).

If RocksDB has fewer writes than were committed (by its sequence number), it is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crivello._core import Layout
from crivello._extras import optional
from crivello.errors import CorruptFile, StorageError
from crivello.sieve import Checkpoint
from crivello.sieve.stored import Entry, StoredSieve

with optional():
    from rocksdict import (
        BlockBasedIndexType,
        BlockBasedOptions,
        Cache,
        DBCompressionType,
        DBRecoveryMode,
        Options,
        Rdict,
        WriteBatch,
        WriteBufferManager,
    )

FOLDER = Layout.LSM
BLOOM_BITS = 10
OPEN_FILES = 256
IO_BUFFER = 256 * 2**10
SMALLEST_FILE = 2 * 2**20


class RocksStore:
    """See ``crivello.extend.Sieve``."""

    def __init__(self, path: Path, memory: int, sequence: int) -> None:
        self._path = path
        with self._named_errors():
            self._database = Rdict(str(path), database_options(memory))
        if (found := self.sequence) < sequence:
            self.close()
            raise CorruptFile(f"{path} lost the last {sequence - found} of its writes", path, 0)

    @property
    def sequence(self) -> int:
        """The sequence number of the last write."""
        return self._database.latest_sequence_number()

    def get(self, keys: list[bytes]) -> Sequence[bytes | None]:
        with self._named_errors():
            found: Any = self._database.get([*keys])
        values: Sequence[bytes | None] = found
        return values

    def put(self, entries: list[Entry]) -> None:
        batch = WriteBatch(raw_mode=True)
        for key, value in entries:
            batch.put(key, value)
        with self._named_errors():
            self._database.write(batch)

    def sync(self) -> None:
        with self._named_errors():
            self._database.flush_wal(sync=True)

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Maps RocksDB's bare exceptions to ours."""
        try:
            yield
        except Exception as error:
            said = str(error)
            if "Corruption" in said or "checksum" in said or "No such file" in said:
                raise CorruptFile(f"{self._path} is damaged: {said}", self._path, 0) from None
            raise StorageError(f"{self._path}: {said}", self._path) from None


class LsmSieve(StoredSieve):
    """See ``crivello.sieve.Sieve``."""

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
        sequence: int = state.pop("sequence", 0)

        def open_store() -> RocksStore:
            self._rocks = RocksStore(folder / FOLDER, memory, sequence)
            return self._rocks

        super().__init__("lsm", folder, files, state, open_store, home=FOLDER, start=start, cache=cache)
        self._memory = memory

    def checkpoint(self) -> Checkpoint:
        checkpoint = super().checkpoint()
        return Checkpoint(checkpoint.files, {**checkpoint.state, "sequence": self._rocks.sequence})

    def stats(self) -> dict[str, Any]:
        stats = super().stats()
        stats["bytes"] += self._memory
        return stats

    def close(self) -> None:
        self._rocks.close()
        super().close()


def database_options(memory: int) -> Options:
    """Options by which RocksDB stays within ``memory`` bytes, whatever the number of keys.

    Three quarters are a cache to which everything of lasting size is charged: data blocks, index and filter blocks,
    and the write buffers. Index and filter are partitioned, so that only their parts in use are in the cache. The
    rest is for merges, which build the index and the filter of a file in memory: files are small at first,
    and twice as large from level to level, so that there are not too many either.
    """
    cache = Cache(memory * 3 // 4)
    tables = BlockBasedOptions()
    tables.set_block_cache(cache)
    tables.set_bloom_filter(BLOOM_BITS, block_based=False)
    tables.set_index_type(BlockBasedIndexType.two_level_index_search())
    tables.set_partition_filters(True)
    tables.set_metadata_block_size(4096)
    tables.set_cache_index_and_filter_blocks(True)
    tables.set_pin_top_level_index_and_filter(True)
    tables.set_pin_l0_filter_and_index_blocks_in_cache(True)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(tables)
    buffers = memory // 4
    options.set_write_buffer_manager(
        WriteBufferManager.new_write_buffer_manager_with_cache(buffers, False, cache)
    )
    options.set_write_buffer_size(buffers // 2)
    options.set_max_write_buffer_number(2)
    options.set_target_file_size_base(max(buffers, SMALLEST_FILE))
    options.set_target_file_size_multiplier(2)
    options.set_max_open_files(OPEN_FILES)
    options.set_compaction_readahead_size(IO_BUFFER)
    options.set_writable_file_max_buffer_size(IO_BUFFER)
    # Signatures are random bits, so compression is useless.
    options.set_compression_type(DBCompressionType.none())
    options.set_keep_log_file_num(2)
    # A record torn by a crash may be dropped; damage elsewhere must not pass for the end of the
    # write-ahead log.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return options
