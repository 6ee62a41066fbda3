"""The rows of a crawl in RocksDB or SQLite, by the protocol of bench/peers.

    store rows N | python -m bench.stores._peer ENGINE measure FOLDER N
    python -m bench.stores._peer ENGINE open FOLDER

The first writes the rows of its standard input, prints their number after each sync, reads some, scans them all and
prints the figures as JSON; ``cpu`` is the CPU time of writing, all threads, without that of reading the input. The second prints the number of rows that a process sees, or why it sees none.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from bench.sieve import MIB, peak

MEMORY = 64 * MIB
BATCH = 10_000
COMMIT = 10
READS = 50_000

Entry = tuple[bytes, bytes]


class Engine(Protocol):
    """What is measured of an engine."""

    def write(self, batch: list[Entry]) -> None: ...

    def sync(self) -> None: ...

    def settle(self) -> None:
        """Waits until nothing is left to do in the background."""

    def get(self, key: bytes) -> bytes | None: ...

    def scan(self) -> Iterator[Entry]: ...


class RocksDB:
    """RocksDB through rocksdict, with LZ4 and a Bloom filter of 10 bits a key."""

    def __init__(self, folder: Path, *, reading: bool = False) -> None:
        from rocksdict import (
            AccessType,
            BlockBasedOptions,
            Cache,
            DBCompressionType,
            Options,
            Rdict,
        )

        options = Options(raw_mode=True)
        options.set_write_buffer_size(MEMORY // 2)
        options.set_max_write_buffer_number(2)
        options.set_compression_type(DBCompressionType.lz4())
        options.set_max_background_jobs(2)
        table = BlockBasedOptions()
        table.set_block_cache(Cache(MEMORY))
        table.set_block_size(16 * 1024)
        table.set_bloom_filter(10, False)
        table.set_cache_index_and_filter_blocks(True)
        options.set_block_based_table_factory(table)
        access = AccessType.read_only() if reading else AccessType.read_write()
        self._database = Rdict(str(folder / "rocksdb"), options, access_type=access)

    def write(self, batch: list[Entry]) -> None:
        from rocksdict import WriteBatch

        write = WriteBatch(raw_mode=True)
        for key, value in batch:
            write.put(key, value)
        self._database.write(write)

    def sync(self) -> None:
        self._database.flush_wal(sync=True)

    def settle(self) -> None:
        self._database.flush()
        while any(
            int(self._database.property_value(f"rocksdb.{left}") or 0)
            for left in ("num-running-compactions", "num-running-flushes", "compaction-pending")
        ):
            time.sleep(0.1)

    def get(self, key: bytes) -> bytes | None:
        return self._database.get(key)

    def scan(self) -> Iterator[Entry]:
        entries: Any = self._database.items()
        return iter(entries)


class SQLite:
    """A table WITHOUT ROWID, so that the rows are in the tree of the keys, with a write-ahead log."""

    def __init__(self, folder: Path, *, reading: bool = False) -> None:
        self._connection = sqlite3.connect(folder / "sqlite", isolation_level=None)
        self._connection.execute(f"PRAGMA cache_size = -{MEMORY // 1024}")
        if not reading:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )

    def write(self, batch: list[Entry]) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", batch)
        self._connection.execute("COMMIT")

    def sync(self) -> None:
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def settle(self) -> None:
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def get(self, key: bytes) -> bytes | None:
        found: Entry | None = self._connection.execute(
            "SELECT key, value FROM rows WHERE key = ?", (key,)
        ).fetchone()
        return found and found[1]

    def scan(self) -> Iterator[Entry]:
        return self._connection.execute("SELECT key, value FROM rows ORDER BY key")


def opened(engine: str, folder: Path, *, reading: bool = False) -> Engine:
    return RocksDB(folder, reading=reading) if engine == "rocksdb" else SQLite(folder, reading=reading)


def entries(source: BinaryIO) -> Iterator[Entry]:
    """The rows of the input."""
    while lengths := source.read(6):
        key = source.read(int.from_bytes(lengths[:2], "little"))
        yield key, source.read(int.from_bytes(lengths[2:], "little"))


def batches(source: BinaryIO) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries(source):
        batch.append(entry)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def latencies(engine: Engine, keys: list[bytes], *, expected: bool) -> list[float]:
    """The median and the 99th percentile of the look-ups, in microseconds."""
    spent = []
    for key in keys:
        started = time.perf_counter()
        found = engine.get(key)
        spent.append((time.perf_counter() - started) * 1e6)
        assert (found is not None) == expected
    spent.sort()
    return [spent[len(spent) // 2], spent[len(spent) * 99 // 100]]


def measure(engine: Engine, folder: Path, rows: int) -> dict[str, object]:
    sample: list[bytes] = []
    written, writing = 0, 0.0
    reading = -time.thread_time()
    before = time.process_time()
    for number, batch in enumerate(batches(sys.stdin.buffer), 1):
        sample += [key for key, _ in batch[:: max(rows // READS, 1)]]
        reading += time.thread_time()
        started = time.perf_counter()
        engine.write(batch)
        if number % COMMIT == 0:
            engine.sync()
        writing += time.perf_counter() - started
        written += len(batch)
        reading -= time.thread_time()
        if number % COMMIT == 0:
            print(json.dumps({"committed": written}), flush=True)
    reading += time.thread_time()
    started = time.perf_counter()
    engine.settle()
    settling = time.perf_counter() - started
    processor = time.process_time() - before - reading

    random.Random(2026).shuffle(sample)
    hit = latencies(engine, sample, expected=True)
    miss = latencies(engine, [key[:-9] + b"x" for key in sample], expected=False)
    started = time.perf_counter()
    scanned = size = 0
    for key, value in engine.scan():
        scanned += 1
        size += len(key) + len(value)
    scanning = time.perf_counter() - started
    return {
        "rows": scanned,
        "bytes": size,
        "writing": writing,
        "settling": settling,
        "hit": hit,
        "miss": miss,
        "scanning": scanning,
        "cpu": processor,
        "peak": peak() / MIB,
        "disk": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
    }


def main() -> None:
    name, task, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if task == "measure":
        print(json.dumps(measure(opened(name, folder), folder, int(sys.argv[4]))))
        return
    try:
        print(json.dumps({"rows": sum(1 for _ in opened(name, folder, reading=True).scan())}))
    except Exception as error:
        print(json.dumps({"error": str(error)}))


if __name__ == "__main__":
    main()
