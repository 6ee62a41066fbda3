"""Pings from outside on the server: WebSub notifications and IndexNow. See docs/feeds.md.

The server is a reader of the collection: pings are queued (``crivello.feeds.pings``), and a poll takes them. Bodies
are bounded, and pings by IndexNow are limited per host.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from crivello import _core
from crivello.feeds.pings import Ping, Pings
from crivello.feeds.websub import Subscriber

if TYPE_CHECKING:
    from crivello.collection import Collection

MOST_BYTES = 4 * 2**20
"""The longest body of a ping."""
MOST_URLS = 10_000
"""The most URLs of a ping by IndexNow, as in its protocol."""
HOURLY = 10_000
"""The most URLs of a host that IndexNow may name in an hour."""
_KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
_HOUR = 3600.0
_BETWEEN_RENEWALS = 60.0
_MOST_HOSTS = 10_000


class Push:
    """What the server accepts from outside; as a context it renews subscriptions in the background."""

    def __init__(self, collection: Collection, public_url: str = "") -> None:
        self._collection = collection
        self._pings = Pings(collection.folder)
        self.subscriber: Subscriber = Subscriber(collection, public_url)
        self._renews = bool(public_url)
        self._counts: dict[str, tuple[float, int]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="crivello-websub", daemon=True)

    @property
    def routes(self) -> list[Route]:
        """The routes of the server."""
        return [
            Route("/websub/{token:path}", self._websub, methods=["GET", "POST"]),
            Route("/indexnow", self._indexnow, methods=["GET", "POST"]),
        ]

    def __enter__(self) -> Push:
        if self._renews:
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _renew(self) -> None:
        while not self._stopping.is_set():
            self.subscriber.renew()
            self._stopping.wait(_BETWEEN_RENEWALS)

    async def _websub(self, request: Request) -> Response:
        token = request.path_params["token"]
        feed = await run_in_threadpool(self.subscriber.of_token, token)
        if feed is None:
            return PlainTextResponse("there is no such subscription\n", HTTPStatus.NOT_FOUND)
        if request.method != "POST":
            return await run_in_threadpool(self._verified, feed, dict(request.query_params))
        body = await _body(request)
        if body is None:
            return PlainTextResponse("the body is too long\n", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if self.subscriber.is_signed(feed, request.headers.get("x-hub-signature", ""), body):
            media_type = request.headers.get("content-type", "")
            return await run_in_threadpool(
                self._queued, [Ping(feed, "websub", time.time(), media_type, body)]
            )
        return Response(status_code=HTTPStatus.ACCEPTED)

    def _verified(self, feed: str, said: Mapping[str, str]) -> Response:
        mode = said.get("hub.mode", "")
        if mode == "denied":
            self.subscriber.denied(feed, said.get("hub.reason", ""))
            return PlainTextResponse("")
        lease = said.get("hub.lease_seconds", "")
        seconds = float(lease) if lease.isdecimal() and len(lease) < 12 else 0.0
        challenge = said.get("hub.challenge", "")
        if challenge and self.subscriber.confirms(feed, mode, said.get("hub.topic", ""), seconds):
            return PlainTextResponse(challenge)
        return PlainTextResponse("this was not asked for\n", HTTPStatus.NOT_FOUND)

    async def _indexnow(self, request: Request) -> Response:
        if request.method != "POST":
            said: Mapping[str, Any] = request.query_params
            urls: Any = [said.get("url", "")]
        else:
            body = await _body(request)
            if body is None:
                return _refused(HTTPStatus.UNPROCESSABLE_ENTITY, "the body is too long")
            try:
                said = msgspec.json.decode(body, type=dict[str, Any])
            except msgspec.DecodeError:
                return _refused(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
            urls = said.get("urlList")
        if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
            return _refused(HTTPStatus.BAD_REQUEST, "urlList must be a list of URLs")
        if not _KEY.fullmatch(str(said.get("key", ""))):
            return _refused(HTTPStatus.FORBIDDEN, "the key must have 8 to 128 letters, digits and dashes")
        return await run_in_threadpool(self._named, urls, str(said.get("host") or ""))

    def _named(self, urls: Sequence[str], host: str) -> Response:
        canonical = [url for url in _core.canonical_urls(list(urls[: MOST_URLS + 1])) if url]
        hosts = {urlsplit(url).hostname or "" for url in canonical}
        if (
            len(urls) > MOST_URLS
            or len(canonical) < len(urls)
            or len(hosts) != 1
            or (host and hosts != {host.lower()})
        ):
            return _refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"name up to {MOST_URLS:,} URLs of one host")
        self._collection.refresh()
        known = self._collection.have_copies(canonical)
        ours = [url for url, is_known in zip(canonical, known, strict=True) if is_known]
        if not ours:
            return _refused(HTTPStatus.FORBIDDEN, "these pages are not in the collection")
        if not self._may(hosts.pop(), len(ours)):
            return _refused(HTTPStatus.TOO_MANY_REQUESTS, f"at most {HOURLY:,} URLs of a host an hour")
        now = time.time()
        return self._queued([Ping(url, "indexnow", now) for url in ours])

    def _may(self, host: str, count: int) -> bool:
        """Counts the URLs of a host in this hour; returns whether they are not too many."""
        now = time.monotonic()
        since, named = self._counts.get(host, (now, 0))
        if now - since > _HOUR:
            since, named = now, 0
        if len(self._counts) >= _MOST_HOSTS:
            self._counts.clear()
        self._counts[host] = (since, named + count)
        return named + count <= HOURLY

    def _queued(self, pings: Sequence[Ping]) -> Response:
        if not self._pings.add(pings):
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many pings wait to be read")
        return Response(status_code=HTTPStatus.ACCEPTED)


async def _body(request: Request) -> bytes | None:
    """The body of a request; ``None`` if it is too long."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _refused(status: HTTPStatus, reason: str) -> Response:
    return JSONResponse({"error": reason}, status)
