"""RSS and Atom of a query: what it finds now, the newest pages first.

A feed is a bookmark of a query: ``/search.atom?q=…``, ``/search.rss?q=…``, or ``/search?q=…&format=rss``. The entries
are the best ``_ENTRIES`` pages, by date; a page keeps its identity, its URL, so that a reader shows it once.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from xml.etree import ElementTree

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crivello.errors import InvalidArgument
from crivello.search.results import Hit, Results
from crivello.web.address import followable
from crivello.web.parameters import query_of

if TYPE_CHECKING:
    from crivello.collection import Collection

_ENTRIES = 50
_ATOM = "http://www.w3.org/2005/Atom"
_UNKNOWN = date(1970, 1, 1)
_MEDIA_TYPES = {"rss": "application/rss+xml", "atom": "application/atom+xml"}
# XML 1.0 has no way to write these.
_UNWRITABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535))


class Feeds:
    """Feeds of queries as routes, over a collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @property
    def routes(self) -> list[Route]:
        return [Route("/search.rss", self._feed), Route("/search.atom", self._feed)]

    async def _feed(self, request: Request) -> Response:
        query = query_of(request.query_params)
        form = request.url.path.rpartition(".")[2]
        if not query:
            raise InvalidArgument("there is no query", hint=f"put it in q: /search.{form}?q=solar+wind")
        return await run_in_threadpool(feed_response, self._collection, query, form, request)


def feed_response(collection: Collection, query: str, form: str, request: Request) -> Response:
    """The feed of a query as ``rss`` or ``atom``; 304 to a reader that has it."""
    tag = f'W/"{hashlib.sha256(repr((collection.version, query, form)).encode()).hexdigest()[:24]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    results = collection.search(query, top=_ENTRIES, correct=False)
    address = str(request.base_url).rstrip("/")
    own = f"{address}/search.{form}?{urlencode({'q': query})}"
    page = f"{address}/search?{urlencode({'q': query})}"
    make = _rss if form == "rss" else _atom
    updated = collection.summary().updated_utc or datetime.now(UTC)
    root = make(collection.name, results, own, page, updated)
    body = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return Response(body, headers=headers, media_type=_MEDIA_TYPES[form])


def _newest_first(results: Results) -> list[Hit]:
    return sorted(results, key=lambda hit: hit.date or _UNKNOWN, reverse=True)


def _rss(name: str, results: Results, own: str, page: str, updated: datetime) -> ElementTree.Element:
    ElementTree.register_namespace("atom", _ATOM)
    root = ElementTree.Element("rss", {"version": "2.0"})
    channel = ElementTree.SubElement(root, "channel")
    _add(channel, "title", f"{results.query} · {name}")
    _add(channel, "link", page)
    _add(channel, "description", f"What {name} has for {results.query}")
    _add(channel, "lastBuildDate", format_datetime(updated))
    ElementTree.SubElement(
        channel, f"{{{_ATOM}}}link", {"rel": "self", "href": own, "type": _MEDIA_TYPES["rss"]}
    )
    for hit in _newest_first(results):
        item = ElementTree.SubElement(channel, "item")
        _add(item, "title", hit.title or hit.url)
        link = followable(hit.url)
        if link:
            _add(item, "link", link)
        _add(item, "guid", hit.url, isPermaLink="true" if link else "false")
        _add(item, "description", hit.snippet.html())
        if hit.date:
            _add(item, "pubDate", format_datetime(_midnight(hit.date)))
    return root


def _atom(name: str, results: Results, own: str, page: str, updated: datetime) -> ElementTree.Element:
    ElementTree.register_namespace("", _ATOM)
    root = ElementTree.Element(f"{{{_ATOM}}}feed")

    def add(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> ElementTree.Element:
        return _add(parent, f"{{{_ATOM}}}{tag}", text, **attributes)

    add(root, "title", f"{results.query} · {name}")
    add(root, "id", own)
    add(root, "updated", updated.isoformat(timespec="seconds"))
    add(root, "link", "", rel="self", href=own)
    add(root, "link", "", rel="alternate", href=page)
    add(add(root, "author", ""), "name", name)
    for hit in _newest_first(results):
        entry = add(root, "entry", "")
        link = followable(hit.url)
        add(entry, "title", hit.title or hit.url)
        add(entry, "id", link or f"urn:sha256:{hashlib.sha256(hit.url.encode()).hexdigest()}")
        if link:
            add(entry, "link", "", rel="alternate", href=_writable(link))
        add(entry, "updated", (_midnight(hit.date) if hit.date else updated).isoformat(timespec="seconds"))
        add(entry, "summary", hit.snippet.html(), type="html")
    return root


def _add(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = _writable(text) or None
    return element


def _writable(text: str) -> str:
    return text.translate(_UNWRITABLE)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
