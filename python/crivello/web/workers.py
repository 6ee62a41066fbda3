"""Several processes that answer requests at one address: started, watched, restarted and replaced.

The supervisor listens and never answers; its workers inherit the socket, and the system gives each connection to
one of them. SIGHUP replaces every worker, so that new code, certificates and users are used: first the new ones
start, and only when they answer do the old ones stop accepting. An old worker ends every connection with the
response to its next request, and lives longer than an idle connection may, so no request is lost. A new commit of the
collection needs none of this: each worker reads it with the next request.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crivello.errors import CrivelloError
from crivello.settings import Serve, Settings
from crivello.web import logs
from crivello.web.server import check, listen, url_of

if TYPE_CHECKING:
    from crivello.collection import Collection

_log = logging.getLogger("crivello.web")

DRAINING = 6.0
"""Seconds that an old worker goes on; uvicorn closes a connection that was idle for five."""
_WATCHED = 0.1
_PAUSE = 0.5
_OPENING = 600.0
_ENDING = 10.0


class Plan(msgspec.Struct):
    """What a worker is told."""

    folder: str
    settings: Settings
    socket: int
    counted: str
    """The folder of the counters that the workers share."""


def serve_by_workers(
    collection: Collection, settings: Serve, *, on_ready: Callable[[str], object] | None = None
) -> None:
    """Serves with ``settings.workers`` processes until Ctrl-C or SIGTERM; SIGHUP replaces them."""
    check(settings)
    logs.configure(settings.log)
    with (
        listen(settings.host, settings.port) as listener,
        tempfile.TemporaryDirectory(prefix="crivello-workers-") as counted,
        _signals() as asked,
    ):
        chosen = msgspec.structs.replace(collection.settings, serve=settings)
        plan = Plan(str(collection.folder.resolve()), chosen, listener.fileno(), counted)
        with _Workers(plan, settings.workers) as workers:
            # A Ctrl-C may reach a process before it has a group of its own.
            if not workers.begin() and not asked["end"]:
                raise CrivelloError("the workers could not be started", hint="what they logged says why")
            if on_ready and not asked["end"]:
                on_ready(url_of(settings.host, listener, settings))
            while not asked["end"]:
                if asked["reload"]:
                    asked["reload"] = False
                    workers.replace()
                workers.look()
                time.sleep(_WATCHED)


@contextmanager
def _signals() -> Iterator[dict[str, bool]]:
    """What the signals of this process ask for, while the context lasts."""
    asked = {"end": False, "reload": False}

    def note(number: int, _: Any) -> None:
        asked["reload" if number == signal.SIGHUP else "end"] = True

    before = {
        number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Worker:
    """A process; ``ready`` is set when it answers, or when it ended before."""

    def __init__(self, plan: Plan) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crivello.web.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(plan.socket,),
            process_group=0,  # A terminal's Ctrl-C is for the supervisor, also while workers are starting.
        )
        self.ready = threading.Event()
        self.tell(msgspec.json.encode(plan))
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.ready.set()

    def tell(self, line: bytes) -> None:
        """Sends the worker a line; one that has ended is told nothing."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        """Ends the process, by force if it must be."""
        self.tell(b"end")
        try:
            self.process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


class _Workers:
    """The processes that answer, and those that finish."""

    def __init__(self, plan: Plan, count: int) -> None:
        self._plan = plan
        self._count = count
        self._answering: list[_Worker] = []
        self._finishing: list[_Worker] = []
        self._ended_at = 0.0

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *exception: object) -> None:
        everyone = [*self._answering, *self._finishing]
        for worker in everyone:
            worker.tell(b"end")
        for worker in everyone:
            worker.end()

    def begin(self) -> bool:
        """Starts the workers, and waits until all of them answer; returns whether they do."""
        self._answering = self._started()
        return not any(worker.has_ended for worker in self._answering)

    def replace(self) -> None:
        """Starts new workers and, if they answer, lets the old ones finish; otherwise the old ones stay."""
        new = self._started()
        if any(worker.has_ended for worker in new):
            _log.error("the new workers could not be started: the old ones stay")
            for worker in new:
                worker.end()
            return
        for worker in self._answering:
            worker.tell(b"drain")
        self._finishing += self._answering
        self._answering = new

    def look(self) -> None:
        """Forgets who has finished, and replaces who has died, after a pause."""
        for worker in [one for one in self._finishing if one.has_ended]:
            worker.end()
            self._finishing.remove(worker)
        dead = [one for one in self._answering if one.has_ended]
        if dead and not self._ended_at:
            self._ended_at = time.monotonic()
            _log.error("%d of %d workers ended: they are started again", len(dead), self._count)
        elif dead and time.monotonic() - self._ended_at > _PAUSE:
            self._ended_at = 0.0
            for worker in dead:
                worker.end()
                self._answering.remove(worker)
                self._answering.append(_Worker(self._plan))

    def _started(self) -> list[_Worker]:
        workers = [_Worker(self._plan) for _ in range(self._count)]
        for worker in workers:
            worker.ready.wait(_OPENING)
        # The pipe of a process that failed closes a moment before the process has ended.
        deadline = time.monotonic() + _PAUSE
        while time.monotonic() < deadline and not any(worker.has_ended for worker in workers):
            time.sleep(_WATCHED / 10)
            if all(Path(self._plan.counted, f"{worker.process.pid}.json").exists() for worker in workers):
                break
        return workers
