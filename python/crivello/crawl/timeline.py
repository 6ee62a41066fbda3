"""How a crawl went over time, from the samples of its progress.

The axis is ``seconds``, the time that was spent crawling: pauses between runs take no place on it. Counts
only grow from sample to sample, so the rate over any stretch is their difference by linear interpolation,
however far the samples are apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Sample = Mapping[str, Any]

_PAUSE = 1.0
# These begin at zero in each run.
_OF_A_RUN = ("fetch_micros", "parse_micros", "write_micros")


class Timeline:
    """The samples of all runs, as rates and levels over equal stretches of time."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples
        self._seconds = [sample["seconds"] for sample in samples]

    @property
    def seconds(self) -> float:
        """How long it took, all runs together."""
        return self._seconds[-1] if self._seconds else 0.0

    @property
    def runs(self) -> list[float]:
        """At which second each run began."""
        starts = [0.0] if self.samples else []
        for before, after in pairwise(self.samples):
            paused = after["time"] - before["time"] - (after["seconds"] - before["seconds"])
            if paused > _PAUSE or any(after[name] < before[name] for name in _OF_A_RUN):
                starts.append(before["seconds"])
        return starts

    def moments(self, stretches: int) -> list[float]:
        """The second in the middle of each stretch."""
        return [self.seconds * (number + 0.5) / stretches for number in range(stretches)]

    def rates(self, name: str, stretches: int) -> list[float]:
        """How much a count grew per second in each of so many equal stretches."""
        width = self.seconds / stretches
        if width <= 0:
            return []
        counts = [self._count(name, width * number) for number in range(stretches + 1)]
        return [(after - before) / width for before, after in pairwise(counts)]

    def levels(self, name: str, stretches: int) -> list[float]:
        """How high a gauge stood at the end of each of so many equal stretches."""
        if self.seconds <= 0:
            return []
        width = self.seconds / stretches
        ends = [bisect_right(self._seconds, width * (number + 1) + 1e-6) for number in range(stretches)]
        return [float(self.samples[max(0, end - 1)][name]) for end in ends]

    def rate_of_late(self, name: str, seconds: float) -> float:
        """How much a count grew per second over the last seconds of the newest run."""
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
