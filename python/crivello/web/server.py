"""The web server: in the foreground for ``crivello serve``, beside a crawl for ``crivello up``."""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from crivello.errors import CrivelloError, InvalidArgument, InvalidSetting, StorageError
from crivello.settings import Serve
from crivello.web import logs
from crivello.web.api import Doors
from crivello.web.api.tokens import Tokens
from crivello.web.app import create_app
from crivello.web.auth import BasicAuth, read_users
from crivello.web.engine import Engine
from crivello.web.metrics import Measured, Metrics
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
    doors: Doors | None = None,
    on_ready: Callable[[str], object] | None = None,
    settings: Serve | None = None,
) -> None:
    """Serve until Ctrl-C; ``on_ready`` is called with the URL once the server answers.

    ``settings`` says how; the address is that of ``host`` and ``port``.
    """
    settings = settings or Serve()
    check(settings)
    logs.configure(settings.log)
    with listen(host, port) as listener:
        url = url_of(host, listener, settings)
        announce = (lambda: on_ready(url)) if on_ready else (lambda: None)
        # uvicorn finishes the requests in progress, then raises the signal that stopped it again.
        with contextlib.suppress(KeyboardInterrupt):
            Uvicorn(engine, announce, push, settings, doors=doors).run(sockets=[listener])


def free_port(host: str, wanted: int) -> int:
    """The wanted port if it is free; otherwise 0, for any other."""
    try:
        with listen(host, wanted):
            return wanted
    except CrivelloError:
        return 0


class Server:
    """The server in a background thread, for as long as the context lasts; port 0 takes any free one."""

    def __init__(
        self,
        engine: Engine,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        push: Push | None = None,
        doors: Doors | None = None,
        settings: Serve | None = None,
    ) -> None:
        settings = settings or Serve()
        check(settings)
        self._listener = listen(host, port)
        self.url: str = url_of(host, self._listener, settings)
        self._ready = Event()
        self._uvicorn = Uvicorn(engine, self._ready.set, push, settings, doors=doors)
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

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the server ends, for at most so long, or until Ctrl-C; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

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


class Uvicorn(uvicorn.Server):
    """Reports when it is ready; with TLS, users and trusted proxies as the settings say."""

    def __init__(
        self,
        engine: Engine,
        on_ready: Callable[[], object],
        push: Push | None,
        settings: Serve,
        *,
        doors: Doors | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        metrics = metrics or Metrics()
        self._application = create_app(engine, push, doors, metrics)
        super().__init__(
            uvicorn.Config(
                _operated(self._application, settings, metrics, doors.tokens if doors else None),
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=_SECONDS_TO_FINISH_REQUESTS,
                proxy_headers=bool(settings.trusted_proxies),
                forwarded_allow_ips=settings.trusted_proxies,
                ssl_certfile=settings.tls_certificate or None,
                ssl_keyfile=settings.tls_key or None,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams of events have no end of their own.
        self._application.state.is_ending = True
        await super().shutdown(sockets)


def _operated(application: Starlette, settings: Serve, metrics: Metrics, tokens: Tokens | None) -> ASGIApp:
    """The application behind its password, and everything that is asked counted and logged."""
    app: ASGIApp = application
    if settings.users:
        app = BasicAuth(app, read_users(Path(settings.users)), tokens)
    return Measured(logs.Logged(app), metrics, application.routes)


def check(settings: Serve) -> None:
    """Raises an error if the certificate or the users cannot be used."""
    if settings.users:
        read_users(Path(settings.users))
    if settings.tls_key and not settings.tls_certificate:
        raise InvalidSetting("there is a key without a certificate", hint="name it with --tls-certificate")
    files = [Path(name) for name in (settings.tls_certificate, settings.tls_key) if name]
    for file in files:
        try:
            file.open("rb").close()
        except OSError as error:
            raise StorageError.of(error, file) from None
    if files:
        try:
            # Without a password, a key that has one would be asked for on the terminal.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files[0], files[-1], password=lambda: "")
        except ssl.SSLError as error:
            raise InvalidSetting(
                f"{files[0]} and its key cannot be used: {error.reason or error}",
                hint="both are in PEM, the key without a password, and belong together",
            ) from None


def listen(host: str, port: int) -> socket.socket:
    """The socket of an address, or one sentence about why there is none."""
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


def url_of(host: str, listener: socket.socket, settings: Serve) -> str:
    """The URL by which this machine reaches the server."""
    reachable = _EVERY_ADDRESS.get(host, host)
    bracketed = f"[{reachable}]" if ":" in reachable else reachable
    scheme = "https" if settings.tls_certificate else "http"
    return f"{scheme}://{bracketed}:{listener.getsockname()[1]}"
