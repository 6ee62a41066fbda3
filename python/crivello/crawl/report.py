"""The counters of a crawl."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crivello._figures import Figures
from crivello.store import Outcome

GOOD = frozenset(
    {
        Outcome.FETCHED,
        Outcome.SITEMAP,
        Outcome.ASSET,
        Outcome.REDIRECTED,
        Outcome.NOT_MODIFIED,
        Outcome.ROBOTS,
        Outcome.TRAP,
        Outcome.LIMIT,
        Outcome.FILTERED,
    }
)


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host that answers slowly."""

    name: str
    seconds: float
    requests: int


class Report(Figures):
    """The counters of a collection's crawl, cumulative over all runs; rates and gauges are of the current
    run."""

    def __init__(self, saved: dict[str, Any] | None = None) -> None:
        saved = saved or {}
        self.outcomes: Counter[str] = Counter(saved.get("outcomes", {}))
        self.statuses: Counter[str] = Counter(saved.get("statuses", {}))
        self.duplicates: int = saved.get("duplicates", 0)
        self.near_duplicates: int = saved.get("near_duplicates", 0)
        self.saved: Counter[str] = Counter(saved.get("saved", {}))
        self.links: int = saved.get("links", 0)
        self.requests: int = saved.get("requests", 0)
        self.bytes: int = saved.get("bytes", 0)
        self.seconds: float = saved.get("seconds", 0.0)
        self.seen: int = saved.get("seen", 0)
        self.waiting: int = saved.get("waiting", 0)
        self.sieve: dict[str, Any] | None = saved.get("sieve")
        self.unconverted: dict[str, int] = saved.get("unconverted", {})
        self.failures: dict[str, dict[str, Any]] = saved.get("failures", {})
        self.revisits: Counter[str] = Counter(saved.get("revisits", {}))
        self.exchange: dict[str, Any] | None = saved.get("exchange")
        self.stopped_by: str | None = None
        self.gauges: dict[str, int] = {}
        self.slowest: list[SlowHost] = []
        self.resting: list[tuple[str, float, str]] = []
        self.is_stopped: bool = False
        self._before = saved
        self._began = time.time()
        self._started = self._resumed = self._updated = time.monotonic()
        self._at_start: tuple[int, int, float] = (self.requests, self.bytes, self.seconds)
        self._pages_before: int = self.pages
        self._bytes_before: int = self.bytes

    @property
    def pages(self) -> int:
        """The number of URLs that got a response, with any status."""
        return self.outcomes[Outcome.FETCHED] + self.outcomes[Outcome.REDIRECTED]

    @property
    def errors(self) -> dict[str, int]:
        """The number of failures by outcome."""
        return {name: count for name, count in self.outcomes.items() if name not in GOOD}

    @property
    def active(self) -> int:
        """The number of hosts being fetched from."""
        return self.gauges.get("active", 0)

    @property
    def is_resumed(self) -> bool:
        """Whether there were earlier runs."""
        return bool(self._before)

    def of_run(self) -> dict[str, Any]:
        """The counters of this run alone, in the form of ``to_dict``."""
        now, before = self.to_dict(), Report(self._before).to_dict()
        counts = {name: now[name] - before[name] for name in _COUNTS}
        new = {name: dict(Counter(now[name]) - Counter(before[name])) for name in _COUNTERS}
        return {**counts, "seconds": round(self.seconds - self._before.get("seconds", 0.0), 3), **new}

    @property
    def pages_of_run(self) -> int:
        """The number of pages fetched in this run."""
        return self.pages - self._pages_before

    @property
    def bytes_of_run(self) -> int:
        """The number of bytes fetched in this run."""
        return self.bytes - self._bytes_before

    @property
    def pages_per_second(self) -> float:
        """The speed of this run."""
        return self.pages_of_run / self.elapsed

    @property
    def bytes_per_second(self) -> float:
        """The speed of this run."""
        return self.bytes_of_run / self.elapsed

    @property
    def idle_share(self) -> float:
        """The share of connection time that was idle in this run."""
        slots = self.gauges.get("slot_micros", 0)
        return 1 - self.gauges["busy_micros"] / slots if slots else 0.0

    @property
    def elapsed(self) -> float:
        """The duration of this run so far, in seconds."""
        return max(1e-9, time.monotonic() - self._started)

    def update(self, native: dict[str, Any]) -> None:
        """Copies the counters of the native threads, which continue from those of earlier runs."""
        self.outcomes = Counter(native["outcomes"])
        self.statuses = Counter(native["statuses"])
        self.duplicates, self.near_duplicates = native["duplicates"], native["near_duplicates"]
        self.saved = Counter(native["saved"])
        self.links, self.seen, self.waiting = native["links"], native["seen"], native["waiting"]
        self.unconverted = native["unconverted"]
        self.failures = native["failures"]
        self.revisits = Counter(native["revisits"])
        self.gauges = native["gauges"]
        self.slowest = [SlowHost(*host) for host in native["slowest"]]
        self.resting = [(name, until, why) for name, until, why in native.get("resting", [])]
        self.exchange = native.get("exchange")
        requests, octets, seconds = self._at_start
        self.requests = requests + self.gauges["requests"]
        self.bytes = octets + self.gauges["bytes"]
        self._updated = time.monotonic()
        self.seconds = seconds + self._updated - self._resumed

    def resume(self) -> None:
        """Goes on with native threads that were started anew, whose gauges begin at zero; the time without them does
        not count."""
        self._at_start = (self.requests, self.bytes, self.seconds)
        self._resumed = time.monotonic()
        self._started += self._resumed - self._updated

    def to_dict(self) -> dict[str, Any]:
        """The format of ``crivello crawl --json`` and of the manifest."""
        return {
            "pages": self.pages,
            "seen": self.seen,
            "waiting": self.waiting,
            "outcomes": dict(self.outcomes),
            "statuses": dict(self.statuses),
            "duplicates": self.duplicates,
            "near_duplicates": self.near_duplicates,
            "saved": dict(self.saved),
            "links": self.links,
            "requests": self.requests,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "idle_share": round(self.idle_share, 4),
            "sieve": self.sieve,
            "unconverted": self.unconverted,
            "failures": self.failures,
            "revisits": dict(self.revisits),
            **({"exchange": self.exchange} if self.exchange else {}),
        }

    def _headline(self) -> str:
        failed = sum(self.errors.values())
        return (
            f"{self.pages:,} pages fetched of {self.seen:,} URLs seen, {self.waiting:,} waiting, "
            f"{failed:,} failed, {self.seconds:,.1f} s"
        )

    def _figures(self) -> Iterator[tuple[str, str]]:
        from crivello.cli.output import report_rows

        return report_rows(self)

    def sample(self) -> dict[str, Any]:
        """A snapshot of the counters and gauges, for the progress log."""
        return {
            "began": round(self._began, 3),
            "seconds": round(self.seconds, 3),
            "pages": self.pages,
            "requests": self.requests,
            "bytes": self.bytes,
            "seen": self.seen,
            "waiting": self.waiting,
            "errors": sum(self.errors.values()),
            **{name: self.gauges.get(name, 0) for name in SAMPLED},
            "idle_share": round(self.idle_share, 4),
        }


_COUNTERS = ("outcomes", "statuses", "revisits", "saved")
_COUNTS = ("pages", "seen", "duplicates", "near_duplicates", "links", "requests", "bytes")
SAMPLED = (
    "active",
    "hosts_in_workbench",
    "hosts_waiting",
    "resolving",
    "addresses",
    "queued",
    "parse_queue",
    "write_queue",
    "fetch_micros",
    "parse_micros",
    "write_micros",
)
