"""``/metrics``: what Prometheus and OpenMetrics collect about the server, the index and the crawl.

Every worker process counts by itself and, a second after a request at the latest, writes what it counted to a
file of a folder that all of them share; whichever worker is asked adds up the files. The file of a worker that
ended stays, so no counter decreases while the server lives. Without workers there is no folder and nothing is written.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crivello._histogram import BOUNDS, Histogram
from crivello.errors import CrivelloError
from crivello.search.latency import SEARCHES
from crivello.web.engine import Engine, engine_of

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_OTHER = "other"
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
_BETWEEN_WRITES = 1.0
_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")

Labels = tuple[tuple[str, str], ...]


@dataclass
class Family:
    """The samples of one metric; ``kind`` is counter, gauge or histogram."""

    name: str
    kind: str
    help: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)

    def add(self, value: float, suffix: str = "", **labels: str) -> Family:
        """Adds a sample."""
        self.samples.append((suffix, tuple(labels.items()), value))
        return self


class Counted(msgspec.Struct):
    """What a worker counted."""

    pid: int
    started: float
    requests: dict[str, int] = {}
    durations: dict[str, tuple[list[int], float]] = {}
    searches: tuple[list[int], float] = ([], 0.0)
    in_progress: int = 0


class Metrics:
    """The counters of this process; ``folder`` is shared with the other workers."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._requests: Counter[str] = Counter()
        self._durations: dict[str, Histogram] = {}
        self._in_progress = 0
        self._started = time.time()
        self._is_due = False

    def begin(self) -> None:
        """Counts a request in progress."""
        self._in_progress += 1

    def end(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts a request that was answered."""
        self._in_progress -= 1
        self._requests[f"{route}\n{method}\n{status}"] += 1
        self._durations.setdefault(route, Histogram()).observe(seconds)
        if self._folder and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_BETWEEN_WRITES, self.write)

    def write(self) -> None:
        """Writes what was counted for the other workers."""
        self._is_due = False
        if self._folder:
            file = self._folder / f"{os.getpid()}.json"
            new = file.with_suffix(".new")
            new.write_bytes(msgspec.json.encode(self.counted()))
            new.replace(file)

    def counted(self) -> Counted:
        """What this process counted."""
        return Counted(
            os.getpid(),
            self._started,
            dict(self._requests),
            {route: (list(one.counts), one.total) for route, one in self._durations.items()},
            (list(SEARCHES.counts), SEARCHES.total),
            self._in_progress,
        )

    def workers(self) -> list[Counted]:
        """What every process counted, this one first."""
        found = [self.counted()]
        for file in sorted(self._folder.glob("*.json")) if self._folder else ():
            if file.stem != str(os.getpid()):
                found.append(msgspec.json.decode(file.read_bytes(), type=Counted))
        return found


class Measured:
    """Middleware, the outermost: counts every request under the path of its route, never that of its URL."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Iterable[BaseRoute]) -> None:
        self.app = app
        self._metrics = metrics
        # Of several routes with one endpoint, the first names it. Not every endpoint can be hashed.
        self._paths: dict[int, str] = {}
        for path, endpoint in _endpoints(routes, ""):
            self._paths.setdefault(id(endpoint), path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        self._metrics.begin()
        try:
            await self.app(scope, receive, send_noted)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else _OTHER
            route = self._paths.get(id(scope.get("endpoint")), _OTHER)
            self._metrics.end(route, method, status, time.perf_counter() - began)


def _endpoints(routes: Iterable[BaseRoute], before: str) -> Iterator[tuple[str, object]]:
    """The path and the endpoint of every route, also of those that are mounted under a path."""
    for route in routes:
        path = before + getattr(route, "path", "")
        yield path, getattr(route, "endpoint", None) or getattr(route, "app", None)
        yield from _endpoints(getattr(route, "routes", None) or (), path)


async def _metrics(request: Request) -> Response:
    is_open = "application/openmetrics-text" in request.headers.get("accept", "")
    metrics: Metrics = request.app.state.metrics
    families = await run_in_threadpool(lambda: list(collect(metrics, engine_of(request))))
    text = (as_open_metrics if is_open else as_prometheus)(families)
    return Response(
        text,
        headers={
            "Content-Type": OPEN_METRICS if is_open else PROMETHEUS,
            "Cache-Control": "no-store",
            "Vary": "Accept",
        },
    )


async def _ready(request: Request) -> Response:
    """Whether a search would find something: a load balancer sends no requests before."""
    try:
        summary = await run_in_threadpool(engine_of(request).summary)
        problem = "" if summary.pages else "there is nothing to search yet"
    except CrivelloError as error:
        problem = str(error)
    status = {"status": "not ready", "problem": problem} if problem else {"status": "ready"}
    return JSONResponse(status, 503 if problem else 200, headers={"Cache-Control": "no-store"})


routes = [Route("/metrics", _metrics), Route("/ready", _ready)]


def collect(metrics: Metrics, engine: Engine) -> Iterator[Family]:
    """Everything that is known now. What cannot be read of the collection is left out, and ``crivello_up`` is 0."""
    up = Family("crivello_up", "gauge", "Whether the collection can be read.")
    try:
        of_collection = list(_of_collection(engine))
        up.add(1)
    except CrivelloError:
        of_collection = []
        up.add(0)
    yield up
    yield from of_collection
    yield from _of_requests(metrics.workers())


def _of_requests(workers: list[Counted]) -> Iterator[Family]:
    requests: Counter[str] = Counter()
    durations: dict[str, tuple[list[int], float]] = {}
    searches: tuple[list[int], float] = ([0] * (len(BOUNDS) + 1), 0.0)
    for worker in workers:
        requests.update(worker.requests)
        searches = _sum(searches, worker.searches)
        for route, one in worker.durations.items():
            durations[route] = _sum(durations[route], one) if route in durations else one
    answered = Family("crivello_http_requests", "counter", "Answered requests.")
    for key, count in sorted(requests.items()):
        route, method, status = key.split("\n")
        answered.add(count, "_total", route=route, method=method, status=status)
    yield answered
    alive = [worker for worker in workers if _is_alive(worker.pid)]
    yield Family("crivello_http_requests_in_progress", "gauge", "Requests being answered.").add(
        sum(worker.in_progress for worker in alive)
    )
    latency = Family("crivello_http_request_duration_seconds", "histogram", "Time to answer a request.")
    for route, one in sorted(durations.items()):
        _add_histogram(latency, one, route=route)
    yield latency
    took = Family("crivello_search_duration_seconds", "histogram", "Time of a search inside the engine.")
    yield _add_histogram(took, searches)
    yield Family("crivello_workers", "gauge", "Processes that answer requests.").add(len(alive))
    yield from _of_processes(alive)


def _of_processes(workers: list[Counted]) -> Iterator[Family]:
    """What the system says about the processes, where there is /proc."""
    found = [said for worker in workers if (said := _process(worker.pid))]
    yield Family("process_start_time_seconds", "gauge", "When the oldest process began.").add(
        min(worker.started for worker in workers)
    )
    if not found:
        return
    kinds = {
        "process_cpu_seconds": ("counter", "Processor time of all processes."),
        "process_resident_memory_bytes": ("gauge", "Memory of all processes."),
        "process_open_fds": ("gauge", "Open files of all processes."),
        "process_threads": ("gauge", "Threads of all processes."),
    }
    for name, (kind, text) in kinds.items():
        value = sum(said[name] for said in found)
        yield Family(name, kind, text).add(value, "_total" if kind == "counter" else "")


def _process(pid: int) -> dict[str, float] | None:
    folder = Path("/proc", str(pid))
    try:
        # Behind the name, which is in parentheses and may hold anything.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        files = len(list((folder / "fd").iterdir()))
    except OSError:
        return None
    return {
        "process_cpu_seconds": (int(fields[11]) + int(fields[12])) / _TICKS,
        "process_resident_memory_bytes": int(fields[21]) * _PAGE_SIZE,
        "process_open_fds": files,
        "process_threads": int(fields[17]),
    }


def _of_collection(engine: Engine) -> Iterator[Family]:
    from crivello.collection import Collection

    summary = engine.summary()
    yield Family("crivello_index_documents", "gauge", "Documents that can be searched.").add(summary.pages)
    yield Family("crivello_index_terms", "gauge", "Terms, once for each segment.").add(summary.terms)
    if summary.updated:
        yield Family(
            "crivello_index_commit_timestamp_seconds", "gauge", "When the collection last changed."
        ).add(summary.updated.timestamp())
    yield Family("crivello_crawl_hosts", "gauge", "Hosts that the crawl knows.").add(summary.hosts)
    yield Family("crivello_crawl_running", "gauge", "Whether a process writes to the collection.").add(
        summary.state == "crawling"
    )
    if isinstance(engine, Collection):
        yield from _of_folder(engine)


def _of_folder(collection: Any) -> Iterator[Family]:
    from crivello.crawl.report import Report

    segments = len(collection.segments)
    yield Family("crivello_index_segments", "gauge", "Segments of the index.").add(segments)
    sizes: Counter[str] = Counter()
    for name, length in collection.files.items():
        sizes[name.split("/")[0]] += length
    disk = Family("crivello_collection_bytes", "gauge", "Committed bytes on disk, by part.")
    for part, size in sorted(sizes.items()):
        disk.add(size, part=part)
    yield disk
    saved = collection.state("crawl").get("report")
    if not saved:
        return
    report = Report(saved)
    outcomes = Family("crivello_crawl_urls", "counter", "URLs by outcome, over all runs.")
    for outcome, count in sorted(report.outcomes.items()):
        outcomes.add(count, "_total", outcome=outcome)
    yield outcomes
    statuses = Family("crivello_crawl_responses", "counter", "Responses by status, over all runs.")
    for status, count in sorted(report.statuses.items()):
        statuses.add(count, "_total", status=str(status))
    yield statuses
    counters: Mapping[str, tuple[str, float]] = {
        "crivello_crawl_requests": ("Requests sent.", report.requests),
        "crivello_crawl_received_bytes": ("Bytes received.", report.bytes),
        "crivello_crawl_links": ("Links found.", report.links),
        "crivello_crawl_duplicates": ("Exact duplicates.", report.duplicates),
        "crivello_crawl_near_duplicates": ("Near-duplicates.", report.near_duplicates),
        "crivello_crawl_seconds": ("Time spent crawling.", report.seconds),
    }
    for name, (text, value) in counters.items():
        yield Family(name, "counter", text).add(value, "_total")
    yield Family("crivello_crawl_urls_seen", "gauge", "Distinct URLs discovered.").add(report.seen)
    yield Family("crivello_crawl_urls_waiting", "gauge", "URLs in the frontier.").add(report.waiting)


def as_prometheus(families: Iterable[Family]) -> str:
    """The text format of Prometheus, version 0.0.4: there, a counter's name ends in ``_total``."""
    return "".join(_lines(families, lambda one: f"{one.name}_total" if one.kind == "counter" else one.name))


def as_open_metrics(families: Iterable[Family]) -> str:
    """OpenMetrics 1.0: a counter's samples end in ``_total``, its name does not, and an end is marked."""
    return "".join(_lines(families, lambda one: one.name)) + "# EOF\n"


def _lines(families: Iterable[Family], name: Callable[[Family], str]) -> Iterator[str]:
    for family in families:
        if not family.samples:
            continue
        yield f"# HELP {name(family)} {family.help}\n# TYPE {name(family)} {family.kind}\n"
        for suffix, labels, value in family.samples:
            pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
            yield f"{family.name}{suffix}{'{' + pairs + '}' if pairs else ''} {_number(value)}\n"


def _add_histogram(family: Family, counted: tuple[list[int], float], **labels: str) -> Family:
    counts, total = counted
    bounds = [*(_number(bound) for bound in BOUNDS), "+Inf"]
    running = list(accumulate(counts))
    for bound, count in zip(bounds, running, strict=True):
        family.add(count, "_bucket", **labels, le=bound)
    return family.add(running[-1], "_count", **labels).add(total, "_sum", **labels)


def _sum(one: tuple[list[int], float], other: tuple[list[int], float]) -> tuple[list[int], float]:
    return [a + b for a, b in zip(one[0], other[0], strict=True)], one[1] + other[1]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(float(value))
