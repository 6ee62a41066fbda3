"""Private: histograms of latencies, as Prometheus reads them.

A histogram is 14 counters, whatever it has seen; the relative error of a quantile read from it is at most the
distance between two bounds, a factor of 2 to 2.5.
"""

from __future__ import annotations

import threading
from bisect import bisect_left

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The upper bounds of the buckets in seconds; the last bucket has none."""


class Histogram:
    """Counts durations by bucket; may be used from several threads."""

    __slots__ = ("_lock", "counts", "total")

    def __init__(self) -> None:
        self.counts: list[int] = [0] * (len(BOUNDS) + 1)
        self.total: float = 0.0
        self._lock = threading.Lock()

    def observe(self, seconds: float) -> None:
        """Counts one duration."""
        with self._lock:
            self.counts[bisect_left(BOUNDS, seconds)] += 1
            self.total += seconds
