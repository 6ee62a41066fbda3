"""Error responses: a page for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from crivello.errors import CrivelloError, InvalidArgument
from crivello.web.headers import PROTECTION
from crivello.web.pages import html_page

_PROBLEMS = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address",
    HTTPStatus.METHOD_NOT_ALLOWED: "this address cannot be used in this way",
}


def _told(request: Request, status: int, problem: str, hint: str | None) -> Response:
    if request.url.path.startswith(("/api/", "/health")):
        return JSONResponse({"error": problem, "hint": hint}, status)
    return html_page(
        "failure.html",
        status=status,
        name=request.app.state.engine.name,
        problem=problem,
        hint=hint,
        query=request.query_params.get("q", "")[:200],
    )


async def _crivello_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrivelloError)
    status = (
        HTTPStatus.BAD_REQUEST if isinstance(error, InvalidArgument) else HTTPStatus.INTERNAL_SERVER_ERROR
    )
    return _told(request, status, str(error), error.hint)


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    # Without a detail, Starlette uses the phrase of the status.
    plain = error.detail == status.phrase
    problem = _PROBLEMS.get(status, status.phrase.lower()) if plain else error.detail
    response = _told(request, status, problem, None)
    response.headers.update(error.headers or {})
    return response


async def _unforeseen(request: Request, _error: Exception) -> Response:
    response = _told(
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
