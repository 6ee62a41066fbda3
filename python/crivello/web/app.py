"""The routes: pages for people, JSON for programs."""

from __future__ import annotations

import shlex
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from crivello.errors import InvalidArgument
from crivello.summary import Summary
from crivello.web.answer import HITS_A_PAGE, answer
from crivello.web.cached import cached_page, cached_raw
from crivello.web.engine import Engine, engine_of
from crivello.web.facets import chips_of, facets_of
from crivello.web.failures import FAILURE_HANDLERS
from crivello.web.headers import ProtectionHeaders
from crivello.web.pages import html_page, render
from crivello.web.paging import Paging, search_path
from crivello.web.parameters import query_of, refuse_unknown, whole_number, yes_or_no
from crivello.web.push import Push
from crivello.web.rephrase import suggestions
from crivello.web.static_files import VersionedFiles

_MOST_HITS = 1_000
_DEEPEST_OFFSET = 10_000

_ROBOTS = """\
User-agent: *
Disallow: /search
Disallow: /api/
Disallow: /cached
Disallow: /websub/
Disallow: /indexnow
"""


def create_app(engine: Engine, push: Push | None = None) -> Starlette:
    """The search page and the API over ``engine``, and what ``push`` accepts, as an ASGI application."""
    application = Starlette(
        routes=[
            Route("/", _home),
            Route("/search", _search),
            Route("/cached", cached_page),
            Route("/cached/raw", cached_raw),
            Route("/api/search", _api_search),
            Route("/api/status", _api_status),
            Route("/health", _health),
            Route("/opensearch.xml", _opensearch),
            Route("/robots.txt", _robots),
            Mount("/static", VersionedFiles()),
            *(push.routes if push else ()),
        ],
        middleware=[Middleware(ProtectionHeaders), Middleware(GZipMiddleware, minimum_size=1_000)],
        exception_handlers=FAILURE_HANDLERS,
    )
    application.state.engine = engine
    return application


async def _home(request: Request) -> Response:
    engine = engine_of(request)
    summary = await run_in_threadpool(engine.summary)
    return html_page(
        "home.html", name=engine.name, summary=summary, next_command=_next_command(engine, summary)
    )


def _next_command(engine: Engine, summary: Summary) -> str:
    """The command to run next, so that there is something to search."""
    folder = shlex.quote(engine.name)
    if summary.state == "not indexed":
        return f"crivello index {folder}"
    return f"crivello crawl https://example.org/ --into {folder}"


async def _search(request: Request) -> Response:
    engine = engine_of(request)
    query = query_of(request.query_params)
    if not query:
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)
    page = whole_number(request.query_params, "page", default=1, least=1, most=None)
    correct = yes_or_no(request.query_params, "correct", default=True)
    found = await run_in_threadpool(answer, engine, query, page, correct=correct)
    if found.results.matches and page > found.last_page:
        return RedirectResponse(search_path(query, found.last_page), HTTPStatus.SEE_OTHER)
    summary = await run_in_threadpool(engine.summary)
    copies = await run_in_threadpool(engine.have_copies, [hit.url for hit in found.results])
    return html_page(
        "results.html",
        name=engine.name,
        summary=summary,
        next_command=_next_command(engine, summary),
        query=query,
        results=found.results,
        copies=copies,
        chips=chips_of(found.results.searched),
        facets=facets_of(found.results),
        misread=found.misread,
        suggestions=suggestions(query),
        paged=found.results.corrected or query,
        paging=Paging(found.page, found.last_page),
        first_rank=(found.page - 1) * HITS_A_PAGE + 1,
    )


async def _api_search(request: Request) -> Response:
    parameters = request.query_params
    refuse_unknown(parameters, ("q", "top", "offset", "facets", "correct"))
    query = query_of(parameters)
    if not query:
        raise InvalidArgument("there is no query", hint="put it in q: /api/search?q=solar+wind")
    top = whole_number(parameters, "top", default=10, least=1, most=_MOST_HITS)
    offset = whole_number(parameters, "offset", default=0, least=0, most=_DEEPEST_OFFSET)
    facets = yes_or_no(parameters, "facets")
    correct = yes_or_no(parameters, "correct", default=True)
    results = await run_in_threadpool(
        engine_of(request).search, query, top=top, offset=offset, facets=facets, correct=correct
    )
    return JSONResponse(results.to_dict())


async def _api_status(request: Request) -> Response:
    refuse_unknown(request.query_params, ())
    summary = await run_in_threadpool(engine_of(request).summary)
    return JSONResponse(summary.to_dict(), headers={"Cache-Control": "no-store"})


async def _health(request: Request) -> Response:
    engine = engine_of(request)
    summary = await run_in_threadpool(engine.summary)
    return JSONResponse(
        {"status": "ok", "collection": engine.name, "state": summary.state, "pages": summary.pages},
        headers={"Cache-Control": "no-store"},
    )


async def _opensearch(request: Request) -> Response:
    description = render(
        "opensearch.xml", name=engine_of(request).name, address=str(request.base_url).rstrip("/")
    )
    return Response(description, media_type="application/opensearchdescription+xml")


async def _robots(_request: Request) -> Response:
    return PlainTextResponse(_ROBOTS)
