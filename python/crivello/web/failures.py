"""Error responses: a page for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from crivello.errors import CrivelloError, InvalidArgument
from crivello.web.api.gate import is_door
from crivello.web.api.problems import problem_of, problem_of_status
from crivello.web.examples import Start, start_of
from crivello.web.headers import PROTECTION
from crivello.web.pages import html_page

_PROBLEMS = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address",
    HTTPStatus.METHOD_NOT_ALLOWED: "this address cannot be used in this way",
}


def _expects_problem(request: Request) -> bool:
    """Whether an error is told as problem details; the operations older than version 1 have a form of their own."""
    path = request.url.path
    return is_door(request.scope) and (path.startswith("/api/v1/") or not path.startswith("/api/"))


async def _told(request: Request, status: int, problem: str, hint: str | None) -> Response:
    if _expects_problem(request):
        return problem_of_status(status, problem, hint)
    if request.url.path.startswith(("/api/", "/health", "/metrics")):
        return JSONResponse({"error": problem, "hint": hint}, status)
    return html_page(
        "failure.html",
        status=status,
        name=request.app.state.engine.name,
        problem=problem,
        hint=hint,
        query=request.query_params.get("q", "")[:200],
        url=request.query_params.get("url", "")[:2000],
        start=await _start(request) if status < HTTPStatus.INTERNAL_SERVER_ERROR else None,
    )


async def _start(request: Request) -> Start | None:
    """Queries that work, if the collection does."""
    try:
        return await start_of(request, await run_in_threadpool(request.app.state.engine.summary))
    except CrivelloError:
        return None


async def _crivello_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrivelloError)
    if _expects_problem(request):
        return problem_of(error)
    status = (
        HTTPStatus.BAD_REQUEST if isinstance(error, InvalidArgument) else HTTPStatus.INTERNAL_SERVER_ERROR
    )
    return await _told(request, status, str(error), error.hint)


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    # Without a detail, Starlette uses the phrase of the status.
    plain = error.detail == status.phrase
    problem = _PROBLEMS.get(status, status.phrase.lower()) if plain else error.detail
    response = await _told(request, status, problem, None)
    response.headers.update(error.headers or {})
    return response


async def _unforeseen(request: Request, _error: Exception) -> Response:
    response = await _told(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "something went wrong inside Crivello",
        "the log of the server says what",
    )
    # Starlette answers uncaught exceptions outside of the middleware, which would have added these headers.
    response.headers.update(PROTECTION)
    return response


FAILURE_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    CrivelloError: _crivello_error,
    HTTPException: _http_exception,
    Exception: _unforeseen,
}
