"""Search among SimHashes within a few bits: in memory, on disk, and all pairs; each run in a process of its own.

    python -m bench._hamming table|file|pairs COUNT DISTANCE

prints what it measured as JSON. The SimHashes are random, as those of different texts are; of the queries half are random
and half are among them with one to ``DISTANCE`` bits flipped. ``CRIVELLO_BENCH_SIMHASHES`` is the number of SimHashes
(default 10,000,000).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import Measurement, seconds
from bench._limit import memory_limit
from crivello.dedup import HammingFile, HammingTable
from crivello.dedup.hamming import Nearest

COUNT = int(os.environ.get("CRIVELLO_BENCH_SIMHASHES", "10000000"))
JOINED = COUNT // 10
INDEXED = 50_000
QUERIES = 100_000
QUERIES_OF_FILE = 20_000
COMPARED = 50
MEMORY = 64 << 20
MIB = 1 << 20


def made(count: int, distance: int, queries: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    random = np.random.default_rng(count)
    known = random.integers(0, 2**64, count, np.uint64)
    asked = random.integers(0, 2**64, queries, np.uint64)
    near = known[random.integers(0, count, queries // 2)]
    flips = random.integers(1, distance + 1, len(near))
    for flip in range(distance):
        bits = np.uint64(1) << random.integers(0, 64, len(near), np.uint64)
        near = np.where(flips > flip, near ^ bits, near)
    asked[::2] = near
    return known, asked


def brute_force(known: NDArray[np.uint64], asked: NDArray[np.uint64], distance: int) -> list[tuple[int, int]]:
    """The nearest of each by comparing it with all."""
    found = []
    for word in asked:
        distances = np.bitwise_count(known ^ word)
        index = int(distances.argmin())
        near = int(distances[index])
        found.append((index, near) if near <= distance else (-1, -1))
    return found


def clocked(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def resident() -> int:
    """The memory that is not of mapped files, which the operating system takes back when it needs it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) << 10


def table(count: int, distance: int) -> dict[str, float]:
    """Building on all threads, searching with as many as RAYON_NUM_THREADS says, and what is wrong."""
    known, asked = made(count, distance, QUERIES)
    building = clocked(lambda: HammingTable(known, distance=distance))
    built = HammingTable(known, distance=distance)
    found = built.nearest(asked)
    searching = seconds(lambda: built.nearest(asked))
    few = asked[:COMPARED]
    comparing = clocked(lambda: brute_force(known, few, distance))
    expected = brute_force(known, few, distance)
    wrong = sum(
        one != (int(index), int(near))
        for one, index, near in zip(expected, found.index[:COMPARED], found.distance[:COMPARED], strict=True)
    )
    return {
        "building": count / building,
        "searching": len(asked) / searching,
        "brute force": len(few) / comparing,
        "wrong": wrong,
        "bytes": built.nbytes / count,
        "tables": len(built.layout),
    }


def file(count: int, distance: int) -> dict[str, float]:
    """Writing, and searching in a process that has the file mapped: with all of it in the file cache, and with little."""
    known, asked = made(count, distance, QUERIES_OF_FILE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hashes.run"
        writing = clocked(lambda: HammingFile.write(path, known, distance=distance, memory=MEMORY))
        expected = brute_force(known, asked[:COMPARED], distance)
        size = path.stat().st_size
        found, searching, memory, tables = searched(path, asked)
        forget(path)
        with memory_limit(MEMORY) as is_limited:
            limited = clocked(lambda: HammingFile(path).nearest(asked)) if is_limited else 0
    wrong = sum(
        one != (int(index), int(near))
        for one, index, near in zip(expected, found.index[:COMPARED], found.distance[:COMPARED], strict=True)
    )
    return {
        "writing": count / writing,
        "searching": len(asked) / searching,
        "limited": len(asked) / limited if limited else 0,
        "wrong": wrong,
        "bytes": size / count,
        "memory": memory / MIB,
        "tables": tables,
    }


def searched(path: Path, asked: NDArray[np.uint64]) -> tuple[Nearest, float, int, int]:
    """What is found in a file, the seconds of the second time, the memory that it takes, and the number of tables."""
    before = resident()
    opened = HammingFile(path)
    found = opened.nearest(asked)
    searching = clocked(lambda: opened.nearest(asked))
    return found, searching, max(0, resident() - before), len(opened.layout)


def forget(path: Path) -> None:
    """Takes a file out of the file cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def pairs(count: int, distance: int) -> dict[str, float]:
    """All pairs, on all threads."""
    known, asked = made(count, distance, 2000)
    given = np.concatenate([known, asked])
    built = HammingTable(given, distance=distance)
    return {"seconds": clocked(built.pairs), "pairs": len(built.pairs().one)}


def told(kind: str, count: int, distance: int, threads: int = 0) -> dict[str, float]:
    environment = {**os.environ, **({"RAYON_NUM_THREADS": str(threads)} if threads else {})}
    command = [sys.executable, "-m", "bench._hamming", kind, str(count), str(distance)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def peer(distance: int) -> tuple[float, float]:
    """SimHashes a second that the index of the PyPI package takes, and queries a second, among few of them."""
    from simhash import Simhash, SimhashIndex

    known, asked = made(INDEXED, distance, 400)
    objects = [(str(number), Simhash(int(word))) for number, word in enumerate(known)]
    queries = [Simhash(int(word)) for word in asked]
    index = SimhashIndex([], k=distance)
    building = clocked(lambda: [index.add(name, one) for name, one in objects])
    searching = clocked(lambda: [index.get_near_dups(one) for one in queries])
    return len(known) / building, len(queries) / searching


def measure() -> Iterator[Measurement]:
    package = f"simhash's index of {INDEXED:,}"
    for distance in (3, 5):
        added, answered = peer(distance)
        one, all_threads = told("table", COUNT, distance, 1), told("table", COUNT, distance)
        what = f"Hamming, k = {distance}, {COUNT:,} ({one['tables']:.0f} tables)"
        asked = 1.0 if distance == 3 else None
        yield Measurement(f"{what}: one core", one["searching"], "asked", 100_000, "queries/s", asked)
        yield Measurement(f"{what}: one core", one["searching"], package, answered, "queries/s")
        yield Measurement(
            f"{what}: one core", one["searching"], "brute force", one["brute force"], "queries/s"
        )
        yield Measurement(f"{what}: building", all_threads["building"], "asked", 5e6, "SimHashes/s", asked)
        yield Measurement(f"{what}: building", all_threads["building"], package, added, "SimHashes/s")
        yield Measurement(f"{what}: wrong of compared", one["wrong"], "of", COMPARED, "answers", 0, True)
        yield Measurement(f"{what}: memory", one["bytes"], "a SimHash", 8, "bytes")
        disk = told("file", COUNT, distance, 1)
        what = f"Hamming on disk, k = {distance}, {COUNT:,} ({disk['tables']:.0f} tables)"
        yield Measurement(f"{what}: one core", disk["searching"], "asked", 10_000, "queries/s", asked)
        if disk["limited"]:
            name = f"{what}: opened and asked with {MEMORY / MIB:.0f} MiB for its {disk['bytes'] * COUNT / MIB:.0f} in the file cache"
            yield Measurement(name, disk["limited"], "asked", 10_000, "queries/s", asked)
        yield Measurement(
            f"{what}: memory of searching", disk["memory"], "asked", MEMORY / MIB, "MiB", 1, True
        )
        yield Measurement(
            f"{what}: writing", disk["writing"], "in memory", all_threads["building"], "SimHashes/s"
        )
        yield Measurement(f"{what}: wrong of compared", disk["wrong"], "of", COMPARED, "answers", 0, True)
        yield Measurement(f"{what}: size", disk["bytes"], "a SimHash", 8, "bytes")
        joined = told("pairs", JOINED, distance)
        what = f"Hamming, all {joined['pairs']:,.0f} pairs within {distance} of {JOINED:,}"
        yield Measurement(what, joined["seconds"], "asked", 10, "s", 1, True)


if __name__ == "__main__":
    kind, count, distance = sys.argv[1:]
    print(json.dumps({"table": table, "file": file, "pairs": pairs}[kind](int(count), int(distance))))
