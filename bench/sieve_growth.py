"""The cost per URL as the file of signatures grows: mercator and offline, in 64 MiB.

Signatures are fed directly, all of them new, 100,000 at a time. ``CRIVELLO_BENCH_SIGNATURES`` is their number
(default: 40 million). The plot is written to bench/results/sieve_growth.png.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import Measurement
from bench.sieve import MEMORY, MIB, alone, new_folder, peak, resident

SIGNATURES = int(os.environ.get("CRIVELLO_BENCH_SIGNATURES", "40_000_000"))
BATCH = 100_000
STEP = 10_000_000
PLOT = Path(__file__).parent / "results" / "sieve_growth.png"


@dataclass(frozen=True)
class Point:
    """The cost and memory of a sieve at a given size."""

    signatures: int
    nanoseconds: float
    grown: float


def grow(kind: str) -> list[Point]:
    """The cost of the last ten million signatures at each size."""
    import numpy

    from crivello.sieve.native import NativeSieve

    chance = numpy.random.default_rng(2026)
    points = []
    with new_folder() as folder:
        chance.integers(0, 2**64, BATCH, numpy.uint64)
        before = resident()
        sieve = NativeSieve(
            kind,
            folder,
            {},
            {},
            start=None,
            memory=MEMORY,
            cache=0,
            capacity=1,
            error=0.5,
        )
        for size in range(STEP, SIGNATURES + 1, STEP):
            spent = 0.0
            for _ in range(STEP // BATCH):
                batch = chance.integers(0, 2**64, BATCH, numpy.uint64)
                started = time.perf_counter()
                sieve.add_signatures(batch.data)
                spent += time.perf_counter() - started
            started = time.perf_counter()
            sieve.flush()
            spent += time.perf_counter() - started
            assert len(sieve) == size
            points.append(Point(size, spent / STEP * 1e9, (peak() - before) / MIB))
        sieve.close()
    return points


def measure() -> Iterator[Measurement]:
    curves = {kind: alone(grow, kind) for kind in ("mercator", "offline")}
    for ours, theirs in zip(curves["mercator"], curves["offline"], strict=True):
        size = f"{ours.signatures / 1e6:g} M signatures"
        yield Measurement(f"mercator at {size}", ours.nanoseconds, "offline", theirs.nanoseconds, "ns/URL")
        yield Measurement(f"memory at {size}", ours.grown, "offline", theirs.grown, "MiB")
    plot(curves)


def plot(curves: dict[str, list[Point]]) -> None:
    """Plots cost and memory over the size, one line per kind."""
    import matplotlib.pyplot as pyplot

    figure, (cost, memory) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for kind, points in curves.items():
        sizes = [point.signatures / 1e6 for point in points]
        cost.plot(sizes, [point.nanoseconds for point in points], marker="o", label=kind)
        memory.plot(sizes, [point.grown for point in points], marker="o", label=kind)
    for axes, title in ((cost, "ns a URL"), (memory, "MiB of memory")):
        axes.set(title=title, xlabel="million signatures in the file", ylim=(0, None))
        axes.legend()
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=150)
    pyplot.close(figure)
