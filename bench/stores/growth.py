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
PLOT = Path(__file__).parents[1] / "results" / "store_growth.png"

Point = dict[str, Any]


def measure() -> Iterator[Measurement]:
    with new_folder() as folder:
        printed = subprocess.check_output([store(), "grow", folder / "c", str(ROWS)], text=True)
    points = [json.loads(line) for line in printed.splitlines()]
    plot(points)
    size = f"{ROWS / 1e6:g} M pages"
    tenth = max(len(points) // 10, 1)
    for what, unit in (("seconds", "pages/s"), ("cpu", "pages/CPU s")):
        start, end = rate(points[:tenth], what), rate(points[-tenth - 1 :], what)
        yield Measurement(f"{size}: the last tenth", end, "the first tenth", start, unit, 0.5)
    peak = points[-1]["peak"]
    yield Measurement(
        f"{size}: peak of memory", peak, "what is asked", BUDGET, "MiB", 1, smaller_is_better=True
    )
    yield Measurement(
        f"{size}: memory at the end",
        points[-1]["resident"],
        "in the middle",
        points[len(points) // 2]["resident"],
        "MiB",
    )


def rate(points: list[Point], what: str) -> float:
    """Pages per second between the first and the last point; a single one counts from nothing."""
    first = points[0] if len(points) > 1 else {"rows": 0, what: 0.0}
    return float((points[-1]["rows"] - first["rows"]) / max(points[-1][what] - first[what], 1e-9))


def plot(points: list[Point]) -> None:
    """Plots rate and memory over the number of pages."""
    import matplotlib.pyplot as pyplot

    figure, (speed, memory) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    sizes = [point["rows"] / 1e6 for point in points]
    for what, label in (("seconds", "a second"), ("cpu", "a CPU second")):
        pairs = zip([{"rows": 0, what: 0.0}, *points], points, strict=False)
        speed.plot(sizes, [rate([before, after], what) for before, after in pairs], label=label)
    memory.plot(sizes, [point["resident"] for point in points], label="memory")
    memory.axhline(BUDGET, linestyle="--", label="budget")
    for axes, title in ((speed, "pages"), (memory, "MiB")):
        axes.set(title=title, xlabel="million pages", ylim=(0, None))
        axes.legend()
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=150)
    pyplot.close(figure)
