"""The pages of the collection as a sitemap: ``/sitemap.xml``, of at most 50,000 URLs a file as in its protocol.

With more, ``/sitemap.xml`` is an index of the files ``/sitemap-1.xml``, ``/sitemap-2.xml``, … Only pages that can be
found are in it: fetched with status 200, no duplicates, not ``noindex``. ``site`` and ``since`` select among them.
A file is streamed, and its cost is a pass over the table up to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from crivello.store import Row
from crivello.web.address import followable
from crivello.web.parameters import refuse_unknown

if TYPE_CHECKING:
    from crivello.collection import Collection

URLS_A_FILE = 50_000
_SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_XML = "application/xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_CHUNK = 2**16


class Sitemap:
    """The sitemap as routes, over a collection."""

    def __init__(self, collection: Collection, urls_a_file: int = URLS_A_FILE) -> None:
        self._collection = collection
        self._urls_a_file = urls_a_file

    @property
    def routes(self) -> list[Route]:
        return [Route("/sitemap.xml", self._whole), Route("/sitemap-{number:int}.xml", self._part)]

    async def _whole(self, request: Request) -> Response:
        return await run_in_threadpool(self._index, request)

    async def _part(self, request: Request) -> Response:
        return await run_in_threadpool(self._file, request, request.path_params["number"])

    def _index(self, request: Request) -> Response:
        count = sum(1 for _ in self._rows(request))
        if count <= self._urls_a_file:
            return self._file(request, 1)
        address, asked = str(request.base_url).rstrip("/"), dict(request.query_params)
        query = f"?{urlencode(asked)}" if asked else ""
        files = range(1, -(-count // self._urls_a_file) + 1)
        named = (
            f"<sitemap><loc>{escape(f'{address}/sitemap-{number}.xml{query}')}</loc></sitemap>\n"
            for number in files
        )
        body = f'{_HEAD}<sitemapindex xmlns="{_SPACE}">\n{"".join(named)}</sitemapindex>\n'
        return Response(body, media_type=_XML)

    def _file(self, request: Request, number: int) -> Response:
        start = (number - 1) * self._urls_a_file
        rows = list(islice(self._rows(request), max(start, 0), start + self._urls_a_file)) if number else []
        if not rows and number != 1:
            raise HTTPException(404, f"there is no part {number} of this sitemap")
        return StreamingResponse(_written(iter(rows)), media_type=_XML)

    def _rows(self, request: Request) -> Iterator[tuple[str, float]]:
        """The URL of each page that can be found, and when its content was seen first."""
        parameters = request.query_params
        refuse_unknown(parameters, ("site", "since"))
        self._collection.refresh()
        pages = self._collection.pages(
            site=parameters.get("site") or None, since=parameters.get("since") or None
        )
        return ((row.url, row.content_at or row.fetched_at) for row in pages if _can_be_found(row))


def _can_be_found(row: Row) -> bool:
    return row.indexable and followable(row.url) is not None


def _written(rows: Iterator[tuple[str, float]]) -> Iterator[str]:
    chunk = f'{_HEAD}<urlset xmlns="{_SPACE}">\n'
    for url, seconds in rows:
        moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        chunk += f"<url><loc>{escape(url)}</loc><lastmod>{moment}</lastmod></url>\n"
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = ""
    yield f"{chunk}</urlset>\n"
