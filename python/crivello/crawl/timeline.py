"""Time series of a crawl, from the samples of its progress log.

The axis is ``seconds``, the time spent crawling, without the pauses between runs. Counters only grow from
sample to sample, so the rate over any interval is the difference of the linearly interpolated counter at its
ends, whatever the spacing of the samples.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Sample = Mapping[str, Any]


class Timeline:
    """The samples of all runs, resampled to rates and levels over equal time intervals."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self._seconds = [sample["seconds"] for sample in samples]

    @property
    def seconds(self) -> float:
        """The total duration of all runs."""
        return self._seconds[-1] if self._seconds else 0.0

    @property
    def runs(self) -> list[float]:
        """The second at which each run began."""
        starts = [0.0] if self.samples else []
        for before, after in pairwise(self.samples):
            if after.get("began") != before.get("began"):
                starts.append(before["seconds"])
        return starts

    def moments(self, stretches: int) -> list[float]:
        """The midpoint of each interval, in seconds."""
        return [self.seconds * (number + 0.5) / stretches for number in range(stretches)]

    def rates(self, name: str, stretches: int) -> list[float]:
        """The growth of a counter per second in each of ``stretches`` equal intervals."""
        width = self.seconds / stretches
        if width <= 0:
            return []
        counts = [self._count(name, width * number) for number in range(stretches + 1)]
        return [(after - before) / width for before, after in pairwise(counts)]

    def levels(self, name: str, stretches: int) -> list[float]:
        """The value of a gauge at the end of each of ``stretches`` equal intervals."""
        if self.seconds <= 0:
            return []
        width = self.seconds / stretches
        ends = [bisect_right(self._seconds, width * (number + 1) + 1e-6) for number in range(stretches)]
        return [float(self.samples[max(0, end - 1)][name]) for end in ends]

    def rate_of_late(self, name: str, seconds: float) -> float:
        """The growth of a counter per second over the last ``seconds`` of the newest run."""
        if not self.samples:
            return 0.0
        start = max(self.runs[-1], self.seconds - seconds)
        if self.seconds <= start:
            return 0.0
        return (self._count(name, self.seconds) - self._count(name, start)) / (self.seconds - start)

    def _count(self, name: str, second: float) -> float:
        after = bisect_right(self._seconds, second)
        start, low = (self._seconds[after - 1], self.samples[after - 1][name]) if after else (0.0, 0)
        if after == len(self.samples):
            return float(low)
        end, high = self._seconds[after], self.samples[after][name]
        return float(low + (high - low) * (second - start) / (end - start))
