"""Servers that mean no good, one host for each way of it, and a healthy one beside them.

The page ``/`` of a host is the hostile one, ``/fine.html`` and ``/behind.html`` are ordinary ones.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from functools import cache

import brotli
import zstandard

from tests.raw_server import Behaviour, Exchange, RawServer

HEALTHY = "healthy"
HEALTHY_PAGES = 200
LINKS = 100_000
NESTED_BYTES = 50 * 10**6
LONG = 10**6
ROBOTS_BYTES = 100 * 10**6

_PIECE = 2**18
_MEBI = 2**20
_TEN_GIGA = 10 * 2**30

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


@cache
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
    await exchange.page(_zstd_bomb(), "Content-Encoding: zstd")


@cache
def _zstd_bomb() -> bytes:
    """10 GB of zeros as frames that all say the same."""
    frame = zstandard.ZstdCompressor().compress(bytes(16 * _MEBI))
    return frame * (_TEN_GIGA // (16 * _MEBI))


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
    await exchange.page(_nested_tags(), "Content-Encoding: gzip")


@cache
def _nested_tags() -> bytes:
    return gzip.compress(b"<div>" * (NESTED_BYTES // 5) + b"<a href=/behind.html>behind</a>", 1)


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


def _with_ordinary_pages(behaviour: Behaviour) -> Behaviour:
    """The behaviour, except for what is the same on every host."""

    async def answer(exchange: Exchange) -> None:
        if exchange.path == "/robots.txt" and behaviour is not enormous_robots:
            await exchange.page("", status="404 Not Found")
        elif exchange.path in ("/fine.html", "/behind.html"):
            await exchange.page(f"<p>A fine page of {exchange.host}.</p>")
        else:
            await behaviour(exchange)

    return answer


class Hostiles(RawServer):
    """All the hosts."""

    def __init__(self) -> None:
        # Made beforehand, so that making them holds up no other host.
        for make in (_gzip_bomb, _zstd_bomb, _nested_tags):
            make()
        everybody = {HEALTHY: _healthy, **BEHAVIOURS}
        super().__init__({name: _with_ordinary_pages(behaviour) for name, behaviour in everybody.items()})

    @property
    def seeds(self) -> list[str]:
        """The hostile and the ordinary page of each host, and the first page of the healthy one."""
        hostile_ones = [self.url(name, path) for path in ("/", "/fine.html") for name in BEHAVIOURS]
        return [*hostile_ones, self.url(HEALTHY)]
