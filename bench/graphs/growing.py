"""The graph of a collection that grows: a full build of 10 M links, and then 1 % more pages.

Pages are on hosts of 200; three quarters of their links stay on the host, the others go to any page, mostly to
the popular ones. One page in a hundred is crawled later than the others, whose links to it are known by then.

The full build makes the base, in files, of the logs of the first pages. Then the logs have 1 % more pages, and
the update is what it takes to have the grown graph: reading the new rows and links, numbering all nodes, finding
the links from older pages to the new ones among the pending links of the base, and resolving the new pages'
links. The base with the committed logs is that graph on disk, so nothing else is written. Decoding all arcs into
memory, which measures need and a graph that has not grown needs as well, is not part of it: the update is the
time of loading the grown graph less that of loading the one before. Both are shown, and the merging of base and
new pages into the next base, which comes after an eighth more links. All are CPU times, of all threads.
"""

from __future__ import annotations

import multiprocessing
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench import Measurement
from crivello import _core
from crivello._core import Layout

PAGES = 500_000
LINKS_A_PAGE = 20
A_HOST = 200
SHARE = 100
ASKED = 0.05


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for part in Layout.PARTS:
            (folder / part).mkdir()
        before, after = _logs(folder)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
            peak = fresh.submit(_peak, folder, before).result()
        full = _cpu_seconds(lambda: _core.write_page_graph(folder, None, before, 1), times=2)
        files = _core.write_page_graph(folder, None, before, 2)
        base = (2, before[Layout.ROWS], before[Layout.LINKS])
        loaded = _cpu_seconds(lambda: _core.page_graph(folder, base, before | files))
        grown = _cpu_seconds(lambda: _core.page_graph(folder, base, after | files))
        merged = _cpu_seconds(lambda: _core.write_page_graph(folder, base, after | files, 3), times=2)
        arcs, _ = _core.page_graph(folder, base, after | files)
        expected, _ = _core.page_graph(folder, None, after)
        if not all(
            np.array_equal(one, other) for one, other in zip(_lists(arcs), _lists(expected), strict=True)
        ):
            raise AssertionError("the grown graph differs from the one built at once")
        size = f"{arcs.arcs / 1e6:.1f} M links"
        yield Measurement(
            f"1 % more pages, {size}", grown - loaded, "full build", full, "s", ASKED, smaller_is_better=True
        )
        for what, taken in (("loading it, before", loaded), ("loading it, grown", grown)):
            yield Measurement(what, taken, "full build", full, "s", smaller_is_better=True)
        yield Measurement("merging them", merged, "full build", full, "s", smaller_is_better=True)
        log = before[Layout.LINKS] / 2**20
        yield Measurement("peak of the full build", peak, "log of links", log, "MiB", smaller_is_better=True)


def _peak(folder: Path, committed: dict[str, int]) -> float:
    """The memory that a full build adds to that of the process, in MiB; the process is a fresh one."""
    before = _high_water()
    _core.write_page_graph(folder, None, committed, 4)
    return (_high_water() - before) / 2**10


def _high_water() -> int:
    """The most memory this process has had, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def _cpu_seconds(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of several runs, which other load disturbs less than their duration."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def _lists(arcs: _core.Arcs) -> tuple[NDArray[Any], NDArray[Any]]:
    offsets, targets, _ = arcs.csr()
    return np.asarray(offsets), np.asarray(targets)


def _logs(folder: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Writes the logs; returns their lengths before and after the last pages."""
    random = np.random.default_rng(1)
    urls = [f"http://host{page // A_HOST}.example/folder/page-{page}.html" for page in range(PAGES)]
    signatures = np.array(_core.signatures(urls), dtype="<u8")
    late = np.zeros(PAGES, dtype=bool)
    late[random.choice(PAGES, PAGES // SHARE, replace=False)] = True
    lengths = []
    with (folder / Layout.ROWS).open("wb") as rows, (folder / Layout.LINKS).open("wb") as links:
        rows.write(_header(b"ROWS"))
        links.write(_header(b"LINK"))
        for pages in (np.flatnonzero(~late), np.flatnonzero(late)):
            own = pages // A_HOST * A_HOST
            near = own[:, None] + random.integers(0, A_HOST, (len(pages), LINKS_A_PAGE))
            far = (PAGES * random.random((len(pages), LINKS_A_PAGE)) ** 3).astype(np.int64)
            targets = signatures[np.where(random.random(near.shape) < 0.75, near, far)]
            for page, its_targets in zip(pages, targets, strict=True):
                key = struct.pack("<Q", int(signatures[page]))
                links.write(_record(key, its_targets.tobytes()))
                row = [urls[page], "fetched", 0, 0.0, 200, "text/html", "0" * 32]
                rows.write(_record(key, msgspec.msgpack.encode(row)))
            lengths.append({Layout.ROWS: rows.tell(), Layout.LINKS: links.tell()})
    return lengths[0], lengths[1]


def _header(kind: bytes) -> bytes:
    return struct.pack("<4s4sII", b"CRVL", kind, 2, 0)


def _record(key: bytes, payload: bytes) -> bytes:
    return struct.pack("<II", len(payload), zlib.crc32(key + payload)) + key + payload
