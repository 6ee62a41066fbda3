"""The status of a crawl, read from the collection, even while another process is crawling."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crivello._figures import Figures
from crivello.crawl.decisions import GIVEN_UP, BriefDecision, newest_decisions
from crivello.crawl.progress import read_progress
from crivello.crawl.report import GOOD, Report
from crivello.crawl.timeline import Timeline
from crivello.store import Outcome

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.feeds import FeedSummary

State = Literal["crawling", "in use", "ended", "stopped"]

LATELY = 60.0
"""The window of recent rates, in seconds."""
_LATE_CHECKPOINTS = 3
_PATIENCE = 5.0
# A log file has about a million decisions; older ones say little about which hosts are busy.
_NEWEST_FILES = 2

_ANSWERED = (Outcome.FETCHED.value, Outcome.REDIRECTED.value)
# Like the report, this counts the final outcome of a URL as an error, not each failed attempt.
_ERRORS = frozenset(outcome.value for outcome in Outcome if outcome not in GOOD)


@dataclass(frozen=True, slots=True)
class BusyHost:
    """A host: its pages, its failed URLs, its mean response time, and whether a run gave up on it."""

    host: str
    pages: int
    errors: int
    mean_seconds: float | None
    given_up: bool


@dataclass(slots=True)
class _Tally:
    pages: int = 0
    errors: int = 0
    seconds: float = 0.0
    timed: int = 0
    given_up: bool = False

    def count(self, decision: BriefDecision) -> None:
        event = decision.event
        if event in _ANSWERED:
            self.pages += 1
            if decision.seconds is not None:
                self.seconds += decision.seconds
                self.timed += 1
        elif event in _ERRORS:
            self.errors += 1
        elif event == GIVEN_UP:
            self.given_up = True

    def of(self, host: str) -> BusyHost:
        mean = self.seconds / self.timed if self.timed else None
        return BusyHost(host, self.pages, self.errors, mean, self.given_up)


@dataclass(frozen=True, slots=True, repr=False)
class Status(Figures):
    """The status of a crawl. ``reread`` is the share of the known URLs whose stored pages were read again for links
    that earlier runs refused; ``None`` if none are left."""

    folder: Path
    state: State
    process: int | None
    updated: datetime
    report: Report
    hosts: int
    timeline: Timeline
    sizes: dict[str, int]
    busiest: list[BusyHost]
    reread: float | None
    refreshed: datetime | None
    feeds: FeedSummary

    @property
    def is_going_on(self) -> bool:
        """Whether a process is crawling now."""
        return self.state == "crawling"

    @property
    def latest(self) -> dict[str, Any]:
        """The newest sample."""
        return dict(self.timeline.samples[-1]) if self.timeline.samples else {}

    def _headline(self) -> str:
        return f"{self.state}, {self.report.pages:,} pages of {self.hosts:,} hosts, {self.report.waiting:,} URLs waiting"

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "updated", f"{self.updated:%Y-%m-%d %H:%M:%S} UTC"
        yield "hosts that answered", f"{self.hosts:,}"
        yield from self.report._figures()
        if self.reread is not None:
            yield "stored pages read again", f"{self.reread:.0%}"
        if self.feeds.feeds:
            yield "feeds", f"{self.feeds.feeds:,}, {self.feeds.due:,} due, {self.feeds.dead:,} dead"
        for part, size in sorted(self.sizes.items()):
            yield f"bytes in {part}", f"{size:,}"

    def to_dict(self) -> dict[str, Any]:
        """The format of ``crivello status --json``."""
        return {
            "collection": str(self.folder),
            "state": self.state,
            "process": self.process,
            "updated": self.updated.isoformat(timespec="milliseconds"),
            "hosts": self.hosts,
            **self.report.to_dict(),
            "idle_share": self.latest.get("idle_share", 0.0),
            "errors": self.report.errors,
            "pages_per_second": round(self.timeline.rate_of_late("pages", LATELY), 3),
            "bytes_per_second": round(self.timeline.rate_of_late("bytes", LATELY), 3),
            "refreshed": self.refreshed and self.refreshed.isoformat(timespec="milliseconds"),
            "feeds": asdict(self.feeds),
            "sizes": self.sizes,
            "busiest": [asdict(host) for host in self.busiest],
            "reread": self.reread,
            "runs": self.timeline.runs,
            "samples": self.timeline.samples,
        }


def read_status(collection: Collection, *, busiest: int = 10) -> Status | None:
    """The status of a crawl as of the last checkpoint; ``None`` if there was no crawl.

    ``busiest`` is the number of hosts to list; with 0 the decision log is not read.
    """
    collection.refresh()
    state = collection.state("crawl")
    if not state:
        return None
    samples = read_progress(collection)
    report = Report(state.get("report"))
    which, process = _state(collection, samples, report)
    return Status(
        collection.folder,
        which,
        process,
        datetime.fromtimestamp(samples[-1]["time"] if samples else 0, UTC),
        report,
        state.get("hosts", 0),
        Timeline(samples),
        sizes_of(collection),
        busiest_hosts(collection, busiest) if busiest else [],
        _reread(state.get("reread")),
        datetime.fromtimestamp(at, UTC) if (at := collection.state("refresh").get("at")) else None,
        collection.feeds.summary(),
    )


def busiest_hosts(collection: Collection, top: int) -> list[BusyHost]:
    """The hosts with the most pages, according to the newest files of the decision log."""
    hosts: dict[str, _Tally] = defaultdict(_Tally)
    for decision in newest_decisions(collection, _NEWEST_FILES):
        scheme, _, rest = decision.url.partition("//")
        hosts[f"{scheme}//{rest.partition('/')[0]}"].count(decision)
    found = [tally.of(host) for host, tally in hosts.items() if tally.pages + tally.errors or tally.given_up]
    return sorted(found, key=lambda host: (-host.pages, -host.errors, host.host))[:top]


def _state(collection: Collection, samples: list[dict[str, Any]], report: Report) -> tuple[State, int | None]:
    writer = collection.writer
    if writer is None:
        return ("stopped" if report.waiting else "ended"), None
    process, since = writer
    latest = samples[-1]["time"] if samples else 0.0
    patience = _LATE_CHECKPOINTS * collection.settings.crawl.checkpoint + _PATIENCE
    # Indexing and serving lock the folder, too, but write no samples.
    is_crawling = since <= latest and time.time() - latest < patience
    return ("crawling" if is_crawling else "in use"), process


def _reread(pending: dict[str, Any] | None) -> float | None:
    return None if pending is None else round(pending["next"] / pending["end"], 4)


def sizes_of(collection: Collection) -> dict[str, int]:
    """The size of each part on disk, in bytes."""
    sizes: Counter[str] = Counter()
    for name, length in collection.files.items():
        is_folder = name.endswith("/")
        sizes[name.split("/")[0]] += _inside(collection.folder / name) if is_folder else length
    return dict(sizes)


def _inside(folder: Path) -> int:
    """The total size of the files in a folder, some of which may be deleted meanwhile."""
    total = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total
