"""``/search?q=…&format=json`` as SearXNG answers it, so that its clients need only a base URL.

Its parameters are ``q``, ``pageno``, ``language``, ``time_range``, ``categories``, ``engines`` and ``safesearch``. The
first four mean the same here; the others choose among engines, of which there is one. Unknown parameters are ignored,
as there. See https://docs.searxng.org/dev/search_api.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crivello._core import QueryText
from crivello.errors import InvalidArgument, QuerySyntaxError
from crivello.search.results import Hit, Results
from crivello.web.api.bodies import read_body
from crivello.web.api.feeds import feed_response
from crivello.web.api.forms import FormatRoute, chosen
from crivello.web.parameters import query_of, whole_number

if TYPE_CHECKING:
    from crivello.collection import Collection

HITS_A_PAGE = 10
MOST_BYTES = 2**16
_LAST_PAGE = 100
_ENGINE = "crivello"
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


class Searxng:
    """The door as routes, over a collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @property
    def routes(self) -> list[Route]:
        # LangChain's wrapper asks the base URL itself.
        return [FormatRoute(path, self._search, methods=["GET", "POST"]) for path in ("/search", "/")]

    async def _search(self, request: Request) -> Response:
        parameters = request.query_params
        if request.method == "POST":
            body = await read_body(request, MOST_BYTES)
            parameters = QueryParams(
                [*parameters.multi_items(), *QueryParams(body.decode("latin-1")).multi_items()]
            )
        form = chosen(parameters)
        query = query_of(parameters)
        if not query:
            raise InvalidArgument("there is no query", hint="put it in q: /search?q=solar+wind&format=json")
        if form != "json":
            return await run_in_threadpool(feed_response, self._collection, query, form, request)
        page = whole_number(parameters, "pageno", default=1, least=1, most=None)
        narrowed = narrow(query, parameters)
        results = await run_in_threadpool(self._results, narrowed, min(page, _LAST_PAGE + 1))
        return JSONResponse(answer(query, results), headers={"Cache-Control": "no-cache"})

    def _results(self, query: str, page: int) -> Results:
        offset = (page - 1) * HITS_A_PAGE
        try:
            return self._collection.search(query, top=HITS_A_PAGE, offset=offset)
        except QuerySyntaxError:
            # Assistants send what people wrote: a query that does not parse is searched by its words.
            words = QueryText(query).plain_words()
            if not words:
                return Results(query, matches=0, microseconds=0, hits=())
            return self._collection.search(words, top=HITS_A_PAGE, offset=offset)


def narrow(query: str, parameters: Mapping[str, str]) -> str:
    """The query with the filters that SearXNG has as parameters."""
    text = query
    language = parameters.get("language", "").lower().partition("-")[0]
    if len(language) in (2, 3) and language.isascii() and language.isalpha() and language != "all":
        text = QueryText(text).narrowed(f"lang:{language}")
    span = parameters.get("time_range", "")
    if span in _DAYS:
        since = datetime.now(UTC).date() - timedelta(days=_DAYS[span])
        text = QueryText(text).narrowed(f"after:{since.isoformat()}")
    elif span:
        raise InvalidArgument(
            f"time_range is {span[:40]!r}", hint=f"it is one of {', '.join(_DAYS)}, or left out"
        )
    return text


def answer(query: str, results: Results) -> dict[str, Any]:
    """The results in SearXNG's form."""
    return {
        "query": query,
        "number_of_results": results.matches,
        "results": [_result(hit) for hit in results],
        "answers": [],
        "corrections": [results.corrected] if results.corrected else [],
        "infoboxes": [],
        "suggestions": [results.suggestion] if results.suggestion else [],
        "unresponsive_engines": [],
    }


def _result(hit: Hit) -> dict[str, Any]:
    return {
        "url": hit.url,
        "title": hit.title or hit.url,
        "content": str(hit.snippet),
        "publishedDate": _midnight(hit.date),
        "engine": _ENGINE,
        "engines": [_ENGINE],
        "parsed_url": list(urlparse(hit.url)),
        "template": "default.html",
        "category": "general",
        "positions": [hit.rank],
        "score": hit.score,
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }


def _midnight(day: date | None) -> str | None:
    return f"{day.isoformat()}T00:00:00" if day else None
