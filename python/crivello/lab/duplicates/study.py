"""Runs a study, from its stream to its report."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crivello._extras import optional
from crivello.errors import StorageError
from crivello.lab.duplicates import report, results
from crivello.lab.duplicates.grid import Grid
from crivello.lab.duplicates.runs import Run, run_all, truth_of
from crivello.lab.duplicates.stream import Stream

with optional():
    import duckdb

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a study; ``runs`` are in grid order."""

    elements: int
    distinct: int
    runs: list[Run]
    seconds: float
    report: Path
    database: Path

    def best(self, filter: str) -> Run:
        """The combination with the largest F1."""
        return max(
            (run for run in self.runs if run.combination.filter == filter), key=lambda run: run.whole.f1 or 0
        )

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return {
            "elements": self.elements,
            "distinct": self.distinct,
            "combinations": len(self.runs),
            "seconds": self.seconds,
            "best": {kind: _summary(self.best(kind)) for kind in ("bloom", "stable")},
            "report": str(self.report),
            "database": str(self.database),
        }


def _summary(run: Run) -> dict[str, Any]:
    one = run.combination
    return {
        "cells": one.cells,
        "k": one.k,
        "max": one.max,
        "p": one.p,
        **run.whole.to_dict(),
        "seconds": run.seconds,
    }


def study(
    stream: Stream,
    grid: Grid,
    folder: str | Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Runs the grid over the stream and writes database, plots and report to the folder."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    started = time.perf_counter()
    truth = truth_of(stream)
    distinct = int(np.count_nonzero(~truth))
    combinations = grid.combinations(distinct)
    done = itertools.count(1)

    def one_more() -> None:
        if progress is not None:
            progress(next(done), len(combinations))

    runs = run_all(stream, truth, combinations, seed, one_more)
    try:
        database = results.save(folder, stream, distinct, runs)
        written = report.write(folder, time.perf_counter() - started)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    except duckdb.Error as error:
        raise StorageError(f"{folder}: the results could not be kept: {error}", folder) from None
    return Outcome(len(stream), distinct, runs, time.perf_counter() - started, written, database)
