"""Duplicate detection while crawling as the crawl grows: time per page and memory over the number of pages.

Synthetic pages are fed to the maps of texts and of fingerprints, on disk, with the memory that a crawl gives them by
default (``crates/core/benches/originals.rs``). ``CRIVELLO_BENCH_PAGES`` is their number (default: 5 million). The plot is
written to bench/results/dedup_growth.svg.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import Measurement
from bench.stores._driver import originals

PAGES = int(os.environ.get("CRIVELLO_BENCH_PAGES", "5_000_000"))
DISTANCE = 8
MEMORY = 48
PLOT = Path(__file__).parent / "results" / "dedup_growth.svg"


def measure() -> Iterator[Measurement]:
    points = grow()
    tenth = points[len(points) // 10]
    last = points[-1]
    size, early = f"{last['pages'] / 1e6:g} M pages", f"at {tenth['pages'] / 1e6:g} M"
    yield Measurement(f"memory at {size}", last["resident"], early, tenth["resident"], "MiB", 1.25, True)
    yield Measurement(f"a page at {size}", last["micros"], early, tenth["micros"], "µs", None, True)
    yield Measurement(f"copies found among {size}", last["found"], "copies", last["copies"], "pages", 1.0)
    plot(points)


def grow() -> list[dict[str, Any]]:
    """Time and memory at a hundred sizes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(originals()), folder, str(PAGES), str(DISTANCE), str(MEMORY)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plot(points: list[dict[str, Any]]) -> None:
    """Plots time and memory over the number of pages."""
    import matplotlib.pyplot as pyplot

    figure, (cost, memory) = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    sizes = [point["pages"] / 1e6 for point in points]
    cost.plot(sizes, [point["processor"] for point in points])
    memory.plot(sizes, [point["resident"] for point in points])
    for axes, title in ((cost, "µs of processor time a page"), (memory, "MiB of memory")):
        axes.set(title=title, xlabel="million pages", ylim=(0, None))
    PLOT.parent.mkdir(exist_ok=True)
    with pyplot.rc_context({"svg.fonttype": "none"}):
        figure.savefig(PLOT)
    pyplot.close(figure)
