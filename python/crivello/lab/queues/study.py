"""Measures the throughput of every queue over the number of threads.

A round must be long against a time slice of the scheduler, some milliseconds: otherwise the threads may run one after the other, and
the fastest round is one without contention. So a round lasts about a quarter of a second, and the median round counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import msgspec

from crivello import _core
from crivello.errors import InvalidArgument

QUEUES: dict[str, str] = dict(_core.choices()["queue"])

_ROUNDS = 3
_SECONDS = 0.25
# They take some milliseconds, of which the number for a round follows.
_FIRST_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class Row:
    """A queue under so many threads; ``seconds`` are the median of three rounds."""

    queue: str
    threads: int
    operations: int
    seconds: float

    @property
    def operations_per_second(self) -> float:
        return self.operations / self.seconds

    @property
    def nanoseconds(self) -> float:
        """The time between two operations of the queue, of any thread."""
        return 1e9 * self.seconds / self.operations


@dataclass(frozen=True, slots=True)
class Study:
    """The rows by number of threads, then by queue; ``processors`` are those of this machine."""

    processors: int
    rows: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        rows = [
            {**msgspec.to_builtins(row), "operations_per_second": row.operations_per_second}
            for row in self.rows
        ]
        return {"processors": self.processors, "rows": rows}


def study(
    threads: Sequence[int] = (1, 2, 4, 8),
    *,
    pairs: int | None = None,
    queues: Sequence[str] = tuple(QUEUES),
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Shares ``pairs`` pairs of a push and a pop among the threads, for each queue and number of threads; ``None``: as many
    as take about a quarter of a second."""
    if not threads or min(threads) < 1 or (pairs is not None and pairs < max(threads)):
        raise InvalidArgument("a study takes at least one thread, and a pair for each")
    wanted = [(queue, count) for count in threads for queue in queues]
    rows = []
    for done, (queue, count) in enumerate(wanted, 1):
        each = _enough(queue, count) if pairs is None else pairs // count
        seconds = median(_core.queue_seconds(queue, count, each) for _ in range(_ROUNDS))
        rows.append(Row(queue, count, 2 * each * count, seconds))
        if progress is not None:
            progress(done, len(wanted))
    return Study(os.cpu_count() or 1, rows)


def _enough(queue: str, threads: int) -> int:
    """The pairs of each thread that take about a quarter of a second."""
    each = max(1, _FIRST_PAIRS // threads)
    return math.ceil(each * max(1, _SECONDS / _core.queue_seconds(queue, threads, each)))
