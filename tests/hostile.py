"""Servers that mean no good, one host for each way of it, and a healthy one beside them.

Every host has an address of its own, 127.2.0.N, and answers by its address. Its page ``/`` is the hostile one,
``/fine.html`` an ordinary one. What was asked for, how much was sent and how long it took is noted by host.
"""

from __future__ import annotations

import asyncio
import gzip
import threading
import time
import zlib
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import brotli
import zstandard

from crivello.lab.web.server import listen

HEALTHY = "healthy"
HEALTHY_PAGES = 200
LINKS = 100_000
NESTED_BYTES = 50 * 10**6
LONG = 10**6
ROBOTS_BYTES = 100 * 10**6

_PIECE = 2**16
_MEBI = 2**20
_TEN_GIGA = 10 * 2**30


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
BEHAVIOURS: dict[str, Behaviour] = {}


def hostile(behaviour: Behaviour) -> Behaviour:
    """Makes a host of a function, with its name."""
    BEHAVIOURS[behaviour.__name__.replace("_", "-")] = behaviour
    return behaviour


@hostile
async def endless_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b"%x\r\n" % _PIECE + b"for ever " * (_PIECE // 9) + b" " * (_PIECE % 9) + b"\r\n"
    while True:
        await exchange.send(piece)


@hostile
async def enormous_body(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000000000\r\n\r\n"
    )
    while True:
        await exchange.send(b" " * _PIECE)


@hostile
async def slow_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
    while True:
        await exchange.send(b"x")
        await asyncio.sleep(1)


@hostile
async def slow_head(exchange: Exchange) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
        await exchange.send(bytes([byte]))
        await asyncio.sleep(0.5)


@hostile
async def silent(_: Exchange) -> None:
    await asyncio.sleep(3600)


@hostile
async def gzip_bomb(exchange: Exchange) -> None:
    await exchange.page(_gzip_bomb(), "Content-Encoding: gzip")


def _gzip_bomb() -> bytes:
    """10 GB of zeros in 10 MB: a deflate block that stands for itself, again and again.

    The checksum at the end is wrong, but nobody should get there.
    """
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = compressor.compress(bytes(_MEBI)) + compressor.flush(zlib.Z_FULL_FLUSH)
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    return header + block * (_TEN_GIGA // _MEBI) + b"\x03\x00" + bytes(8)


@hostile
async def zstd_bomb(exchange: Exchange) -> None:
    frame = zstandard.ZstdCompressor(level=19).compress(bytes(16 * _MEBI))
    await exchange.page(frame * (_TEN_GIGA // (16 * _MEBI)), "Content-Encoding: zstd")


@hostile
async def redirect_loop(exchange: Exchange) -> None:
    await exchange.redirect("/loop/b" if exchange.path.endswith("a") else "/loop/a")


@hostile
async def endless_redirects(exchange: Exchange) -> None:
    step = exchange.path.rpartition("-")[2]
    await exchange.redirect(f"/step-{int(step) + 1 if step.isdigit() else 1}")


@hostile
async def garbage(exchange: Exchange) -> None:
    await exchange.send(bytes(range(256)) * 4 + b"\r\n\r\n")
    exchange.close()


@hostile
async def no_colon(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nthis line is no header\r\nContent-Length: 2\r\n\r\nok")


@hostile
async def bad_status(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 2x0 OK\r\nContent-Length: 2\r\n\r\nok")


@hostile
async def zero_in_header(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nX-Zero: a\x00b\r\nContent-Length: 2\r\n\r\nok")


@hostile
async def endless_head(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await exchange.send(b"X-More: " + b"m" * 1000 + b"\r\n")


@hostile
async def hangs_up(exchange: Exchange) -> None:
    exchange.close()


@hostile
async def short_body(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\nnot all of it"
    )
    exchange.close()


@hostile
async def long_body(exchange: Exchange) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n"
    await exchange.send(head + b"<p>ten</p>" + b"<p>and more</p>" * 500)


@hostile
async def two_lengths(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n" + b"x" * 50)


@hostile
async def bad_chunks(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno number\r\n0\r\n\r\n")
    exchange.close()


@hostile
async def many_links(exchange: Exchange) -> None:
    if exchange.path != "/":
        await exchange.page(f"<p>One of many: {exchange.path}</p>")
        return
    await exchange.page("".join(f"<a href=/n/{number}.html>{number}</a>\n" for number in range(LINKS)))


@hostile
async def nested_tags(exchange: Exchange) -> None:
    nested = b"<div>" * (NESTED_BYTES // 5) + b"<a href=/behind.html>behind</a>"
    await exchange.page(gzip.compress(nested, 1), "Content-Encoding: gzip")


@hostile
async def long_urls(exchange: Exchange) -> None:
    links = [f"<a href=/{'x' * LONG}>path</a>", f"<a href=/?q={'y' * LONG}>query</a>"]
    await exchange.page(
        f"{''.join(links)}<a href=//{'z' * LONG}.test/>host</a><a href=/behind.html>behind</a>"
    )


@hostile
async def long_location(exchange: Exchange) -> None:
    await exchange.redirect("/" + "x" * LONG)


@hostile
async def wrong_charset(exchange: Exchange) -> None:
    await exchange.page(
        "<p>Überall Zeichen: àèìòù</p>".encode("utf-16"), "Content-Type: text/html; charset=latin-1"
    )


@hostile
async def unknown_charset(exchange: Exchange) -> None:
    text = "Il caffè è già là, perché la città è più bella così: venerdì, lunedì, e ciò che verrà."
    body = f"<meta charset=utf-7><p>{text * 5}</p>".encode("latin-1")
    await exchange.page(body, "Content-Type: text/html; charset=klingon")


@hostile
async def gzip_that_is_brotli(exchange: Exchange) -> None:
    await exchange.page(brotli.compress(b"<p>squeezed otherwise</p>" * 50), "Content-Encoding: gzip")


@hostile
async def brotli_that_is_gzip(exchange: Exchange) -> None:
    await exchange.page(gzip.compress(b"<p>squeezed otherwise</p>" * 50), "Content-Encoding: br")


@hostile
async def half_a_gzip(exchange: Exchange) -> None:
    whole = gzip.compress(bytes(range(256)) * 400)
    await exchange.page(whole[: len(whole) // 2], "Content-Encoding: gzip")


@hostile
async def enormous_robots(exchange: Exchange) -> None:
    if exchange.path == "/robots.txt":
        rules = b"User-agent: *\nDisallow: /closed/\n"
        await exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % ROBOTS_BYTES
        )
        await exchange.send(rules)
        left = ROBOTS_BYTES - len(rules)
        while left > 0:
            piece = (b"# and so on and on and on\n" * 2000)[:left]
            await exchange.send(piece)
            left -= len(piece)
        return
    await exchange.page("<a href=/closed/letter.html>closed</a><a href=/behind.html>open</a>")


async def _healthy(exchange: Exchange) -> None:
    name = exchange.path.strip("/").removesuffix(".html") or "0"
    number = int(name) if name.isdigit() else HEALTHY_PAGES
    children = [child for child in (2 * number + 1, 2 * number + 2) if child < HEALTHY_PAGES]
    links = "".join(f"<a href=/{child}.html>{child}</a>" for child in children)
    await exchange.page(f"<title>{number}</title><p>This is page {number} of a healthy host.</p>{links}")


async def _ordinary(exchange: Exchange) -> bool:
    """Answers what is the same on every host; tells whether it was that."""
    if exchange.path == "/robots.txt" and exchange.host != "enormous-robots":
        await exchange.page("", status="404 Not Found")
    elif exchange.path in ("/fine.html", "/behind.html"):
        await exchange.page(f"<p>A fine page of {exchange.host}.</p>")
    else:
        return False
    return True


class Hostiles:
    """All the hosts, served from a thread until the end of the ``with`` statement."""

    def __init__(self) -> None:
        self.names = [HEALTHY, *BEHAVIOURS]
        self._addresses = {name: f"127.2.0.{number}" for number, name in enumerate(self.names, 1)}
        self._by_address = {address: name for name, address in self._addresses.items()}
        self.seen = {name: Witness() for name in self.names}
        self.port, self._sockets = listen(self._addresses.values(), 0)
        self._loop = asyncio.new_event_loop()
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

    @property
    def seeds(self) -> list[str]:
        """The hostile and the ordinary page of each host, and the first page of the healthy one."""
        hostile_ones = [self.url(name, path) for path in ("/", "/fine.html") for name in BEHAVIOURS]
        return [*hostile_ones, self.url(HEALTHY)]

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
        behaviour = BEHAVIOURS.get(name, _healthy)
        witness = self.seen[name]
        while not writer.is_closing():
            head = await reader.readuntil(b"\r\n\r\n")
            exchange = Exchange(head.split(b" ", 2)[1].decode("latin-1"), name, writer, witness)
            started = time.monotonic()
            witness.paths.append(exchange.path)
            witness.first_asked = witness.first_asked or started
            witness.last_asked = started
            try:
                if not await _ordinary(exchange):
                    await behaviour(exchange)
            finally:
                witness.longest = max(witness.longest, time.monotonic() - started)


class _Client(asyncio.StreamReaderProtocol):
    """A connection whose answer ends when the client leaves, whatever it was about to do."""

    def __init__(
        self,
        answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]],
        clients: set[asyncio.Task[None]],
    ) -> None:
        super().__init__(asyncio.StreamReader(limit=4 * _MEBI), self._connected)
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
