"""Fetching over HTTP: one request in, a response or a named failure out, within every limit."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from crivello import _core
from crivello.crawl.address import PrivateAddress, Resolver, is_private, literal
from crivello.parse import media_type
from crivello.store import Outcome

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered; the body as it was sent."""

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    address: str

    def header(self, name: str) -> str | None:
        """The first header of a name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def content_type(self) -> str | None:
        """The type without its parameters."""
        return media_type(self.header("content-type"))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no response; ``again`` says whether another try may help."""

    outcome: Outcome
    reason: str
    again: bool


class Fetcher:
    """An HTTP client that keeps connections alive; ``async with`` it."""

    def __init__(
        self, *, user_agent: str, timeout: float, max_bytes: int, connections: int, allow_private: bool
    ) -> None:
        self._max_bytes = max_bytes
        self._allow_private = allow_private
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections, resolver=Resolver(allow_private=allow_private), ttl_dns_cache=300
            ),
            headers={"User-Agent": user_agent, "Accept-Encoding": _core.ACCEPTED_ENCODINGS},
            timeout=aiohttp.ClientTimeout(total=timeout, connect=min(timeout, 10.0)),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=1 << 14,
            max_field_size=1 << 14,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def fetch(self, url: str, *, max_bytes: int | None = None) -> Response | Failure:
        """One GET, without following redirects."""
        limit = self._max_bytes if max_bytes is None else max_bytes
        address = literal(urlsplit(url).hostname or "")
        # aiohttp asks no resolver about a host that is an address already.
        if address and not self._allow_private and is_private(address):
            return Failure(Outcome.PRIVATE, f"{address} is on a private network", False)
        try:
            async with self._session.get(URL(url, encoded=True), allow_redirects=False) as answer:
                peer = answer.connection.transport if answer.connection else None
                name = peer.get_extra_info("peername") if peer else None
                body = await _read(answer.content, limit)
                if body is None:
                    return Failure(Outcome.TOO_LARGE, f"the body is longer than {limit:,} bytes", False)
                headers = tuple(_decoded(answer.raw_headers))
                return Response(
                    url, answer.status, answer.reason or "", headers, body, name[0] if name else ""
                )
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            return _failure(error)


async def _read(content: aiohttp.StreamReader, limit: int) -> bytes | None:
    body = bytearray()
    async for chunk in content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _decoded(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    for name, value in headers:
        yield name.decode("latin-1"), value.decode("utf-8", "surrogateescape")


def _failure(error: BaseException) -> Failure:
    """The class of what went wrong: the most telling error in the chain of causes decides."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes += [cause, *([cause.os_error] if isinstance(cause, aiohttp.ClientConnectorError) else [])]
        cause = cause.__cause__ or cause.__context__
    said = str(error) or type(error).__name__

    def among(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if among(PrivateAddress):
        return Failure(Outcome.PRIVATE, said, False)
    if among(aiohttp.ClientConnectorDNSError):
        return Failure(Outcome.DNS, said, False)
    if among(ssl.SSLError, ssl.CertificateError, aiohttp.ClientSSLError):
        return Failure(Outcome.TLS, said, False)
    if among(TimeoutError, asyncio.TimeoutError):
        return Failure(Outcome.TIMEOUT, said, True)
    if among(ConnectionRefusedError):
        return Failure(Outcome.REFUSED, said, True)
    if among(aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionError):
        return Failure(Outcome.RESET, said, True)
    if among(aiohttp.ClientResponseError, aiohttp.InvalidURL, ValueError):
        return Failure(Outcome.BAD_RESPONSE, said, False)
    return Failure(Outcome.REFUSED, said, True)
