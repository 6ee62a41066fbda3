"""The table beside fjall, RocksDB (rocksdict) and SQLite, on the same rows: writing, look-ups, a scan, and the commit rule.

The rows are those of a synthetic crawl, keys of about 73 bytes and values of about 220, in the order in which a crawl would write
them. Each engine has 64 MiB for its cache and as much for buffers, compresses with LZ4 (SQLite: not at all), and
writes batches of 10,000 rows, with a sync every 100,000; its time is that of its calls and of the compaction that is
left at the end. ``CRIVELLO_BENCH_ROWS`` is the number of rows (default: 10 million); SQLite gets a million, for its rate
falls as soon as the tree outgrows the cache.

The commit rule: while the engine writes, a second process counts the rows; then the writer is killed, and the rows are
counted again. The commit is that of another file, which
says after each sync how many rows there are.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import Measurement
from bench.sieve import new_folder
from bench.stores._driver import peers, store

ROWS = int(os.environ.get("CRIVELLO_BENCH_ROWS", "10_000_000"))
SQLITE_ROWS = min(ROWS, 1_000_000)
CRASH_ROWS = 1_000_000
US = "crivello"

Figures = dict[str, Any]


def command(engine: str) -> list[str]:
    """The program that measures an engine."""
    match engine:
        case "crivello":
            return [str(store())]
        case "fjall":
            return [str(peers())]
        case _:
            return [sys.executable, "-m", "bench.stores._peer", engine]


@contextmanager
def writing(engine: str, folder: Path, rows: int) -> Iterator[subprocess.Popen[str]]:
    """The process that writes rows and prints how many there are. Ours makes the same rows itself, and a killed one reads no
    more, so the source may find its pipe closed."""
    made = [str(store()), "rows", str(rows)]
    with subprocess.Popen(made, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
        arguments = [*command(engine), "measure", str(folder), str(rows)]
        with subprocess.Popen(arguments, stdin=source.stdout, stdout=subprocess.PIPE, text=True) as process:
            if source.stdout:
                source.stdout.close()
            yield process


def figures(engine: str, rows: int) -> Figures:
    """Measures an engine."""
    with new_folder() as folder, writing(engine, folder, rows) as process:
        assert process.stdout
        told: Figures = {}
        for line in process.stdout:
            told = json.loads(line)
    assert told["rows"] == rows
    return told


def seen(engine: str, folder: Path) -> Figures:
    """What a new process finds."""
    told: Figures = json.loads(subprocess.check_output([*command(engine), "open", str(folder)], text=True))
    return told


def crash(engine: str) -> tuple[Figures, Figures]:
    """What another process sees in the middle of writing, and what is there after SIGKILL, as rows past the commit."""
    with new_folder() as folder:
        with writing(engine, folder, CRASH_ROWS) as process:
            assert process.stdout
            committed = 0
            while committed < CRASH_ROWS // 2:
                committed = json.loads(process.stdout.readline())["committed"]
            process.send_signal(signal.SIGSTOP)
            meanwhile = seen(engine, folder)
            process.send_signal(signal.SIGCONT)
            time.sleep(1)
            process.kill()
            lines = process.stdout.read().splitlines()
            committed = max([committed, *(json.loads(line).get("committed", 0) for line in lines)])
        after = seen(engine, folder)
        return meanwhile, {**after, "committed": committed}


def measure() -> Iterator[Measurement]:
    ours = {rows: figures(US, rows) for rows in {ROWS, SQLITE_ROWS}}
    for engine, rows in (("fjall", ROWS), ("rocksdb", ROWS), ("sqlite", SQLITE_ROWS)):
        yield from compared(engine, rows, ours[rows], figures(engine, rows))
    for engine in (US, "fjall", "rocksdb", "sqlite"):
        meanwhile, after = crash(engine)
        told = f"{engine}: {meanwhile.get('error') or 'a second process reads'}"
        yield Measurement(
            f"{told}; rows there after SIGKILL", after["rows"], "the commit", after["committed"], "rows"
        )


def compared(engine: str, rows: int, ours: Figures, theirs: Figures) -> Iterator[Measurement]:
    size = f"{rows / 1e6:g} M rows"

    def rate(told: Figures, *spans: str) -> float:
        return rows / float(sum(told[span] for span in spans))

    yield Measurement(
        f"writing {size}",
        rate(ours, "writing", "settling"),
        engine,
        rate(theirs, "writing", "settling"),
        "rows/s",
    )
    yield Measurement(
        f"writing {size}: CPU", ours["cpu"] / rows * 1e6, engine, theirs["cpu"] / rows * 1e6, "µs/row"
    )
    for kind in ("hit", "miss"):
        for place, name in enumerate(("median", "99 %")):
            yield Measurement(f"{kind}, {size}: {name}", ours[kind][place], engine, theirs[kind][place], "µs")
    yield Measurement(f"scanning {size}", rate(ours, "scanning"), engine, rate(theirs, "scanning"), "rows/s")
    yield Measurement(f"{size}: memory", ours["peak"], engine, theirs["peak"], "MiB")
    yield Measurement(f"{size}: disk", ours["disk"] / rows, engine, theirs["disk"] / rows, "bytes/row")
