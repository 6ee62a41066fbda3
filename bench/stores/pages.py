"""Single pages by their URL: their row (``page``) and their record (``record``), cold and warm.

10,000 URLs are drawn from the collection of ``CRIVELLO_BENCH_CRAWL``; if that is not set, from 50,000 synthetic pages that are
written through the page store. Cold: the page cache is dropped for every file of the collection before each 100
URLs; the collection stays open, as in a server.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import Measurement
from bench.sieve import new_folder
from bench.stores._driver import write_pages
from crivello import Collection
from crivello._core import Row

PAGES = 50_000
READS = 10_000
COLD = 100


def measure() -> Iterator[Measurement]:
    with collection() as folder, Collection(folder) as opened:
        rows = [row for row in opened.pages() if row.length]
        chosen = random.Random(2026).choices(rows, k=READS)
        for what, read in (
            ("page(url)", lambda row: opened.page(row.url)),
            ("page(url) and its record", lambda row: opened.record(page_of(opened, row))),
        ):
            for how, dropped in (("cold", COLD), ("warm", 0)):
                median, last = latencies(folder, chosen, read, dropped)
                name = f"{what}, {how}, {len(rows):,} pages"
                yield Measurement(
                    f"{name}: median", median, "what is asked", 1, "ms", 1, smaller_is_better=True
                )
                yield Measurement(f"{name}: 99 %", last, "its median", median, "ms")


@contextmanager
def collection() -> Iterator[Path]:
    """A collection of crawled pages, or of synthetic ones."""
    if given := os.environ.get("CRIVELLO_BENCH_CRAWL"):
        yield Path(given)
        return
    with new_folder() as folder:
        write_pages(folder / "c", PAGES)
        yield folder / "c"


def page_of(opened: Collection, row: Row) -> Row:
    found = opened.page(row.url)
    assert found == row
    return found


def latencies(
    folder: Path, rows: list[Row], read: Callable[[Row], object], dropped: int
) -> tuple[float, float]:
    """The median and the 99th percentile, in milliseconds."""
    spent = []
    for number, row in enumerate(rows):
        if dropped and number % dropped == 0:
            forget(folder)
        started = time.perf_counter()
        found = read(row)
        spent.append((time.perf_counter() - started) * 1e3)
        assert found is not None
    spent.sort()
    return spent[len(spent) // 2], spent[len(spent) * 99 // 100]


def forget(folder: Path) -> None:
    """Drops the files of a folder from the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
