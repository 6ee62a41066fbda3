"""The web server: in the foreground for ``crivello serve``, beside a crawl for ``crivello up``."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType

import uvicorn

from crivello.errors import CrivelloError, InvalidArgument
from crivello.web.app import create_app
from crivello.web.engine import Engine
from crivello.web.push import Push

_SECONDS_TO_FINISH_REQUESTS = 3
_LAST_PORT = 65_535
_ANOTHER_PORT = "name another port with --port"
_COMMON_HOSTS = "use --host 127.0.0.1 for this machine only, or 0.0.0.0 for the whole network"
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def serve(
    engine: Engine,
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    push: Push | None = None,
    on_ready: Callable[[str], object] | None = None,
) -> None:
    """Serve until Ctrl-C; ``on_ready`` is called with the URL once the server answers."""
    with _listen(host, port) as listener:
        url = _url(host, listener)
        announce = (lambda: on_ready(url)) if on_ready else (lambda: None)
        # uvicorn finishes the requests in progress, then raises the signal that stopped it again.
        with contextlib.suppress(KeyboardInterrupt):
            _Uvicorn(engine, announce, push).run(sockets=[listener])


def free_port(host: str, wanted: int) -> int:
    """The wanted port if it is free; otherwise 0, for any other."""
    try:
        with _listen(host, wanted):
            return wanted
    except CrivelloError:
        return 0


class Server:
    """The server in a background thread, for as long as the context lasts; port 0 takes any free one."""

    def __init__(
        self, engine: Engine, host: str = "127.0.0.1", port: int = 0, *, push: Push | None = None
    ) -> None:
        self._listener = _listen(host, port)
        self.url: str = _url(host, self._listener)
        self._ready = Event()
        self._uvicorn = _Uvicorn(engine, self._ready.set, push)
        self._thread = Thread(target=self._run, name="crivello-web", daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        self._ready.wait()
        if not self._uvicorn.started:
            raise CrivelloError(f"could not serve on {self.url}", hint="the log of the server says why")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait(self) -> None:
        """Wait until the server ends, or until Ctrl-C."""
        self._thread.join()

    def stop(self) -> None:
        """Finish the requests in progress, then release the port; idempotent."""
        self._uvicorn.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        try:
            self._uvicorn.run(sockets=[self._listener])
        finally:
            self._ready.set()


class _Uvicorn(uvicorn.Server):
    """Reports when it is ready, and logs only problems."""

    def __init__(self, engine: Engine, on_ready: Callable[[], object], push: Push | None) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(engine, push),
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=_SECONDS_TO_FINISH_REQUESTS,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


def _listen(host: str, port: int) -> socket.socket:
    # The resolver would reduce a larger port modulo 65536.
    if not 0 <= port <= _LAST_PORT:
        raise InvalidArgument(
            f"could not serve on port {port}: ports go from 0 to {_LAST_PORT}", hint=_ANOTHER_PORT
        )
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        reason, hint = _explained(error)
        raise CrivelloError(f"could not serve on {host}:{port}: {reason}", hint=hint) from error


def _explained(error: OSError) -> tuple[str, str | None]:
    """Why the system refused an address, and a hint."""
    match error:
        case socket.gaierror():
            return "the name does not resolve", _COMMON_HOSTS
        case OSError(errno=errno.EADDRINUSE):
            return "the port is taken", _ANOTHER_PORT
        case OSError(errno=errno.EACCES):
            return "the system reserves the port", f"{_ANOTHER_PORT}, above 1023"
        case OSError(errno=errno.EADDRNOTAVAIL):
            return "this machine does not have that address", _COMMON_HOSTS
        case _:
            return error.strerror or str(error), None


def _url(host: str, listener: socket.socket) -> str:
    reachable = _EVERY_ADDRESS.get(host, host)
    bracketed = f"[{reachable}]" if ":" in reachable else reachable
    return f"http://{bracketed}:{listener.getsockname()[1]}"
