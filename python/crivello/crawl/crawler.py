"""The crawl: takes what may be visited from the frontier, fetches, parses, stores, and feeds the links back.

One asyncio loop decides and waits; parsing and compressing run in native threads beside it. Every few
seconds a checkpoint makes the sieve, the table, the links and the archive durable together, so a crash
costs at most what came after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from urllib.parse import urljoin

from crivello import _core
from crivello.collection import Collection
from crivello.crawl.address import any_is_private
from crivello.crawl.convert import CONVERTIBLE, convert
from crivello.crawl.fetch import Failure, Fetcher, Response
from crivello.crawl.frontier import Frontier, Host, Visit, host_of, pack
from crivello.crawl.page import make_page
from crivello.crawl.recorder import Recorder
from crivello.crawl.report import Report
from crivello.crawl.robots import MAX_BYTES, MAX_REDIRECTS, Robots
from crivello.errors import CrawlError, InternalError, InvalidArgument
from crivello.sieve import open_sieve
from crivello.store import Outcome, Row

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 500, 502, 503, 504})
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BETWEEN_REPORTS = 0.25
_LONGEST_WAIT = 300.0
_PARSERS = 2


def canonical_seeds(urls: Sequence[str]) -> list[str]:
    """The seeds in canonical form; what is not a URL of the web is an error."""
    seeds = []
    for url, canonical in zip(urls, _core.canonical_urls(list(urls)), strict=True):
        if canonical is None:
            raise InvalidArgument(
                f"{url!r} is not a URL that can be crawled",
                hint="a URL begins with http:// or https://, as in https://www.example.org/",
            )
        seeds.append(canonical)
    return seeds


def crawl(
    collection: Collection,
    urls: Sequence[str] = (),
    *,
    on_progress: Callable[[Report], None] | None = None,
) -> Report:
    """Crawls into a collection that is open for writing, from these URLs and from where it stopped last.

    Ctrl-C ends it with a checkpoint and raises KeyboardInterrupt.
    """
    crawler = Crawler(collection, urls, on_progress=on_progress)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _run(crawler)
    else:
        # A notebook's thread has a loop of its own that must go on: the crawl gets a thread.
        with ThreadPoolExecutor(1, thread_name_prefix="crawl") as threads:
            running = threads.submit(_run, crawler)
            try:
                running.result()
            except KeyboardInterrupt:
                crawler.stop()
                raise
    if crawler.interrupted:
        raise KeyboardInterrupt
    return crawler.report


def _run(crawler: Crawler) -> None:
    import uvloop

    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(crawler.run())
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


class Crawler:
    """One run of a crawl."""

    def __init__(
        self,
        collection: Collection,
        urls: Sequence[str] = (),
        *,
        on_progress: Callable[[Report], None] | None = None,
    ) -> None:
        self._collection = collection
        self._settings = settings = collection.settings.crawl
        self._on_progress = on_progress
        state = collection.state("crawl")
        self._seeds = list(dict.fromkeys([*state.get("seeds", []), *canonical_seeds(urls)]))
        if not self._seeds:
            raise CrawlError(
                f"{collection.folder} has no seeds yet", hint="name at least one URL to start from"
            )
        # Who starts on a private network means that network.
        self._allow_private = any_is_private(self._seeds) or settings.allow_private
        self._scope = {host_of(seed) for seed in self._seeds} | set(state.get("scope", []))
        self._agent = settings.user_agent
        contact = f" (+{settings.contact})" if settings.contact else ""
        self._user_agent = f"{settings.user_agent}/{version('crivello')}{contact}"
        self.report = Report(state.get("report"))
        self._pages_before = self.report.pages
        self._frontier = Frontier(
            open_sieve(
                settings.sieve,
                collection.folder,
                collection.files,
                state.get("sieve"),
                start=state.get("position"),
                memory=settings.sieve_memory,
                cache=settings.sieve_cache,
                capacity=settings.sieve_capacity,
                error=settings.sieve_error,
            )
        )
        self._recorder = Recorder(collection, self._user_agent, settings.near_distance)
        self._frontier.add(self._seeds, [pack(0)] * len(self._seeds))
        self._attempts: dict[int, int] = {}
        self._active: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = False
        self.interrupted = False

    def stop(self) -> None:
        """Ends the crawl, after a checkpoint; any thread may call it."""
        self._stopping = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self) -> None:
        """Crawls until there is nothing left to visit, or a limit or Ctrl-C ends it."""
        settings = self._settings
        self._loop = asyncio.get_running_loop()
        self._stop_on_signals(self._loop)
        try:
            self._fetcher = Fetcher(
                user_agent=self._user_agent,
                timeout=settings.timeout,
                max_bytes=settings.max_bytes,
                connections=settings.connections,
                allow_private=self._allow_private,
            )
            with ThreadPoolExecutor(_PARSERS, thread_name_prefix="parse") as self._parsers:
                async with self._fetcher, asyncio.TaskGroup() as visits:
                    clock = visits.create_task(self._keep_time())
                    await self._dispatch(visits)
                    for task in (clock, *self._active):
                        task.cancel()
            self._frontier.flush()
            self.report.sieve = self._frontier.stats()
            self._checkpoint()
            self._tell()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self._recorder.close()
            self._frontier.close()

    def _stop_on_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        def stop() -> None:
            self.interrupted = True
            self.stop()

        for number in _SIGNALS:
            # Only the main thread may listen to signals; elsewhere the caller does.
            with contextlib.suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, stop)

    async def _dispatch(self, visits: asyncio.TaskGroup) -> None:
        """Starts a visit whenever a host may be fetched from and a connection is free."""
        while not self._stopping:
            self._changed.clear()
            self._refill()
            while self._has_room() and (host := self._frontier.next_host(time.monotonic())):
                task = visits.create_task(self._visit(host))
                self._active.add(task)
                task.add_done_callback(self._end_visit)
            moment = self._frontier.next_moment()
            if not self._active and (moment is None or not self._has_room()):
                self.report.stopped_by = None if moment is None else "max_pages"
                return
            wait = moment - time.monotonic() if moment is not None and self._has_room() else None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)

    def _end_visit(self, task: asyncio.Task[None]) -> None:
        self._active.discard(task)
        # When a visit fails the whole crawl ends: no other may start.
        self._stopping |= not task.cancelled() and task.exception() is not None
        self._changed.set()

    def _has_room(self) -> bool:
        limit = self._settings.max_pages
        left = limit - (self.report.pages - self._pages_before) if limit else self._settings.connections
        return not self._stopping and len(self._active) < min(left, self._settings.connections)

    def _refill(self) -> None:
        """Moves URLs from the sieve to the queues of their hosts; after a crash some have a row already."""
        visits = self._frontier.take(idle=not self._active)
        known = self._recorder.table.contains([visit.url for visit in visits])
        for visit, done in zip(visits, known, strict=True):
            if not done:
                self._frontier.enqueue(visit)

    async def _visit(self, host: Host) -> None:
        """Makes at most one request to a host, and gives it back with its next polite moment."""
        if host.robots is None:
            wait = await self._ask_for_rules(host)
        else:
            wait = await self._next_page(host, host.robots)
        self._frontier.give_back(host, time.monotonic() + wait)

    async def _ask_for_rules(self, host: Host) -> float:
        if not self._settings.obey_robots:
            host.robots = Robots(None, self._agent)
            return 0.0
        url, status, body = f"{host.name}/robots.txt", 503, b""
        refusal = Outcome.ROBOTS
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._request(url, MAX_BYTES)
            if isinstance(answer, Response):
                status, body = answer.status, answer.body
                if status in _REDIRECTS:
                    url = urljoin(url, answer.header("location") or "")
                    continue
                with contextlib.suppress(InvalidArgument):
                    body = _core.decode_body(body, answer.header("content-encoding") or "", MAX_BYTES)
            else:
                refusal = answer.outcome
            break
        else:
            status = 404  # too many redirects: as if there were none (RFC 9309, 2.3.1.2)
        host.robots = Robots.from_response(status, body, self._agent)
        if host.robots is not None:
            return self._pause(host)
        host.failures += 1
        if host.failures > self._settings.retries:
            host.robots = Robots(None, self._agent, refusal)
            return 0.0
        return self._backoff(host.failures)

    async def _next_page(self, host: Host, robots: Robots) -> float:
        while host.queue:
            visit = host.queue.popleft()
            if refusal := self._refusal(visit, host, robots):
                self._finish(visit, self._recorder.failure(visit, time.time(), refusal))
                continue
            return await self._fetch(visit, host)
        return 0.0

    def _refusal(self, visit: Visit, host: Host, robots: Robots) -> Outcome | None:
        settings = self._settings
        if visit.chain > settings.max_chain:
            return Outcome.TRAP
        if not robots.allows(visit.url):
            return robots.refusal or Outcome.ROBOTS
        if visit.redirects > settings.max_redirects or (
            settings.max_per_host and host.fetched >= settings.max_per_host
        ):
            return Outcome.LIMIT
        return None

    async def _fetch(self, visit: Visit, host: Host) -> float:
        when = time.time()
        answer = await self._request(visit.url)
        again = answer.again if isinstance(answer, Failure) else answer.status in _BUSY
        attempts = self._attempts.pop(visit.offset, 0)
        if again and attempts < self._settings.retries:
            self._attempts[visit.offset] = attempts + 1
            host.queue.appendleft(visit)
            asked = _retry_after(answer) if isinstance(answer, Response) else 0.0
            return max(self._backoff(attempts + 1), asked)
        if isinstance(answer, Failure):
            self._finish(visit, self._recorder.failure(visit, when, answer.outcome))
        else:
            host.fetched += 1
            await self._take_in(visit, when, answer)
        return self._pause(host)

    async def _request(self, url: str, first_bytes: int | None = None) -> Response | Failure:
        self.report.requests += 1
        answer = await self._fetcher.fetch(url, first_bytes=first_bytes)
        if isinstance(answer, Response):
            self.report.bytes += len(answer.body)
        return answer

    async def _take_in(self, visit: Visit, when: float, response: Response) -> None:
        """Parses and stores a response, and feeds its links to the sieve."""
        converted = None
        if response.status == 200 and response.content_type in CONVERTIBLE:
            converted = await convert(response.body, response.content_type, self._settings.timeout)
        loop = asyncio.get_running_loop()
        try:
            page = await loop.run_in_executor(
                self._parsers, make_page, response, when, self._settings.max_bytes, converted
            )
        except InternalError:
            self._finish(visit, self._recorder.failure(visit, when, Outcome.UNPARSED, response.status))
            return
        if response.status in _REDIRECTS:
            [target] = _core.canonical_urls([response.header("location") or ""], visit.url)
            if target and visit.depth == 0:
                # Where a seed leads (from http to https, to www) is what was meant by it.
                self._scope.add(host_of(target))
            if target and self._in_scope(target):
                self._frontier.add([target], [pack(visit.depth, visit.chain, visit.redirects + 1)])
            row = self._recorder.redirect(visit, when, response, page, target)
        else:
            row = self._recorder.page(visit, when, response, page)
            if page.parsed is not None:
                self._follow(visit, page.parsed)
        self._finish(visit, row)

    def _follow(self, visit: Visit, parsed: _core.ParsedPage) -> None:
        depth = visit.depth + 1
        if self._settings.max_depth and depth > self._settings.max_depth:
            return
        same, other = pack(depth, visit.chain + 1), pack(depth)
        found = [
            (url, same if alike else other)
            for url, alike in zip(parsed.links, parsed.same_shape, strict=True)
            if self._in_scope(url)
        ]
        self._frontier.add([url for url, _ in found], [tag for _, tag in found])

    def _in_scope(self, url: str) -> bool:
        return self._settings.scope == "any" or host_of(url) in self._scope

    def _finish(self, visit: Visit, row: Row) -> None:
        self.report.count(row)
        self._frontier.finish(visit)

    def _pause(self, host: Host) -> float:
        return max(self._settings.delay, min(host.robots.delay if host.robots else 0.0, _LONGEST_WAIT))

    def _backoff(self, attempt: int) -> float:
        return float(min(_LONGEST_WAIT, max(self._settings.delay, 0.5) * 2 ** (attempt - 1)))

    async def _keep_time(self) -> None:
        """Reports, and makes a checkpoint when one is due."""
        started = last = time.monotonic()
        while True:
            await asyncio.sleep(_BETWEEN_REPORTS)
            now = time.monotonic()
            if now - last >= self._settings.checkpoint:
                self._checkpoint()
                last = now
            if self._settings.max_time and now - started >= self._settings.max_time:
                self.report.stopped_by = "max_time"
                self.stop()
            self._tell()

    def _checkpoint(self) -> None:
        self._bring_up_to_date()
        sieve = self._frontier.checkpoint()
        files = {**self._recorder.sync(), **sieve.files}
        state = {
            "sieve": sieve.state,
            "seeds": self._seeds,
            "scope": sorted(self._scope),
            "position": self._frontier.position,
            "hosts": len(self._recorder.hosts),
            "report": self.report.to_dict(),
        }
        self._collection.commit(files, crawl=state)

    def _tell(self) -> None:
        self._bring_up_to_date()
        if self._on_progress:
            self._on_progress(self.report)

    def _bring_up_to_date(self) -> None:
        report = self.report
        report.tick()
        report.seen, report.waiting, report.active = (
            self._frontier.seen,
            self._frontier.waiting,
            len(self._active),
        )


def _retry_after(response: Response) -> float:
    """The seconds that a server asks us to wait; dates are not worth parsing for a wait that is capped."""
    asked = response.header("retry-after") or ""
    return min(float(asked), _LONGEST_WAIT) if asked.isdigit() else 0.0
