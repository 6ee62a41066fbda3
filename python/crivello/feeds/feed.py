"""A feed that a collection follows, and when it is polled next.

A feed is polled at half its mean time between changes, estimated from its own polls with a prior of one change a
day: with c polls that found new entries in t seconds, the rate is (c + 1) / (t + 86,400). It is never polled before
its time to live or the lifetime of its copy (``Cache-Control``, ``Expires``) is over, nor in the hours and days
that it says to skip. A feed that fails waits twice as long after each failure, up to a month.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

SHORTEST = 600.0
LONGEST = 7 * 86_400.0
MONTH = 30 * 86_400.0
_PRIOR = 86_400.0
# Servers that mean "for ever" are asked again after a day.
_FRESHEST = 86_400.0
DEAD = 5
"""The number of failures in a row from which a feed counts as dead."""
FEWEST_SEEN = 100
"""The number of entries that are remembered at least; of a feed with more, twice as many as it has."""
_LONGEST_TITLE = 300
_LONGEST_URL = 2048
_MARK = 8
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Feed(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A feed, and what its polls found. Times are in seconds since 1970."""

    url: str
    title: str = ""
    kind: str = ""
    added: float = 0.0
    polled: float = 0.0
    next: float = 0.0
    """When it is polled next."""
    polls: int = 0
    changes: int = 0
    """The number of polls that found new entries."""
    first: float = 0.0
    """The first poll that was answered."""
    changed: float = 0.0
    """The last poll that found new entries."""
    entries: int = 0
    """The number of entries found so far."""
    size: int = 0
    """The number of entries of its newest version."""
    failures: int = 0
    """The number of failed polls in a row."""
    failure: str = ""
    ttl: float = 0.0
    fresh: float = 0.0
    """For how long the server says that its answer is fresh."""
    skip_hours: list[int] = []
    skip_days: list[str] = []
    hub: str = ""
    topic: str = ""
    """The URL under which the hub knows it."""
    seen: bytes = b""
    """The fingerprints of its entries, 8 bytes each, newest first."""

    @property
    def is_dead(self) -> bool:
        """Whether it failed so often that nobody seems to be there."""
        return self.failures >= DEAD

    def is_due(self, now: float) -> bool:
        """Whether it is to be polled."""
        return self.next <= now

    def interval(self) -> float:
        """Half the mean time between its changes, in seconds."""
        observed = max(self.polled - self.first, 0.0) if self.first else 0.0
        half = (observed + _PRIOR) / (self.changes + 1) / 2
        return min(max(half, SHORTEST), LONGEST)

    def plan(self, now: float) -> None:
        """Sets when it is polled next, after a poll at ``now``."""
        if self.failures:
            # 2 ** 20 intervals are beyond the longest wait anyway.
            self.next = now + min(self.interval() * 2 ** min(self.failures, 20), MONTH)
            return
        wait = max(self.interval(), min(self.ttl, LONGEST), min(self.fresh, _FRESHEST))
        self.next = self._not_skipped(now + wait)

    def _not_skipped(self, moment: float) -> float:
        """The first moment from then on that the feed does not ask to skip; a feed that skips a whole week is
        not believed."""
        at = datetime.fromtimestamp(moment, UTC)
        for _ in range(7 * 24):
            if at.hour not in self.skip_hours and _DAYS[at.weekday()] not in self.skip_days:
                return at.timestamp()
            at = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        return moment

    def knows(self) -> set[int]:
        """The fingerprints of the entries that it had."""
        marks = range(0, len(self.seen), _MARK)
        return {int.from_bytes(self.seen[at : at + _MARK], "big") for at in marks}

    def succeed(
        self,
        now: float,
        found: dict[str, Any] | None = None,
        fingerprints: Sequence[int] = (),
        *,
        fresh: float | None = None,
    ) -> None:
        """Records an answer with the entries of these fingerprints (``found`` is ``None`` if nothing changed).

        ``fresh`` is ``None`` if a hub pushed it: then it may have the new entries alone.
        """
        known = self.knows()
        new = [mark for mark in dict.fromkeys(fingerprints) if mark not in known]
        # What the first poll finds was there before.
        self.changes += bool(new and self.first)
        self.first = self.first or now
        self.changed = now if new else self.changed
        self.entries += len(new)
        is_whole = found is not None and fresh is not None
        self.size = len(fingerprints) if is_whole else max(self.size, len(fingerprints))
        most = max(2 * self.size, FEWEST_SEEN)
        self.seen = (b"".join(mark.to_bytes(_MARK, "big") for mark in new) + self.seen)[: most * _MARK]
        self.fresh = self.fresh if fresh is None else fresh
        self.failures, self.failure = 0, ""
        if found is not None:
            self.title, self.kind = (found["title"] or self.title)[:_LONGEST_TITLE], found["kind"]
            self.ttl = found["ttl"]
            self.skip_hours, self.skip_days = found["skip_hours"], found["skip_days"]
            hub = next((hub for hub in found["hubs"] if len(hub) <= _LONGEST_URL), "")
            topic = found["self"] if len(found["self"]) <= _LONGEST_URL else ""
            if is_whole or hub:
                self.hub, self.topic = hub, topic
        self._polled(now)

    def fail(self, now: float, reason: str, *, gone: bool = False) -> None:
        """Records a failed poll; a feed that is gone counts as dead at once."""
        self.failures = max(self.failures + 1, DEAD if gone else 0)
        self.failure = reason
        self._polled(now)

    def _polled(self, now: float) -> None:
        self.polls += 1
        self.polled = now
        self.plan(now)
