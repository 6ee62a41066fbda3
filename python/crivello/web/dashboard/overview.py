"""What the dashboard shows of a crawl: read at most once a second, for all who look.

The figures of a running crawl are in ``live.json`` (``crivello.crawl.now``); what is committed is read again only after a
commit. So a page that is open costs the crawl a few milliseconds a second, in whichever process serves it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from crivello import settings as all_settings
from crivello._core import Layout
from crivello.cli.units import counted, duration, rate, share, volume
from crivello.collection import Collection
from crivello.crawl.decisions import Decision, decision_files, mapped
from crivello.crawl.now import COLUMNS, read_now
from crivello.crawl.progress import read_progress
from crivello.crawl.report import GOOD, Report
from crivello.crawl.status import sizes_of
from crivello.crawl.steering import Answer, Command, commands_of
from crivello.errors import CrivelloError
from crivello.graph.kept import Kept
from crivello.settings.fields.crawl import SCOPES
from crivello.web.dashboard.access import collection_of, guarded, page
from crivello.web.pages import render

PARTS = (
    "state",
    "figures",
    "hosts",
    "outcomes",
    "errors",
    "slowest",
    "resting",
    "memory",
    "stored",
    "decisions",
    "told",
)
"""The parts of the page that change; each is a template."""

_FRESH = 0.9
_LATELY = 10
_TAIL = 1 << 20
_NEWEST = 12
_EXAMPLES = 3
_COMMANDS = 8
_HISTORY = 300
_LEAST_APART = 0.5
_OUTCOMES = 10
_MOMENT = 0.1
_FAILED = 400
# What the report of a sieve has, in the order of the page; what else a kind reports comes after it.
_SIEVE = {
    "kind": "kind of sieve",
    "seen": "URLs seen",
    "cache_hit_rate": "known from its cache",
    "bytes": "memory of the sieve",
    "pending": "URLs to be merged",
    "waiting": "URLs it holds",
    "flushes": "merges",
    "flush_seconds": "time of all merges",
    "signature_bits": "bits of a signature",
    "collisions": "collisions seen",
    "expected_collisions": "collisions expected",
}

Pairs = list[tuple[str, str]]


def apart(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most ``_HISTORY`` samples and the first, of which the last is one, none just before another: a rate over a moment,
    as between the last two checkpoints of a crawl, is noise that would set the scale of a plot."""
    least = max(_LEAST_APART, samples[-1]["seconds"] / _HISTORY) if samples else 0.0
    kept: list[dict[str, Any]] = []
    for sample in reversed(samples):
        if not kept or kept[-1]["seconds"] - sample["seconds"] >= least:
            kept.append(sample)
    return kept[::-1]


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit says: read once for each."""

    report: Report
    hosts: int
    indexed: Pairs
    newest: list[Decision]
    examples: dict[str, list[Decision]]
    settings: dict[str, Any]


@dataclass(slots=True)
class Overview:
    """The crawl at a moment, in the words and numbers of the page."""

    state: str
    title: str
    said: str
    figures: list[tuple[str, str, str]]
    hosts: Pairs
    outcomes: Pairs
    statuses: Pairs
    errors: list[tuple[str, str, list[Decision]]]
    slowest: list[tuple[str, str, str]]
    resting: list[tuple[str, str, str]]
    memory: Pairs
    stored: Pairs
    decisions: list[Decision]
    told: list[tuple[Command, Answer | None]]
    settings: dict[str, Any]
    samples: list[list[float]]
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        """Whether a process takes commands now."""
        return self.state in ("crawling", "paused", "idle")


class Watch:
    """Reads a collection for the dashboard. Thread-safe."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._read = 0.0
        self._overview: Overview | None = None
        self._commit: object = None
        self._committed: Committed | None = None

    def overview(self) -> Overview:
        """The crawl as of this second."""
        with self._lock:
            now = time.monotonic()
            if self._overview is None or now - self._read >= _FRESH:
                self._overview = self._looked()
                self._read = now
            return self._overview

    def history(self) -> list[list[float]]:
        """Samples of the whole crawl, over the seconds that were spent crawling."""
        samples = read_progress(self._collection)
        names = ("seconds", *COLUMNS[1:-1])
        return [[*(sample.get(name, 0) for name in names), 0] for sample in apart(samples)]

    def _looked(self) -> Overview:
        collection = self._collection
        collection.refresh()
        commit = collection._native.committed_at
        if self._committed is None or commit != self._commit:
            self._committed, self._commit = _committed(collection), commit
        overview = _overview(collection, self._committed)
        overview.parts = {name: render(f"dashboard/{name}.html", view=overview) for name in PARTS}
        return overview


def watch_of(request: Request, collection: Collection) -> Watch:
    """The one watch of the application."""
    state = request.app.state
    if not hasattr(state, "watch"):
        state.watch = Watch(collection)
    watch: Watch = state.watch
    return watch


@guarded
async def crawl_page(request: Request) -> Response:
    """The page; it has everything without scripts, as of now."""
    watch = watch_of(request, collection_of(request))
    overview = await run_in_threadpool(watch.overview)
    return page(request, "dashboard/crawl.html", view=overview, scopes=SCOPES)


def _overview(collection: Collection, committed: Committed) -> Overview:
    now = read_now(collection)
    report, told, settings = committed.report, {}, committed.settings
    state = "stopped" if report.waiting else "ended" if report.seen else "never"
    if now is not None:
        state, settings = now["state"], now["settings"]
        if "report" in now:
            report, told = Report(now["report"]), now
    elif collection.writer is not None:
        state = "busy"
    samples: list[list[float]] = told.get("samples", [])
    pages, octets = _speed(samples, "pages"), _speed(samples, "bytes")
    commands = commands_of(collection, _COMMANDS)
    return Overview(
        state,
        f"{rate(pages)} pages/s" if state == "crawling" else state,
        _said(state, told, report, commands),
        _figures(report, told, pages, octets),
        _hosts(committed, told),
        _most(report.outcomes),
        _most({f"status {status}": count for status, count in report.statuses.items()}),
        _errors(report, committed.examples),
        [(name, f"{seconds:.3f} s", f"{requests:,}") for name, seconds, requests in told.get("slowest", [])],
        _resting(told),
        _memory(report, told),
        committed.indexed,
        committed.newest,
        commands,
        settings,
        samples,
    )


def _committed(collection: Collection) -> Committed:
    state = collection.state("crawl")
    newest, examples = _decisions(collection)
    return Committed(
        Report(state.get("report")),
        state.get("hosts", 0),
        list(_indexed(collection)),
        newest,
        examples,
        _settings(collection),
    )


def _settings(collection: Collection) -> dict[str, Any]:
    """The settings of the next crawl: a running one may have changed the file since it was read."""
    try:
        settings = all_settings.load(collection.folder / Layout.SETTINGS).crawl
    except CrivelloError:
        settings = collection.settings.crawl
    return {name: getattr(settings, name) for name in ("scope", "delay", "politeness", "block", "max_pages")}


def _said(
    state: str, told: dict[str, Any], report: Report, commands: list[tuple[Command, Answer | None]]
) -> str:
    match state:
        case "crawling":
            limit = told["settings"]["max_pages"]
            ends = f"it ends at {limit:,} pages" if limit else "it ends when no URL waits"
            return f"for {duration(told['elapsed'])}; {ends}."
        case "paused":
            return "No request is made until the crawl is resumed."
        case "idle":
            return f"The crawl is over, {_left(report)}. It goes on when it is told something."
        case "busy":
            return "Another process is writing to the collection; it is not crawling now."
        case "never":
            return "Nothing was crawled yet."
        case _:
            waits = sum(answer is None for _, answer in commands)
            queued = f" {counted(waits, 'command')} will be read by the next crawl." if waits else ""
            return f"No crawl is running, {_left(report)}.{queued}"


def _left(report: Report) -> str:
    return f"and {counted(report.waiting, 'URL')} wait" if report.waiting else "and no URL waits"


def _speed(samples: list[list[float]], name: str) -> float:
    """The growth of a counter per second of late."""
    if len(samples) < 2:
        return 0.0
    place = COLUMNS.index(name)
    first, last = samples[max(0, len(samples) - 1 - _LATELY)], samples[-1]
    return (last[place] - first[place]) / max(1e-3, last[0] - first[0])


def _figures(report: Report, told: dict[str, Any], pages: float, octets: float) -> list[tuple[str, str, str]]:
    failed = sum(report.errors.values())
    elapsed = told.get("elapsed", 0.0)
    mean = told["pages_of_run"] / max(1e-3, elapsed) if told else 0.0
    return [
        (
            "Pages per second",
            rate(pages) if told else "–",
            f"{rate(mean)} in the mean" if told else "no crawl runs",
        ),
        ("Pages", f"{report.pages:,}", f"of {counted(report.seen, 'URL')} seen"),
        ("Queue", f"{report.waiting:,}", "URLs that wait"),
        ("Volume", volume(report.bytes), f"{volume(octets)}/s" if told else f"in {duration(report.seconds)}"),
        ("Failed", f"{failed:,}", f"{share(failed / max(1, failed + report.pages))} of URLs tried"),
        (
            "Duplicates",
            f"{report.duplicates + report.near_duplicates:,}",
            f"{report.duplicates:,} exact, {report.near_duplicates:,} near",
        ),
        ("Requests", f"{report.requests:,}", f"{counted(report.links, 'link')} found"),
        (
            "Memory",
            volume(told["memory"]) if told else "–",
            "crawling process" if told else "no crawl runs",
        ),
    ]


def _hosts(committed: Committed, told: dict[str, Any]) -> Pairs:
    gauges = told.get("gauges", {})
    pairs = [("answered so far", f"{committed.hosts:,}")]
    if not gauges:
        return pairs
    inside, active, resolving = (
        gauges.get(name, 0) for name in ("hosts_in_workbench", "active", "resolving")
    )
    return [
        ("being fetched from", f"{active:,}"),
        ("resting or ready", f"{max(0, inside - active - resolving):,}"),
        ("being resolved", f"{resolving:,}"),
        ("waiting for the workbench", f"{gauges.get('hosts_waiting', 0):,}"),
        ("addresses in the workbench", f"{gauges.get('addresses', 0):,}"),
        *pairs,
    ]


def _most(counts: dict[str, int]) -> Pairs:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])[:_OUTCOMES]
    return [(name, f"{count:,}") for name, count in ordered]


def _errors(report: Report, examples: dict[str, list[Decision]]) -> list[tuple[str, str, list[Decision]]]:
    ordered = sorted(report.errors.items(), key=lambda error: (-error[1], error[0]))
    failing = [
        (f"status {status}", count)
        for status, count in sorted(report.statuses.items())
        if int(status) >= _FAILED
    ]
    return [(name, f"{count:,}", examples.get(name, [])) for name, count in [*ordered, *failing]]


def _resting(told: dict[str, Any]) -> list[tuple[str, str, str]]:
    moment = told.get("time", 0.0)
    return [
        (name, f"{until - moment:,.1f} s", why)
        for name, until, why in told.get("resting", [])[:8]
        if until - moment >= _MOMENT
    ]


def _memory(report: Report, told: dict[str, Any]) -> Pairs:
    """The sieve, its cache, and the queues between the threads."""
    sieve = report.sieve or {}
    gauges = told.get("gauges", {})
    names = [*_SIEVE, *(name for name in sieve if name not in _SIEVE)]
    pairs = [
        (_SIEVE.get(name, name.replace("_", " ")), _shown(name, sieve[name]))
        for name in names
        if sieve.get(name) is not None
    ]
    for name, words in (
        ("queued", "URLs in host queues"),
        ("parse_queue", "pages to parse"),
        ("write_queue", "pages to write"),
    ):
        if name in gauges:
            pairs.append((words, f"{gauges[name]:,}"))
    if told:
        pairs.append(("connections idle", share(told["report"]["idle_share"])))
    return pairs


def _shown(name: str, value: Any) -> str:
    if name.endswith("_rate"):
        return share(value)
    if name.endswith("_seconds"):
        return duration(value)
    if isinstance(value, float):
        return f"{value:,.3g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return volume(value) if "bytes" in name or "memory" in name else f"{value:,}"
    return str(value)


def _indexed(collection: Collection) -> Iterator[tuple[str, str]]:
    summary = collection.summary()
    yield "documents in the index", f"{summary.pages:,}"
    yield "terms", f"{summary.terms:,}"
    yield "segments", f"{len(collection.segments):,}"
    yield "index", "there are newer pages" if collection.is_behind else "up to date"
    kept = Kept.of(collection.state("graph"))
    yield "ranks by links", kept.measure or ("yours" if kept.ranks_in_use() else "none yet")
    yield "committed", f"{datetime.fromtimestamp(collection._native.committed_at, UTC):%H:%M:%S} UTC"
    for part, size in sorted(sizes_of(collection).items()):
        yield f"{part} on disk", volume(size)


def _decisions(collection: Collection) -> tuple[list[Decision], dict[str, list[Decision]]]:
    """The newest decisions, newest first, and the newest failures of each class."""
    files = decision_files(collection)
    if not files:
        return [], {}
    file, committed = files[-1]
    with mapped(file, committed) as content:
        tail = content[max(0, committed - _TAIL) :]
    lines = tail.splitlines()[1 if committed > _TAIL else 0 :]
    decode = msgspec.json.Decoder(Decision).decode
    newest: list[Decision] = []
    examples: dict[str, list[Decision]] = {}
    for line in reversed(lines):
        try:
            decision = decode(line)
        except msgspec.DecodeError:
            continue  # `crivello doctor` reports damage; here it must not hide the rest
        if len(newest) < _NEWEST:
            newest.append(decision)
        is_failed = (decision.status or 0) >= _FAILED
        name = f"status {decision.status}" if is_failed else decision.event
        if is_failed or decision.event not in GOOD:
            known = examples.setdefault(name, [])
            if len(known) < _EXAMPLES:
                known.append(decision)
    return newest, examples
