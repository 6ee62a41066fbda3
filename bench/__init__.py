"""The benchmarks of Crivello, each compared with a named peer.

    python -m bench [PART ...]      (or: make bench ONLY=PART)

A part is a module here with a function ``measure()`` that yields ``Measurement``s as they complete.
The machines are noisy, so what counts is the ratio to the peer, measured in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A speed (or size) of Crivello and of a peer; ``asked`` is the target ratio."""

    what: str
    ours: float
    peer: str
    theirs: float
    unit: str
    asked: float | None = None
    smaller_is_better: bool = False

    @property
    def ratio(self) -> float:
        """Our speed relative to the peer's (for a size: our size relative to the peer's)."""
        return self.ours / self.theirs if self.theirs else float("inf")

    @property
    def reached(self) -> bool | None:
        """Whether the ratio reaches the target; ``None`` if there is no target."""
        if self.asked is None:
            return None
        return self.ratio <= self.asked if self.smaller_is_better else self.ratio >= self.asked


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The duration of the fastest of several runs, which is the least disturbed by other load."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best
