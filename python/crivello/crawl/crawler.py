"""The crawl driver: starts the native threads, makes checkpoints, and decides when to end.

Fetching, parsing and storing run in native threads (``crates/core/src/crawl``); this thread polls them a
few times a second. Every few seconds a checkpoint makes the sieve, the table, the links, the archive and
the log durable together, so a crash loses at most what came after it.

A run can be steered while it goes on (``crivello.crawl.steering``): a command ends the native threads at a checkpoint, is
carried out, and they are started anew, which takes a fraction of a second; in a pause they are started when it is over.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from crivello import _core
from crivello.collection import Collection
from crivello.crawl import reach
from crivello.crawl.converters import command, load_converters
from crivello.crawl.exchange import Membership
from crivello.crawl.now import Now
from crivello.crawl.priority import load_policy
from crivello.crawl.progress import ProgressLog
from crivello.crawl.report import Report
from crivello.crawl.steering import MOST_PAGES, Command, Steering, set_in_file, without_port
from crivello.errors import CrawlError, CrivelloError, InvalidArgument
from crivello.extend import Extensions, imported, label_of
from crivello.settings import Crawl, Refresh, Store, for_core
from crivello.sieve import KINDS, QUEUE, Sieve, open_sieve, state_of_kind
from crivello.store import Outcome

_BETWEEN_REPORTS = 0.2
# The first checkpoint comes early, so that the first pages can be searched soon; then the interval doubles.
_FIRST_CHECKPOINT = 0.5
# Other agents get only what is committed, and may be waiting for it.
_BETWEEN_EXCHANGES = 1.0
_SOONEST_EXCHANGE = 0.05
# How many times as long as a checkpoint took the next one waits, if others wait for it.
_SHARE_OF_EXCHANGES = 4.0
# Ctrl-C must end a crawl within three seconds: fetched pages get this long to be stored.
_SETTLING = 1.5
# Why nothing was fetched from a host that the settings block, as its rows say (crates/core/src/crawl/fetching).
_BLOCKED = "its host is blocked"


def canonical_seeds(urls: Sequence[str]) -> list[str]:
    """Canonicalises the seeds; raises `InvalidArgument` for anything but an http or https URL."""
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
    settings: Crawl | None = None,
    on_progress: Callable[[Report], object] | None = None,
) -> Report:
    """Crawls into a collection that is open for writing, from these URLs and from where the last run stopped.

    ``settings`` replaces those of the collection for this run. Ctrl-C ends it with a checkpoint and raises
    `KeyboardInterrupt`.
    """
    return Crawler(collection, urls, settings=settings, on_progress=on_progress).run()


def user_agent(settings: Crawl) -> str:
    """The User-Agent header: name, version and contact."""
    contact = f" (+{settings.contact})" if settings.contact else ""
    return f"{settings.user_agent}/{version('crivello')}{contact}"


def plan_of(settings: Crawl, seeds: Sequence[str], extensions: Extensions, **more: Any) -> bytes:
    """The configuration of the native threads, as JSON."""
    converters = load_converters(extensions, settings.converters)
    plan = {
        "crawl": for_core(settings),
        "store": for_core(Store()),
        "refresh": for_core(Refresh()),
        "folder": "",
        "software": user_agent(settings),
        "seeds": seeds,
        "led_to": [],
        "counted": {},
        "converter": command(converters, settings),
        "converters": {media_type: f"crawl.converters {name}" for media_type, name in converters.items()},
        "sieve_state": {},
        "position": None,
        "revisits": 0,
        "reread": None,
        "exchange": None,
        **more,
    }
    return msgspec.json.encode(plan)


def check(settings: Crawl, seeds: Sequence[str]) -> None:
    """Raises any error that would keep a crawl from starting, before any file is created."""
    extensions = Extensions()
    load_policy(extensions, settings)
    if settings.sieve not in KINDS:
        imported("crawl.sieve", settings.sieve)
    _core.check_crawl(plan_of(settings, seeds, extensions))


def starts_on_private(settings: Crawl, seeds: Sequence[str]) -> bool:
    """Returns whether any of the seeds is on a private network.

    Raises `CrawlError` if none of their names resolves. With a proxy or a configured name server this is left to
    the crawl itself.
    """
    if settings.name_server or settings.proxy:
        return False
    private = _core.any_is_private(list(seeds), settings.hosts_file or None)
    if private is None and seeds:
        raise CrawlError(
            f"could not reach {seeds[0]}: the name {urlsplit(seeds[0]).hostname} does not resolve",
            hint="check the spelling and the network",
        )
    return bool(private)


class Crawler:
    """One run of a crawl.

    ``revisits`` are pages of the collection to visit again before any new URL: the length of a queue that
    ``plan_revisits`` has just written, or their URLs; ``pushed`` are the contents that pages have now (URL, media
    type, body), which need no request. A run with either needs no seeds. ``reaches`` are URLs that widen the scope as
    seeds do, and are not visited for that.

    With ``exchange`` this is one agent of several: it needs no seeds, makes requests only while it is permitted to
    (`permit`), and does not end by itself. `outgoing`, `rewind`, `acknowledge`, `receive`, `permit` and `drain` are
    thread-safe, and raise `CrawlError` while the crawl is not running (`is_running`).
    """

    def __init__(
        self,
        collection: Collection,
        urls: Sequence[str] = (),
        *,
        settings: Crawl | None = None,
        revisits: int | Sequence[str] = 0,
        pushed: Sequence[tuple[str, str, bytes]] = (),
        reaches: Sequence[str] = (),
        exchange: Membership | None = None,
        on_progress: Callable[[Report], object] | None = None,
        on_checkpoint: Callable[[], object] | None = None,
    ) -> None:
        self._revisits = revisits
        self._exchange = exchange
        self._native: _core.Crawl | None = None
        self._pushed = pushed
        self._collection = collection
        self._settings = settings or collection.settings.crawl
        self._on_progress, self._on_checkpoint = on_progress, on_checkpoint
        self._state = collection.state("crawl")
        if reaches:
            self._state["led_to"] = [*dict.fromkeys([*self._state.get("led_to", []), *reaches])]
        known: list[str] = self._state.get("seeds", [])
        older = set(known)
        new = [seed for seed in dict.fromkeys(canonical_seeds(urls)) if seed not in older]
        self._seeds = [*known, *new]
        if not self._seeds and not revisits and not pushed and exchange is None:
            raise CrawlError(
                f"{collection.folder} has no seeds yet", hint="name at least one URL to start from"
            )
        # A seed on a private network is consent to crawl that network. Only new seeds are checked: a name
        # that has moved to a private address since it was added is no such consent.
        private: bool = self._state.get("private", False)
        # Agents do not ask: whoever starts them has, and each name is resolved by its owner alone.
        is_asked = bool(new) and exchange is None
        self._private = private or (is_asked and starts_on_private(self._settings, new))
        self.report: Report = Report(self._state.get("report"))
        self._progress = ProgressLog(collection)
        self._stopping = threading.Event()
        # An agent is steered by the driver of its cluster.
        self._steering = Steering(collection) if exchange is None else None
        self._now = Now(collection.folder, self._settings) if exchange is None else None
        self._began = time.time()
        self._pending: list[Command] = []
        self._is_paused = False

    def stop(self) -> None:
        """Ends the crawl, after a checkpoint. Thread-safe."""
        self._stopping.set()

    @property
    def is_running(self) -> bool:
        """Whether other agents can be exchanged with."""
        return self._native is not None

    @property
    def incarnation(self) -> int:
        """A number that no other collection of this agent has; 0 before its first checkpoint."""
        exchange = self._collection.state("crawl").get("exchange")
        return int(exchange["incarnation"]) if exchange else 0

    def outgoing(self, peer: int, limit: int) -> tuple[int, int, bytes] | None:
        """The next batch for another agent, of about ``limit`` bytes: the positions of its begin and end, and the batch.

        It has no record if everything was sent and not all of it acknowledged; None if there is nothing to do.
        """
        return self._running().outgoing(peer, limit)

    def rewind(self, peer: int, position: int) -> None:
        """Sends another agent what begins at a position, because that is what it expects."""
        self._running().rewind(peer, position)

    def acknowledge(self, peer: int, position: int) -> None:
        """Drops what another agent has committed."""
        self._running().acknowledge(peer, position)

    def receive(self, sender: int, epoch: int, start: int, batch: bytes) -> tuple[int, int]:
        """Accepts a batch of another agent; returns the positions up to which its records are accepted and committed.

        A batch that begins past what is expected is refused by them. Raises `InvalidArgument` if the sender is in
        another epoch.
        """
        return self._running().receive(sender, epoch, start, batch)

    def permit(self, seconds: float) -> None:
        """Allows requests for so long from now; requests that are being made when that is over are cut off."""
        self._running().permit(seconds)

    def drain(self) -> None:
        """Begins no further request and emits nothing more, until the end; what is being fetched is stored, and the
        exchange goes on. ``is_drained`` in the report of the exchange says when that is so."""
        self._running().drain()

    def _running(self) -> _core.Crawl:
        native = self._native
        if native is None:
            raise CrawlError("the crawl is not running", hint="it may just be starting or ending: try again")
        return native

    def run(self) -> Report:
        """Crawls until the frontier is empty, a limit is reached, or Ctrl-C."""
        try:
            with signals_interrupt():
                self._obey_earlier()
                self._run_part()
                while self._goes_on():
                    self.report.resume()
                    self._run_part()
        finally:
            if self._now:
                self._now.close()
        return self.report

    def _run_part(self) -> None:
        """Runs native threads until the crawl should end, or was told to do something."""
        self._commit_seeds()
        native = self._native = self._start()
        interrupted = False
        try:
            try:
                self._watch(native)
            except KeyboardInterrupt:
                interrupted = True
            native.stop(_SETTLING)
            self._checkpoint(native)
            self._tell(native)
        finally:
            self._native = None
            native.close()
        if interrupted:
            raise KeyboardInterrupt

    def _watch(self, native: _core.Crawl) -> None:
        """Reports, makes a checkpoint when one is due, and returns when the crawl should end or was told to do something."""
        last = told = time.monotonic()
        took = 0.0
        between = min(_FIRST_CHECKPOINT, self._settings.checkpoint)
        while not self._stopping.is_set():
            # Who waits for others gets what they have soon, but checkpoints take only a part of the time.
            soonest = last + max(_SOONEST_EXCHANGE, _SHARE_OF_EXCHANGES * took)
            over, limit = native.wait(_BETWEEN_REPORTS, soonest - time.monotonic())
            self.report.stopped_by = limit
            if self._steering:
                self._pending += self._steering.commands()
            if over or self._pending:
                return
            now = time.monotonic()
            if now - last >= between or (now >= soonest and self._others_wait(native, now - last)):
                self._checkpoint(native)
                last = time.monotonic()
                took = last - now
                between = min(2 * between, self._settings.checkpoint)
            if self._settings.max_time and self.report.elapsed >= self._settings.max_time:
                self.report.stopped_by = "max_time"
                return
            if now - told > _BETWEEN_REPORTS / 2:
                told = now
                self._tell(native)

    def _others_wait(self, native: _core.Crawl, seconds: float) -> bool:
        """Whether a checkpoint is due for the sake of other agents, so many seconds after the last."""
        wants, is_behind = native.others_wait()
        return wants or (is_behind and seconds >= _BETWEEN_EXCHANGES)

    def _goes_on(self) -> bool:
        """Does what the crawl was told, while no native thread runs; returns whether to start them anew."""
        if self._steering is None or not self._pending:
            return False
        while self._pending or self._is_paused:
            if self._pending:
                self._obey(self._steering)
            if self._stopping.is_set():
                return False
            if self._is_paused:
                self._show()
                time.sleep(_BETWEEN_REPORTS)
                self._pending = self._steering.commands()
        self._state = self._collection.state("crawl")
        self._plan_revisits(self._steering)
        return True

    def _obey_earlier(self) -> None:
        """Does what was said while no crawl was running."""
        if self._steering is None:
            return
        self._pending = self._steering.commands()
        if self._pending or self._steering.has_news:
            self._obey(self._steering)
        asked = self._steering.still_to_refresh()
        if asked and not self._revisits:
            self._revisits = asked

    def _obey(self, steering: Steering) -> None:
        """Carries out the pending commands, and commits that."""
        pending, self._pending = self._pending, []
        for told in pending:
            try:
                steering.answer(told, self._carry_out(steering, told))
            except CrivelloError as error:
                steering.answer(told, str(error), is_done=False)
        steering.commit()
        if self._now:
            self._now.settings = self._settings
        self._show(at_once=True)

    def _plan_revisits(self, steering: Steering) -> None:
        """What the next native threads visit again: what was asked for, and what this run has not visited yet."""
        from crivello.crawl.revisits import find_due

        asked = steering.still_to_refresh()
        if isinstance(self._revisits, int):
            self._revisits = find_due(self._collection).queue if self._revisits and not asked else asked
            return
        left = [url for url in self._revisits if not self._was_visited(url)]
        self._pushed = [pushed for pushed in self._pushed if not self._was_visited(pushed[0])]
        self._revisits = list(dict.fromkeys([*asked, *left]))

    def _was_visited(self, url: str) -> bool:
        """Whether this run has visited a page again."""
        row = self._collection.page(url)
        return row is not None and row.fetched_at >= self._began

    def _carry_out(self, steering: Steering, told: Command) -> str:
        value = told.value
        match told.kind:
            case "pause":
                self._is_paused = True
                return "paused"
            case "resume":
                self._is_paused = False
                return "resumed"
            case "stop":
                self.report.is_stopped = True
                self._stopping.set()
                return "stopped"
            case "seeds":
                return self._add_seeds(value.split("\n"))
            case "scope":
                self._change(scope=value)
                return f"the scope is {value}"
            case "delay":
                self._change(delay=float(value) if value else None)
                return f"the delay is {value} s" if value else "there is no delay but that of politeness"
            case "block":
                hosts = dict.fromkeys([*self._settings.block.split(), value])
                self._change(block=" ".join(hosts))
                return f"{value} is blocked"
            case "unblock":
                names = {value, without_port(value)}
                left = [host for host in self._settings.block.split() if host not in names]
                if len(left) == len(self._settings.block.split()):
                    raise InvalidArgument(f"{value} is not blocked")
                self._change(block=" ".join(left))
                refused = dict.fromkeys(self._refused_pages(value), told.time)
                steering.refreshes |= refused
                again = f"; {len(refused):,} URLs are visited after all" if refused else ""
                return f"{value} is not blocked any more{again}"
            case "refresh":
                if self._collection.page(value) is None:
                    raise InvalidArgument(f"{value} was not visited yet")
                steering.refreshes[value] = told.time
                return f"{value} is visited again"
            case _:
                rows = islice(self._collection.pages(prefix=f"{value}/"), MOST_PAGES)
                pages = [row.url for row in rows]
                if not pages:
                    raise InvalidArgument(f"there is no page of {value}")
                steering.refreshes |= dict.fromkeys(pages, told.time)
                return f"{len(pages):,} pages of {value} are visited again"

    def _refused_pages(self, host: str) -> Iterator[str]:
        """The URLs that were not visited because their host was blocked."""
        refused = (
            row.url
            for row in self._collection.pages(site=without_port(host))
            if row.outcome is Outcome.LIMIT
            and row.detail == _BLOCKED
            and host in (urlsplit(row.url).netloc, urlsplit(row.url).hostname)
        )
        return islice(refused, MOST_PAGES)

    def _add_seeds(self, urls: Sequence[str]) -> str:
        known = set(self._seeds)
        new = [url for url in urls if url not in known]
        # Whoever reaches the dashboard need not be allowed to reach this network.
        allowed = self._private or self._settings.allow_private
        if new and not allowed and starts_on_private(self._settings, new):
            raise CrawlError("a seed is on a private network", hint="name it on the command line")
        self._seeds = [*self._seeds, *new]
        return f"{len(new):,} seeds were added" if len(new) != 1 else f"{new[0]} was added"

    def _change(self, **changes: Any) -> None:
        """Changes settings, for this run and in the file for the next ones."""
        changed = msgspec.structs.replace(self._settings, **changes)
        check(changed, self._seeds)
        set_in_file(self._collection.folder, changes)
        self._settings = changed
        own = self._collection.settings
        self._collection.settings = msgspec.structs.replace(
            own, crawl=msgspec.structs.replace(own.crawl, **changes)
        )

    def _commit_seeds(self) -> None:
        """Commits the seeds and the reach, so that a crawl that ends before its first checkpoint can be resumed."""
        queued = self._collection.length(QUEUE)
        has_lost = self._exchange is not None and self._exchange.has_lost(self._state.get("exchange"))
        reread = reach.states(self._state, self._settings, self._seeds, queued, has_lost=has_lost)
        self._state = {**self._state, "seeds": self._seeds, "private": self._private, **reread}
        if self._state != self._collection.state("crawl"):
            self._collection.commit({}, crawl=self._state)

    def _limited(self) -> Crawl:
        """The settings with the limits of the run that are left."""
        settings, report = self._settings, self.report
        limits = {"max_pages": report.pages_of_run, "max_volume": report.bytes_of_run}
        left = {
            name: max(1, getattr(settings, name) - done)
            for name, done in limits.items()
            if getattr(settings, name)
        }
        return msgspec.structs.replace(settings, **left)

    def _start(self) -> _core.Crawl:
        collection, settings, state = self._collection, self._limited(), self._state
        kind = label_of(self._sieve)
        sieve_state = state_of_kind(kind, collection.folder, state.get("sieve"))
        is_native = kind in KINDS and kind != "lsm"
        plan = plan_of(
            msgspec.structs.replace(settings, allow_private=settings.allow_private or self._private),
            self._seeds,
            collection.extensions,
            folder=str(collection.folder),
            store=for_core(collection.settings.store),
            refresh=for_core(collection.settings.refresh),
            led_to=state.get("led_to", []),
            counted=state.get("report", {}),
            sieve_state=sieve_state if is_native else {},
            position=state.get("position"),
            reread=reach.plan(state, self._seeds),
            exchange=self._exchange and self._exchange.plan(state.get("exchange")),
            revisits=self._queue_of_revisits(),
        )
        return _core.Crawl(
            plan,
            dict(collection.files),
            None if is_native else self._python_sieve(),
            load_policy(collection.extensions, settings),
        )

    def _queue_of_revisits(self) -> int:
        """The length of the queue of revisits, which is written first if URLs were given."""
        if isinstance(self._revisits, int):
            return self._revisits
        options = msgspec.json.encode(for_core(self._collection.settings.refresh))
        urls = canonical_seeds(self._revisits)
        length, pages, _ = self._collection._native.plan_revisits(
            options, time.time(), urls=urls, pushed=list(self._pushed)
        )
        return length if pages else 0

    @property
    def _sieve(self) -> object:
        """The kind of the sieve, or a user-defined class."""
        return self._collection.extensions.named("crawl.sieve", self._settings.sieve)

    def _python_sieve(self) -> Sieve:
        settings, state = self._settings, self._state
        return open_sieve(
            self._sieve,
            self._collection.folder,
            self._collection.files,
            state.get("sieve"),
            start=self._position(),
            memory=settings.sieve_memory,
            cache=settings.sieve_cache,
            signature_bits=settings.sieve_signature_bits,
        )

    def _position(self) -> int | None:
        """The offset at which a sieve starts: the first if agents give their responsibilities anew."""
        position: int | None = self._state.get("position")
        begins_anew = self._exchange and self._exchange.begins_anew(self._state.get("exchange"))
        return 0 if begins_anew else position

    def _checkpoint(self, native: _core.Crawl) -> None:
        files, encoded = native.checkpoint()
        state = msgspec.json.decode(encoded)
        self.report.update(state.pop("report"))
        kind = label_of(self._sieve)
        self.report.sieve = state.pop("described")
        exchange = state.pop("exchange") or self._state.get("exchange")
        if exchange is not None:
            state["exchange"] = exchange
        files |= self._progress.append(self.report)
        state |= {
            "sieve": {"kind": kind, **state["sieve"]},
            "seeds": self._seeds,
            "private": self._private,
            "led_to": [*dict.fromkeys([*self._state.get("led_to", []), *state["led_to"]])],
            "report": self.report.to_dict(),
            "reach": self._state["reach"],
            "reread": self._reread(state["reread"]),
        }
        self._collection.commit(files, table=state.pop("table"), crawl=state)
        native.committed()
        if self._on_checkpoint:
            self._on_checkpoint()

    def _reread(self, next_offset: int | None) -> dict[str, Any] | None:
        """How far the links of stored pages were read again."""
        return None if next_offset is None else {**self._state["reread"], "next": next_offset}

    def _tell(self, native: _core.Crawl) -> None:
        self.report.update(msgspec.json.decode(native.report()))
        self._show()
        if self._on_progress:
            self._on_progress(self.report)

    def _show(self, *, at_once: bool = False) -> None:
        if self._now:
            self._now.tell(self.report, "paused" if self._is_paused else "crawling", at_once=at_once)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Makes SIGTERM end a crawl as Ctrl-C does; only the main thread may handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
