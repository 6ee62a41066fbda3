"""A worker of ``crivello serve --workers``: reads its plan from standard input, then answers until it is told to end.

The lines that follow are ``drain``, for finishing what it has, and ``end``; so is the end of the input, since the
supervisor is gone then.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crivello.collection import Collection
from crivello.errors import CrivelloError
from crivello.web import logs
from crivello.web.api import Doors
from crivello.web.metrics import Metrics
from crivello.web.push import Push
from crivello.web.server import Uvicorn
from crivello.web.workers import DRAINING, Plan

# Without a buffer: a thread that waits for a buffered one keeps Python from ending.
_INPUT = io.FileIO(0, closefd=False)


class _Last:
    """Middleware that, once ``is_last`` is set, ends every connection with its response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.is_last = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            if self.is_last and message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, receive, send_last if scope["type"] == "http" else send)


class _Worker(Uvicorn):
    """A server that can be told to finish."""

    def __init__(self, collection: Collection, plan: Plan, metrics: Metrics) -> None:
        serve = plan.settings.serve
        push, doors = Push(collection, serve.public_url), Doors(collection, serve)
        super().__init__(collection, self._say_ready, push, serve, doors=doors, metrics=metrics)
        self._metrics = metrics
        self._last = _Last(self.config.app)  # type: ignore[arg-type]
        self.config.app = self._last

    def _say_ready(self) -> None:
        self._metrics.write()
        print("ready", flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """None: the supervisor says when to end, also on a Ctrl-C, which a terminal sends to every process."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while _INPUT.readline() == b"drain\n":
            self._loop.call_soon_threadsafe(self._drain)
        self.should_exit = True

    def _drain(self) -> None:
        for server in self.servers:
            server.close()
        self._last.is_last = True
        self._loop.call_later(DRAINING, setattr, self, "should_exit", True)


def main() -> None:
    """The entry point of the process."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    plan = msgspec.json.decode(_INPUT.readline(), type=Plan)
    logs.configure(plan.settings.serve.log)
    metrics = Metrics(Path(plan.counted))
    try:
        collection = Collection(Path(plan.folder), settings=plan.settings)
        with socket.socket(fileno=plan.socket) as listener:
            _Worker(collection, plan, metrics).run(sockets=[listener])
    except CrivelloError as error:
        print(f"crivello: {error}", file=sys.stderr)
        sys.exit(3)
    metrics.write()


if __name__ == "__main__":
    main()
