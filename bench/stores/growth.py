"""Time and memory of the page store as a crawl grows: ``CRIVELLO_BENCH_ROWS`` pages (default: 10 million), without records.

Everything else that a page leaves behind is written, with a commit every 100,000 pages: the journal, the table, exact and near
duplicates, links, anchors, decisions. The logs that the writer does not read again are punched out behind it, so that a
hundred million pages need the disk of the sorted runs only. The plot is written to bench/results/store_growth.png.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import Measurement
from bench.sieve import new_folder
from bench.stores._driver import store
from bench.stores.engines import ROWS

BUDGET = 512
DISTANCES = {"near-duplicates looked for": 3, "exact duplicates only": 0}
"""The largest distance of near-duplicates."""
PLOT = Path(__file__).parents[1] / "results" / "store_growth.png"

Point = dict[str, Any]


def measure() -> Iterator[Measurement]:
    curves = {name: grow(distance) for name, distance in DISTANCES.items()}
    plot(curves)
    for name, points in curves.items():
        what = f"{ROWS / 1e6:g} M pages, {name}"
        tenth = max(len(points) // 10, 1)
        for clock, unit in (("seconds", "pages/s"), ("cpu", "pages/CPU s")):
            start, end = rate(points[:tenth], clock), rate(points[-tenth - 1 :], clock)
            yield Measurement(f"{what}: the last tenth", end, "the first tenth", start, unit, 0.5)
        peak, middle = points[-1]["peak"], points[len(points) // 2]
        yield Measurement(
            f"{what}: peak of memory", peak, "what is asked", BUDGET, "MiB", 1, smaller_is_better=True
        )
        yield Measurement(
            f"{what}: memory at the end", points[-1]["resident"], "in the middle", middle["resident"], "MiB"
        )


def grow(distance: int) -> list[Point]:
    """Time and memory at each hundredth of the pages."""
    with new_folder() as folder:
        command = [str(store()), "grow", str(folder / "c"), str(ROWS), str(distance)]
        printed = subprocess.check_output(command, text=True)
    return [json.loads(line) for line in printed.splitlines()]


def rate(points: list[Point], what: str) -> float:
    """Pages per second between the first and the last point; a single one counts from nothing."""
    first = points[0] if len(points) > 1 else {"rows": 0, what: 0.0}
    return float((points[-1]["rows"] - first["rows"]) / max(points[-1][what] - first[what], 1e-9))


def plot(curves: dict[str, list[Point]]) -> None:
    """Plots rate and memory over the number of pages."""
    import matplotlib.pyplot as pyplot

    figure, (speed, memory) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, points in curves.items():
        sizes = [point["rows"] / 1e6 for point in points]
        pairs = zip([{"rows": 0, "cpu": 0.0}, *points], points, strict=False)
        speed.plot(sizes, [rate([before, after], "cpu") for before, after in pairs], label=name)
        memory.plot(sizes, [point["resident"] for point in points], label=name)
    memory.axhline(BUDGET, linestyle="--", label="budget")
    for axes, title in ((speed, "pages a CPU second"), (memory, "MiB of memory")):
        axes.set(title=title, xlabel="million pages", ylim=(0, None))
        axes.legend()
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=150)
    pyplot.close(figure)
