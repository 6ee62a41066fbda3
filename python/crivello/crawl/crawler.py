"""The crawl driver: starts the native threads, makes checkpoints, and decides when to end.

Fetching, parsing and storing run in native threads (``crates/core/src/crawl``); this thread polls them a
few times a second. Every few seconds a checkpoint makes the sieve, the table, the links, the archive and
the log durable together, so a crash loses at most what came after it.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from crivello import _core
from crivello.collection import Collection
from crivello.crawl import reach
from crivello.crawl.converters import command, load_converters
from crivello.crawl.priority import load_policy
from crivello.crawl.progress import ProgressLog
from crivello.crawl.report import Report
from crivello.errors import CrawlError, InvalidArgument
from crivello.extend import Extensions, imported, label_of
from crivello.settings import Crawl, Refresh, Store, for_core
from crivello.sieve import KINDS, QUEUE, Sieve, open_sieve, state_of_kind

_BETWEEN_REPORTS = 0.2
# The first checkpoint comes early, so that the first pages can be searched soon; then the interval doubles.
_FIRST_CHECKPOINT = 0.5
# Ctrl-C must end a crawl within three seconds: fetched pages get this long to be stored.
_SETTLING = 1.5


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
        on_progress: Callable[[Report], object] | None = None,
    ) -> None:
        self._revisits = revisits
        self._pushed = pushed
        self._collection = collection
        self._settings = settings or collection.settings.crawl
        self._on_progress = on_progress
        self._state = collection.state("crawl")
        if reaches:
            self._state["led_to"] = [*dict.fromkeys([*self._state.get("led_to", []), *reaches])]
        known: list[str] = self._state.get("seeds", [])
        older = set(known)
        new = [seed for seed in dict.fromkeys(canonical_seeds(urls)) if seed not in older]
        self._seeds = [*known, *new]
        if not self._seeds and not revisits and not pushed:
            raise CrawlError(
                f"{collection.folder} has no seeds yet", hint="name at least one URL to start from"
            )
        # A seed on a private network is consent to crawl that network. Only new seeds are checked: a name
        # that has moved to a private address since it was added is no such consent.
        private: bool = self._state.get("private", False)
        self._private = private or (bool(new) and starts_on_private(self._settings, new))
        self.report: Report = Report(self._state.get("report"))
        self._progress = ProgressLog(collection)
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Ends the crawl, after a checkpoint. Thread-safe."""
        self._stopping.set()

    def run(self) -> Report:
        """Crawls until the frontier is empty, a limit is reached, or Ctrl-C."""
        self._commit_seeds()
        native = self._start()
        interrupted = False
        try:
            try:
                with _signals_interrupt():
                    self._watch(native)
            except KeyboardInterrupt:
                interrupted = True
            native.stop(_SETTLING)
            self._checkpoint(native)
            self._tell(native)
        finally:
            native.close()
        if interrupted:
            raise KeyboardInterrupt
        return self.report

    def _watch(self, native: _core.Crawl) -> None:
        """Reports, makes a checkpoint when one is due, and returns when the crawl should end."""
        started = last = time.monotonic()
        between = min(_FIRST_CHECKPOINT, self._settings.checkpoint)
        while not self._stopping.is_set():
            over, limit = native.wait(_BETWEEN_REPORTS)
            self.report.stopped_by = limit
            if over:
                return
            now = time.monotonic()
            if now - last >= between:
                self._checkpoint(native)
                last = time.monotonic()
                between = min(2 * between, self._settings.checkpoint)
            if self._settings.max_time and now - started >= self._settings.max_time:
                self.report.stopped_by = "max_time"
                return
            self._tell(native)

    def _commit_seeds(self) -> None:
        """Commits the seeds and the reach, so that a crawl that ends before its first checkpoint can be resumed."""
        queued = self._collection.length(QUEUE)
        reread = reach.states(self._state, self._settings, self._seeds, queued)
        self._state = {**self._state, "seeds": self._seeds, "private": self._private, **reread}
        if self._state != self._collection.state("crawl"):
            self._collection.commit({}, crawl=self._state)

    def _start(self) -> _core.Crawl:
        collection, settings, state = self._collection, self._settings, self._state
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
            start=state.get("position"),
            memory=settings.sieve_memory,
            cache=settings.sieve_cache,
            signature_bits=settings.sieve_signature_bits,
        )

    def _checkpoint(self, native: _core.Crawl) -> None:
        files, encoded = native.checkpoint()
        state = msgspec.json.decode(encoded)
        self.report.update(state.pop("report"))
        kind = label_of(self._sieve)
        self.report.sieve = state.pop("described")
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

    def _reread(self, next_offset: int | None) -> dict[str, Any] | None:
        """How far the links of stored pages were read again."""
        return None if next_offset is None else {**self._state["reread"], "next": next_offset}

    def _tell(self, native: _core.Crawl) -> None:
        self.report.update(msgspec.json.decode(native.report()))
        if self._on_progress:
            self._on_progress(self.report)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
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
