"""The pages of a search: the start page, the results, why a page is among them, and its near copies."""

from __future__ import annotations

import shlex
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crivello.errors import InvalidArgument
from crivello.search.results import Results
from crivello.summary import Summary
from crivello.web.answer import HITS_A_PAGE, answer
from crivello.web.cached import cached_page, cached_raw, cached_view
from crivello.web.completions import complete
from crivello.web.dates import between, range_of
from crivello.web.engine import Engine, engine_of
from crivello.web.examples import start_of
from crivello.web.facets import chips_of, facets_of
from crivello.web.groups import groups_of
from crivello.web.icons import favicon
from crivello.web.pages import html_page
from crivello.web.paging import Paging, search_path
from crivello.web.parameters import query_of, whole_number, yes_or_no
from crivello.web.reasons import reasons_of
from crivello.web.rephrase import suggestions, words_alone


async def _home(request: Request) -> Response:
    engine = engine_of(request)
    summary = await run_in_threadpool(engine.summary)
    return html_page(
        "home.html",
        name=engine.name,
        summary=summary,
        start=await start_of(request, summary),
        next_command=_next_command(engine, summary),
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
    if "from" in request.query_params or "to" in request.query_params:
        dated = between(query, request.query_params.get("from", ""), request.query_params.get("to", ""))
        return RedirectResponse(search_path(dated), HTTPStatus.SEE_OTHER)
    page = whole_number(request.query_params, "page", default=1, least=1, most=None)
    correct = yes_or_no(request.query_params, "correct", default=True)
    found = await run_in_threadpool(answer, engine, query, page, correct=correct)
    results = found.results
    if results.matches and page > found.last_page:
        return RedirectResponse(search_path(query, found.last_page), HTTPStatus.SEE_OTHER)
    summary = await run_in_threadpool(engine.summary)
    nothing = not results.matches
    return html_page(
        "results.html",
        name=engine.name,
        summary=summary,
        next_command=_next_command(engine, summary),
        query=query,
        results=results,
        groups=await run_in_threadpool(groups_of, engine, results),
        chips=chips_of(results.searched),
        facets=facets_of(results),
        dates=_dates(results),
        misread=found.misread,
        suggestions=suggestions(query) if nothing else [],
        words=await run_in_threadpool(words_alone, engine, query) if nothing else [],
        start=await start_of(request, summary) if nothing else None,
        paged=results.corrected or query,
        paging=Paging(found.page, found.last_page),
        first_rank=(found.page - 1) * HITS_A_PAGE + 1,
    )


def _dates(results: Results) -> tuple[str, str] | None:
    """The first and the last day to show in the form for dates; ``None`` if no match has a date."""
    dates = range_of(results.searched)
    return dates if any(dates) or (results.facets or {}).get("year") else None


async def _why_result(request: Request) -> Response:
    engine = engine_of(request)
    query, url = _asked(request)
    explanation = await run_in_threadpool(engine.explain, query, url)
    if explanation is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "this page does not match the query")
    return html_page(
        "why.html",
        name=engine.name,
        query=query,
        url=url,
        score=explanation.value,
        reasons=reasons_of(explanation),
    )


async def _near_copies(request: Request) -> Response:
    engine = engine_of(request)
    query, url = _asked(request)
    hits = await run_in_threadpool(engine.near_copies, query, url)
    return html_page("copies.html", name=engine.name, query=query, url=url, hits=hits)


def _asked(request: Request) -> tuple[str, str]:
    """The query and the URL of one of its results."""
    query, url = query_of(request.query_params), request.query_params.get("url", "").strip()
    if not query or not url:
        raise InvalidArgument(
            "there is no query or no URL", hint="follow the link of a result, which has both: q and url"
        )
    return query, url


SEARCH_PAGES = [
    Route("/", _home),
    Route("/search", _search),
    Route("/why-result", _why_result),
    Route("/near-copies", _near_copies),
    Route("/cached", cached_page),
    Route("/cached/view", cached_view),
    Route("/cached/raw", cached_raw),
    Route("/complete", complete),
    Route("/favicon", favicon),
]
