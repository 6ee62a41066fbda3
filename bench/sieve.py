"""The sieves compared with a Python set and RocksDB, with batches of 10,000 URLs of 70 to 100 bytes.

Three of ten URLs repeat an earlier one, drawn from all of them, so that no cache helps. Every run has a
separate process on one core, and its time is that of all calls of the sieve: adding, flushing, dequeuing
everything and a checkpoint; in the comparison with the set, which has no queue, it is that of adding.
``CRIVELLO_BENCH_URLS`` is the number of URLs for mercator (default: 20 million).
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bench import Measurement

URLS = int(os.environ.get("CRIVELLO_BENCH_URLS", "20_000_000"))
PEER_URLS = min(URLS, 3_000_000)
SET_URLS = min(URLS, 5_000_000)
MEMORY = 64 * 2**20
BATCH = 10_000
REPEATS = 0.3
MIB = 2**20

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """The result of one run."""

    per_second: float
    added_per_second: float = 0.0
    grown: float = 0.0
    bytes_per_url: float = 0.0


def url(number: int) -> str:
    """The URL of a number, with the length and the shared prefixes of real URLs."""
    scattered = number * 2654435761 % 2**32
    return (
        f"https://www.site-{scattered % 9973}.example.org/section/{scattered:010d}/a-page-about-{number}.html"
    )


def batches(count: int) -> Iterator[list[str]]:
    """The URLs in batches; the new ones are those of 0, 1, 2 …"""
    chance = random.Random(2026)
    new = round(BATCH * (1 - REPEATS))
    for start in range(0, count // BATCH * new, new):
        numbers = [*range(start, start + new), *(chance.randrange(start + new) for _ in range(BATCH - new))]
        yield [url(number) for number in numbers]


@contextmanager
def new_folder() -> Iterator[Path]:
    """A collection's folder on the disk of the results, not on a RAM disk."""
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=results) as folder:
        (Path(folder) / "frontier").mkdir()
        yield Path(folder)


def resident() -> int:
    """The resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def peak() -> int:
    """The peak resident memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_sieve(kind: str, count: int) -> Run:
    """Sends URLs through a sieve and checks the output."""
    from crivello.settings import Crawl
    from crivello.sieve import open_sieve

    with new_folder() as folder:
        before = resident()
        # Only the table of the kind memory is to be measured, without a cache in front.
        sieve = open_sieve(kind, folder, memory=MEMORY, cache=0 if kind == "memory" else Crawl().sieve_cache)
        spent = 0.0
        sizes = []
        for batch in batches(count):
            started = time.perf_counter()
            sieve.add(batch)
            spent += time.perf_counter() - started
            if kind == "memory" and len(sieve) > 100_000:
                stats = sieve.stats()
                sizes.append(stats["bytes"] / stats["seen"])
        adding, taken = spent, 0
        while True:
            started = time.perf_counter()
            entries = sieve.take(BATCH)
            spent += time.perf_counter() - started
            if not entries:
                break
            assert [given for _, _, given in entries] == [url(taken + i) for i in range(len(entries))]
            taken += len(entries)
        assert taken == round(count * (1 - REPEATS))
        started = time.perf_counter()
        sieve.checkpoint()
        spent += time.perf_counter() - started
        sieve.close()
    average = sum(sizes) / len(sizes) if sizes else 0.0
    return Run(count / spent, count / adding, (peak() - before) / MIB, average)


def run_set(count: int) -> Run:
    """A Python set of hashes, which is entirely in memory and has no queue."""
    seen: set[int] = set()
    spent = 0.0
    for batch in batches(count):
        started = time.perf_counter()
        for one in batch:
            key = hash(one)
            if key not in seen:
                seen.add(key)
        spent += time.perf_counter() - started
    return Run(count / spent)


def run_rocksdb(count: int) -> Run:
    """RocksDB through rocksdict, keyed by the URL's 64-bit signature: multi-get, then a write batch."""
    from rocksdict import Rdict, WriteBatch

    from crivello import _core
    from crivello.sieve.lsm import database_options

    with new_folder() as folder:
        database = Rdict(str(folder), database_options(MEMORY))
        spent = 0.0
        for batch in batches(count):
            started = time.perf_counter()
            keys = [key.to_bytes(8, "big") for key in _core.signatures(batch)]
            write = WriteBatch(raw_mode=True)
            for key, one, known in zip(keys, batch, database.get(list(keys)) or [], strict=True):
                if known is None:
                    write.put(key, one.encode())
            database.write(write)
            spent += time.perf_counter() - started
        database.close()
    return Run(count / spent)


def alone(work: Callable[..., T], *arguments: object) -> T:
    """Runs ``work`` in a new process on one core."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_stay_on_one_core) as pool:
        return pool.submit(work, *arguments).result()


def _stay_on_one_core() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure() -> Iterator[Measurement]:
    mercator = alone(run_sieve, "mercator", URLS)
    what = f"mercator, {URLS / 1e6:g} M URLs in 64 MiB"
    yield Measurement(what, mercator.per_second, "what is asked", 1e6, "URLs/s", 1)
    yield Measurement(
        f"{what}: growth", mercator.grown, "what is asked", 120, "MiB", 1, smaller_is_better=True
    )
    rocksdb = alone(run_rocksdb, PEER_URLS)
    peer = f"rocksdict, {PEER_URLS / 1e6:g} M"
    yield Measurement("mercator", mercator.per_second, peer, rocksdb.per_second, "URLs/s", 6)
    for kind in ("offline", "bloom", "blocked-bloom", "lsm"):
        count = PEER_URLS if kind == "lsm" else SET_URLS
        yield Measurement(kind, alone(run_sieve, kind, count).per_second, peer, rocksdb.per_second, "URLs/s")
    memory = alone(run_sieve, "memory", SET_URLS)
    hashes = alone(run_set, SET_URLS)
    yield Measurement(
        f"memory, adding {SET_URLS / 1e6:g} M URLs",
        memory.added_per_second,
        "set of hash(url)",
        hashes.per_second,
        "URLs/s",
        2,
    )
    yield Measurement(
        "memory: size", memory.bytes_per_url, "what is asked", 12, "bytes/URL", 1, smaller_is_better=True
    )
