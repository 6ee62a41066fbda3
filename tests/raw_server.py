"""A server whose hosts each send the bytes that a function defines, and which records the requests it
receives.

Every host has a name and an address of its own, 127.2.0.N, and is told by a function that is handed each
request and writes whatever it likes. What was asked for, how much was sent and how long it took is noted by
host; an answer that the client does not wait for ends when the client leaves.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import uvloop

from crivello.lab.web.server import listen

_LONGEST_HEAD = 4 * 2**20


@dataclass
class Witness:
    """What the server saw of one host."""

    paths: list[str] = field(default_factory=list)
    sent: int = 0
    longest: float = 0.0
    first_asked: float = 0.0
    last_asked: float = 0.0


class Exchange:
    """One request and the way to its client."""

    def __init__(self, path: str, host: str, writer: asyncio.StreamWriter, witness: Witness) -> None:
        self.path, self.host = path, host
        self._writer = writer
        self._witness = witness

    async def send(self, data: bytes) -> None:
        """Sends, however slowly the client reads."""
        self._writer.write(data)
        self._witness.sent += len(data)
        await self._writer.drain()

    async def page(self, body: bytes | str, *headers: str, status: str = "200 OK") -> None:
        """A response as it should be, with these headers."""
        content = body.encode() if isinstance(body, str) else body
        declared = (
            []
            if any(line.lower().startswith("content-type") for line in headers)
            else ["Content-Type: text/html"]
        )
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", *declared, *headers, "", ""]
        await self.send("\r\n".join(lines).encode("latin-1") + content)

    async def redirect(self, target: str) -> None:
        """A redirect to somewhere."""
        await self.page("", f"Location: {target}", status="302 Found")

    def close(self) -> None:
        """Leaves the client alone in the middle of whatever it was, once it has what was sent."""
        self._writer.close()


Behaviour = Callable[[Exchange], Coroutine[None, None, None]]


class RawServer:
    """Hosts by their names, served from a thread until the end of the ``with`` statement."""

    def __init__(self, behaviours: Mapping[str, Behaviour]) -> None:
        self._behaviours = behaviours
        self._addresses = {name: f"127.2.0.{number}" for number, name in enumerate(behaviours, 1)}
        self._by_address = {address: name for name, address in self._addresses.items()}
        self.seen = {name: Witness() for name in behaviours}
        self.port, self._sockets = listen(self._addresses.values(), 0)
        self._loop = uvloop.new_event_loop()
        self._stopping = asyncio.Event()
        self._clients: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="hostiles", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    def url(self, name: str, path: str = "/") -> str:
        return f"http://{name}.test:{self.port}{path}"

    def write_hosts_file(self, file: Path) -> Path:
        """Writes the names with their addresses, in the form of /etc/hosts."""
        file.write_text("".join(f"{address} {name}.test\n" for name, address in self._addresses.items()))
        return file

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        servers = [await self._loop.create_server(self._protocol, sock=each) for each in self._sockets]
        await self._stopping.wait()
        for server in servers:
            server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def _protocol(self) -> _Client:
        return _Client(self._answer, self._clients)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = self._by_address[writer.get_extra_info("sockname")[0]]
        witness = self.seen[name]
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            exchange = Exchange(head.split(b" ", 2)[1].decode("latin-1"), name, writer, witness)
            started = time.monotonic()
            witness.paths.append(exchange.path)
            witness.first_asked = witness.first_asked or started
            witness.last_asked = started
            try:
                await self._behaviours[name](exchange)
            finally:
                witness.longest = max(witness.longest, time.monotonic() - started)


class _Client(asyncio.StreamReaderProtocol):
    """A connection whose answer ends when the client leaves, whatever it was about to do."""

    def __init__(
        self,
        answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]],
        clients: set[asyncio.Task[None]],
    ) -> None:
        super().__init__(asyncio.StreamReader(limit=_LONGEST_HEAD), self._connected)
        self._answer = answer
        self._clients = clients
        self._answering: asyncio.Task[None] | None = None

    def eof_received(self) -> bool:
        super().eof_received()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if self._answering is not None:
            self._answering.cancel()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answering = asyncio.ensure_future(self._serve(reader, writer))
        self._clients.add(self._answering)
        self._answering.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError
        ):
            await self._answer(reader, writer)
        writer.transport.abort()
