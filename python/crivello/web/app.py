"""The routes: pages for people, JSON for programs."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from crivello.errors import InvalidArgument
from crivello.web import dashboard, metrics
from crivello.web.api import Doors
from crivello.web.engine import Engine, engine_of
from crivello.web.examples import Examples
from crivello.web.failures import FAILURE_HANDLERS
from crivello.web.headers import ProtectionHeaders
from crivello.web.metrics import Metrics
from crivello.web.pages import render
from crivello.web.parameters import query_of, refuse_unknown, whole_number, yes_or_no
from crivello.web.push import Push
from crivello.web.search_pages import SEARCH_PAGES
from crivello.web.static_files import VersionedFiles

_MOST_HITS = 1_000
_DEEPEST_OFFSET = 10_000

_ROBOTS = """\
User-agent: *
Disallow: /search
Disallow: /api/
Disallow: /elastic/
Disallow: /mcp
Disallow: /sitemap
Disallow: /cached
Disallow: /complete
Disallow: /near-copies
Disallow: /why-result
Disallow: /metrics
Disallow: /crawl
Disallow: /websub/
Disallow: /indexnow
"""


def create_app(
    engine: Engine, push: Push | None = None, doors: Doors | None = None, counted: Metrics | None = None
) -> Starlette:
    """The search page over ``engine``, what ``push`` accepts, and the ``doors`` of programs, as an ASGI
    application; ``counted`` are the counters behind ``/metrics``."""
    application = Starlette(
        routes=[
            *(doors.routes if doors else ()),
            *SEARCH_PAGES,
            Route("/api/search", _api_search),
            Route("/api/status", _api_status),
            Route("/health", _health),
            Route("/opensearch.xml", _opensearch),
            Route("/robots.txt", _robots),
            *metrics.routes,
            *dashboard.routes,
            Mount("/static", VersionedFiles()),
            *(push.routes if push else ()),
        ],
        middleware=[
            Middleware(ProtectionHeaders),
            Middleware(GZipMiddleware, minimum_size=1_000),
            *(doors.middleware if doors else ()),
        ],
        exception_handlers=FAILURE_HANDLERS,
    )
    application.state.engine = engine
    application.state.examples = Examples()
    application.state.metrics = counted or Metrics()
    return application


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
