"""How the feeds of a collection are, in a few numbers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from crivello.feeds.feed import Feed

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FeedSummary:
    """The number of feeds, of those that are due, that failed last time and that are dead."""

    feeds: int
    due: int
    failing: int
    dead: int
    why: dict[str, str]
    """Of the dead feeds that were polled last, the reasons by their URLs."""

    @classmethod
    def of(cls, feeds: Iterable[Feed], now: float) -> FeedSummary:
        """Counts feeds, in memory that does not grow with their number."""
        count = due = failing = dead = 0
        latest: list[tuple[float, str, str]] = []
        for feed in feeds:
            count += 1
            due += feed.is_due(now)
            failing += bool(feed.failures)
            if feed.is_dead:
                dead += 1
                heapq.heappush(latest, (feed.polled, feed.url, feed.failure))
                if len(latest) > _SHOWN:
                    heapq.heappop(latest)
        return cls(count, due, failing, dead, {url: why for _, url, why in sorted(latest, reverse=True)})
