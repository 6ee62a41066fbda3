"""A generated web of as many hosts as wanted, served by one socket, and what its server saw.

Host number ``i`` is ``h00000i.test``; the hosts file that this writes maps the names to addresses 127.x.y.z, one
each or one for several (``network``: the first number, if it is not 127). A host has a robots.txt and ``pages`` pages; page ``j`` links pages ``2j + 1`` and
``2j + 2``, and the first page of host ``i`` links those of the next ``fan_out`` hosts below it in a tree, so every
page of every host is found from the first one, in few steps. Pages are made when they are asked for.

The server is one asyncio protocol over raw bytes, in a thread of its own. Each request costs 32 bytes of log. The
end of a request is noted just before its answer is written and the beginning when it has arrived, so a gap that
the log shows is never shorter than the one that the client kept.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Self, cast

import uvloop

from tests.politeness import Hit

_PER_BLOCK = 250
_BACKLOG = 4096
_ROBOTS = 2**32 - 1
_HOST = re.compile(rb"\r\n[Hh]ost: h(\d{5,7})\.test")
_LINK = '<a href="/page/{0}.html">page {0}</a>\n'
_WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven")


class ManyHosts:
    """The hosts, the server that answers for them, and its log."""

    def __init__(
        self,
        hosts: int,
        pages: int,
        *,
        per_address: int = 1,
        addresses: int = 0,
        fan_out: int = 40,
        think: float = 0.0,
        words: int = len(_WORDS),
        network: int = 127,
        robots: Callable[[int], str] = lambda _: "User-agent: *\nDisallow: /closed/\n",
    ) -> None:
        self.hosts, self.pages, self.fan_out, self.think = hosts, pages, fan_out, think
        self._per_address, self._addresses = per_address, addresses
        self._words = words
        self.network = network
        self.robots = robots
        self._starts, self._ends = array("d"), array("d")
        self._asked = array("I")
        self._connections = array("I")
        self._open_times, self._open_counts = array("d"), array("i")
        self.busy = 0
        self._open = 0
        self.clients: list[str] = []
        """The addresses from which connections came, in the order of their numbers."""
        self._loop = uvloop.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="many-hosts", daemon=True)
        self._clients: set[_Connection] = set()
        # One socket for every 127.x.y.z there is: the protocol turns away who comes to any other address.
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("0.0.0.0", 0))
        self._socket.listen(_BACKLOG)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    @property
    def seeds(self) -> list[str]:
        """The first page of the first host, which leads to everything."""
        return [f"http://{self.name(0)}:{self.port}/"]

    def name(self, host: int) -> str:
        return f"h{host:05}.test"

    def address(self, host: int) -> str:
        """The address of a host, from 127.1.0.1 on: one for each ``per_address`` hosts, or ``addresses`` in turn."""
        number = host % self._addresses if self._addresses else host // self._per_address
        block, last = divmod(number, _PER_BLOCK)
        return f"{self.network}.{1 + block // 256}.{block % 256}.{last + 1}"

    def url(self, host: int, page: int) -> str:
        path = f"page/{page}.html" if page else ""
        return f"http://{self.name(host)}:{self.port}/{path}"

    def urls(self) -> set[str]:
        """Every page there is."""
        return {self.url(host, page) for host in range(self.hosts) for page in range(self.pages)}

    def write_hosts_file(self, file: Path) -> Path:
        """Writes the names with their addresses, in the form of /etc/hosts."""
        with file.open("w") as out:
            for host in range(self.hosts):
                out.write(f"{self.address(host)} {self.name(host)}\n")
        return file

    def __len__(self) -> int:
        """How many requests have been answered."""
        return len(self._connections)

    def requested(self, since: int = 0) -> Iterator[tuple[str, float]]:
        """The pages that were asked for, from a place in the log on, each with the moment of its answer."""
        for number in range(since, len(self)):
            host, page = self._asked[2 * number], self._asked[2 * number + 1]
            if page != _ROBOTS:
                yield self.url(host, page), self._ends[number]

    def asked_for_robots(self) -> Iterator[str]:
        """The hosts whose robots.txt was asked for."""
        for number in range(len(self)):
            if self._asked[2 * number + 1] == _ROBOTS:
                yield self.name(self._asked[2 * number])

    def hits(self, since: int = 0) -> Iterator[Hit]:
        """The log as ``tests.politeness`` reads it."""
        for number in range(since, len(self)):
            host = self._asked[2 * number]
            yield Hit(
                self._starts[number],
                self._ends[number],
                self.name(host),
                self.address(host),
                self._connections[number],
            )

    def mean_open(self, since: float = 0.0, until: float = float("inf")) -> float:
        """How many connections were open on average between two moments (``time.time``)."""
        moments = list(zip(self._open_times, self._open_counts, strict=True))
        moments.append((min(until, time.time()), 0))
        total = length = 0.0
        for (begin, count), (end, _) in pairwise(moments):
            begin, end = max(begin, since), min(end, until)
            if end > begin:
                total += count * (end - begin)
                length += end - begin
        return total / length if length else 0.0

    def answer(self, host: int, target: bytes) -> tuple[int, bytes]:
        """The number of what was asked for, and the response."""
        if target == b"/robots.txt":
            return _ROBOTS, _response(self.robots(host), "text/plain")
        number = target.removeprefix(b"/page/").removesuffix(b".html")
        page = 0 if target == b"/" else int(number) if number.isdigit() else self.pages
        if host >= self.hosts or page >= self.pages:
            return page, _response("There is no such page.\n", "text/plain", "404 Not Found")
        return page, _response(self.html(host, page), "text/html; charset=utf-8")

    def html(self, host: int, page: int) -> str:
        """A page; its words differ from those of every other."""
        links = [_LINK.format(child) for child in (2 * page + 1, 2 * page + 2) if child < self.pages]
        if page == 0:
            first = host * self.fan_out + 1
            links += [
                f'<a href="{self.url(other, 0)}">{self.name(other)}</a>\n'
                for other in range(first, min(first + self.fan_out, self.hosts))
            ]
        seed = host * 7_919 + page * 104_729
        words = " ".join(
            f"{word}{seed * (place + 1) % 1_000_003}"
            for place, word in enumerate(islice(cycle(_WORDS), self._words))
        )
        return (
            f"<!DOCTYPE html><html lang=en><title>Page {page} of {self.name(host)}</title>\n"
            f"<p>{words}</p>\n{''.join(links)}</html>\n"
        )

    def record(self, start: float, end: float, host: int, asked: int, connection: int) -> None:
        self._starts.append(start)
        self._ends.append(end)
        self._asked.append(host)
        self._asked.append(asked)
        self._connections.append(connection)

    def opened(self, client: _Connection, address: str) -> int:
        self._clients.add(client)
        self._count(1)
        self.clients.append(address)
        return len(self.clients) - 1

    def closed(self, client: _Connection) -> None:
        self._clients.discard(client)
        self._count(-1)

    def _count(self, change: int) -> None:
        self._open += change
        self._open_times.append(time.time())
        self._open_counts.append(self._open)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        # Without a backlog it would listen anew, with one of 100: past that clients wait a second to connect again.
        listener = await self._loop.create_server(
            lambda: _Connection(self), sock=self._socket, backlog=_BACKLOG
        )
        await self._stopping.wait()
        listener.close()
        for client in list(self._clients):
            client.abort()
        while self._clients:
            await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    """One client; it sends a request when it has the answer to the one before."""

    def __init__(self, web: ManyHosts) -> None:
        self._web = web
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._number = self._web.opened(self, transport.get_extra_info("peername")[0])
        if not str(transport.get_extra_info("sockname")[0]).startswith(f"{self._web.network}."):
            self._transport.abort()

    def connection_lost(self, _: Exception | None) -> None:
        self._web.closed(self)

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._received.endswith(b"\r\n\r\n"):
            return
        start, request, self._received = time.time(), self._received, b""
        self._web.busy += 1
        if self._web.think:
            asyncio.get_running_loop().call_later(self._web.think, self._answer, start, request)
        else:
            self._answer(start, request)

    def _answer(self, start: float, request: bytes) -> None:
        target = request[4 : request.find(b" ", 4)]
        name = _HOST.search(request)
        host = int(name[1]) if name else self._web.hosts
        asked, response = self._web.answer(host, target)
        self._web.record(start, time.time(), host, asked, self._number)
        self._web.busy -= 1
        if not self._transport.is_closing():
            self._transport.write(response)


def _response(body: str, content_type: str, status: str = "200 OK") -> bytes:
    content = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content
