"""A small, fast HTTP/1.1 server for static resources, on several addresses simultaneously."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import uvloop

from crivello.errors import CrawlError
from crivello.lab.web.message import Answer, Head, MalformedRequestError, accepts_gzip
from crivello.lab.web.resource import TEXT, Resource

_LONGEST_HEAD = 16 * 1024
_ATTEMPTS_AT_A_PORT = 100
_KEEP_ALIVE = b"Connection: keep-alive\r\n\r\n"
_CLOSE = b"Connection: close\r\n\r\n"
_PERCENT_ESCAPE = re.compile("%[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Request:
    """A line of the server's log: when a request had arrived and when its answer was about to be sent, in Unix time.

    A client that disconnects before the answer is logged, too, because it sent a request.
    """

    time_start: float
    time_end: float
    host: str
    path: str
    status: int
    connection_id: int
    user_agent: str


@dataclass(frozen=True, slots=True)
class Host:
    """What one address serves: static answers, and resources generated on demand."""

    answers: Mapping[str, Answer]
    on_demand: Callable[[str], Resource | None]
    delay: float

    def find(self, target: str) -> Answer:
        """The answer for a path and query; the case of percent escapes does not matter."""
        answer = self.answers.get(target)
        if answer is None and "%" in target:
            answer = self.answers.get(_PERCENT_ESCAPE.sub(lambda escape: escape[0].upper(), target))
        if answer is None and (resource := self.on_demand(target)) is not None:
            answer = Answer(resource, compresses=False)
        return answer or _NOT_FOUND


def _error(status: int, text: str) -> Answer:
    return Answer(Resource(text.encode(), TEXT, status), compresses=False)


_NOT_FOUND = _error(404, "There is no such page.\n")
_BAD_REQUEST = _error(400, "This is not a request that this server understands.\n")
_OTHER_METHOD = _error(501, "This server answers GET and HEAD.\n")


class Connection(asyncio.Protocol):
    """One client connection: its requests are answered sequentially, in order."""

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self._number = number
        self._received = bytearray()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._address: str = transport.get_extra_info("sockname")[0]
        self._server.connections.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._busy:
            self._answer_next()

    def abort(self) -> None:
        """Drop the client immediately."""
        self._transport.abort()

    def _answer_next(self) -> None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0 and len(self._received) <= _LONGEST_HEAD:
            return
        arrived = time.time()
        try:
            if not 0 <= end <= _LONGEST_HEAD:
                raise MalformedRequestError("the head is too long")
            head = Head.parse(bytes(self._received[:end]))
        except MalformedRequestError:
            self._received.clear()
            self._send(arrived, None, _BAD_REQUEST)
            return
        del self._received[: end + 4]
        host = self._server.hosts[self._address]
        answer = host.find(head.target) if head.method in (b"GET", b"HEAD") else _OTHER_METHOD
        if not host.delay:
            self._send(arrived, head, answer)
            return
        self._busy = True
        asyncio.get_running_loop().call_later(host.delay, self._send, arrived, head, answer)

    def _send(self, arrived: float, head: Head | None, answer: Answer) -> None:
        # The body of another method is not read, and would be parsed as the next request.
        stays = head is not None and head.keeps_alive and answer is not _OTHER_METHOD
        status, start, body = _reply(head, answer)
        # Before the answer is written: the client may have it, and rest, before this thread runs again.
        ended = time.time()
        if not self._transport.is_closing():
            self._transport.write(start + (_KEEP_ALIVE if stays else _CLOSE) + body)
        agent = head.headers.get(b"user-agent", b"").decode("latin-1") if head else ""
        target = head.target if head else ""
        self._server.record(Request(arrived, ended, self._address, target, status, self._number, agent))
        self._busy = False
        if not stays:
            self._transport.close()
        elif self._received:
            self._answer_next()


def _reply(head: Head | None, answer: Answer) -> tuple[int, bytes, bytes]:
    """The status, head and body of the response to a request."""
    if head is None:
        return answer.status, *answer.plain
    known = head.headers.get(b"if-none-match")
    if known is not None and answer.status == 200 and (answer.tag in known or known == b"*"):
        return 304, answer.unchanged, b""
    compressed = answer.compresses and accepts_gzip(head.headers.get(b"accept-encoding", b""))
    start, body = answer.compressed if compressed else answer.plain
    return answer.status, start, b"" if head.method == b"HEAD" else body


def listen(addresses: Iterable[str], port: int) -> tuple[int, list[socket.socket]]:
    """Sockets that listen on one port of every address; port 0 chooses one that is free on all of them."""
    addresses = list(addresses)
    attempts = 1 if port else _ATTEMPTS_AT_A_PORT
    for attempt in range(1, attempts + 1):
        sockets: list[socket.socket] = []
        chosen = port
        try:
            for address in addresses:
                sockets.append(_bound_socket(address, chosen))
                chosen = sockets[0].getsockname()[1]
            return chosen, sockets
        except OSError as error:
            for each in sockets:
                each.close()
            if attempt == attempts:
                where = f"{addresses[len(sockets)]}:{chosen}"
                raise CrawlError(
                    f"the sample web cannot listen on {where}: {error.strerror}",
                    hint="choose another port, or 0 for any that is free",
                ) from error
    raise AssertionError("the last attempt returns or raises")


def _bound_socket(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


class Server:
    """Serves hosts from a separate thread until it is stopped."""

    def __init__(
        self, hosts: Mapping[str, Host], sockets: list[socket.socket], record: Callable[[Request], None]
    ) -> None:
        self.hosts = hosts
        self.record = record
        self.connections: set[Connection] = set()
        self._sockets = sockets
        self._accepted = 0
        self._loop = uvloop.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="sample-web", daemon=True)

    def start(self) -> None:
        """Start answering; clients may connect as soon as the sockets listen, and wait until this call."""
        self._thread.start()

    def stop(self) -> None:
        """Drop every client and free the port."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        listeners = [await self._loop.create_server(self._connection, sock=each) for each in self._sockets]
        await self._stopping.wait()
        for listener in listeners:
            listener.close()
        for connection in list(self.connections):
            connection.abort()
        while self.connections:
            await asyncio.sleep(0)

    def _connection(self) -> Connection:
        self._accepted += 1
        return Connection(self, self._accepted)
