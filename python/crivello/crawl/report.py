"""What a crawl has done so far, in counts."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from crivello.store import Outcome, Row


class Report:
    """The counts of a collection's crawl, over all its runs; the rates are of this run."""

    def __init__(self, saved: dict[str, Any] | None = None) -> None:
        saved = saved or {}
        self.outcomes: Counter[str] = Counter(saved.get("outcomes", {}))
        self.statuses: Counter[str] = Counter(saved.get("statuses", {}))
        self.duplicates: int = saved.get("duplicates", 0)
        self.near_duplicates: int = saved.get("near_duplicates", 0)
        self.requests: int = saved.get("requests", 0)
        self.bytes: int = saved.get("bytes", 0)
        self.seconds: float = saved.get("seconds", 0.0)
        self.seen = 0
        self.waiting = 0
        self.active = 0
        self.stopped_by: str | None = None
        self.sieve: dict[str, Any] | None = saved.get("sieve")
        self._started = time.monotonic()
        self._seconds_before = self.seconds
        self._pages_before = self.pages

    @property
    def pages(self) -> int:
        """How many URLs were answered, with whatever status."""
        return self.outcomes[Outcome.FETCHED] + self.outcomes[Outcome.REDIRECTED]

    @property
    def errors(self) -> dict[str, int]:
        """The failures, by what happened."""
        good = {Outcome.FETCHED, Outcome.REDIRECTED, Outcome.ROBOTS, Outcome.TRAP, Outcome.LIMIT}
        return {name: count for name, count in self.outcomes.items() if name not in good}

    @property
    def pages_per_second(self) -> float:
        """The speed of this run."""
        return (self.pages - self._pages_before) / max(1e-9, time.monotonic() - self._started)

    def count(self, row: Row) -> None:
        """Takes a row into account."""
        self.outcomes[row.outcome.value] += 1
        if row.status is not None:
            self.statuses[str(row.status)] += 1
        self.duplicates += row.duplicate_of is not None
        self.near_duplicates += row.near_duplicate_of is not None

    def tick(self) -> None:
        """Brings the clock up to date."""
        self.seconds = self._seconds_before + time.monotonic() - self._started

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello crawl --json``, and of the manifest."""
        return {
            "pages": self.pages,
            "seen": self.seen,
            "waiting": self.waiting,
            "outcomes": dict(self.outcomes),
            "statuses": dict(self.statuses),
            "duplicates": self.duplicates,
            "near_duplicates": self.near_duplicates,
            "requests": self.requests,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "sieve": self.sieve,
        }
