"""Every measurement of Crivello, each beside a named peer, in one run.

    python -m bench [PART ...]      (or: make bench ONLY=PART)

A part is a module here with a function ``measure()`` that yields ``Measurement``s as it makes them.
These machines are noisy, so what counts is the ratio to the peer, which is measured right beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A speed (or size) of ours and of a peer; ``asked`` is the ratio to reach."""

    what: str
    ours: float
    peer: str
    theirs: float
    unit: str
    asked: float | None = None
    smaller_is_better: bool = False

    @property
    def ratio(self) -> float:
        """How many times better ours is (a size: how large ours is beside theirs)."""
        return self.ours / self.theirs if self.theirs else float("inf")

    @property
    def reached(self) -> bool | None:
        """Whether the ratio is what was asked for; None where nothing was."""
        if self.asked is None:
            return None
        return self.ratio <= self.asked if self.smaller_is_better else self.ratio >= self.asked


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The shortest of some runs: what the work takes when nothing disturbs it."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best
