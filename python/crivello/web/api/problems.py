"""Errors of the API as RFC 9457 problem details (``application/problem+json``)."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from crivello.errors import CrivelloError, InvalidArgument, QuerySyntaxError

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem; its name is the fragment of its URI on the page ``/api``."""

    name: str
    status: HTTPStatus
    title: str


INVALID = Kind("invalid-argument", HTTPStatus.BAD_REQUEST, "A parameter has a value that is not allowed")
SYNTAX = Kind("query-syntax", HTTPStatus.BAD_REQUEST, "The query does not parse")
TOKEN = Kind("token-needed", HTTPStatus.UNAUTHORIZED, "The request needs a token")
SCOPE = Kind("scope-needed", HTTPStatus.FORBIDDEN, "The token is not allowed to do this")
MISSING = Kind("not-found", HTTPStatus.NOT_FOUND, "There is nothing at this address")
METHOD = Kind("method-not-allowed", HTTPStatus.METHOD_NOT_ALLOWED, "This address cannot be used in this way")
TOO_LARGE = Kind("body-too-large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body of the request is too long")
TOO_MANY = Kind("too-many-requests", HTTPStatus.TOO_MANY_REQUESTS, "Too many requests in too short a time")
FAILED = Kind("failed", HTTPStatus.INTERNAL_SERVER_ERROR, "The server could not answer")

KINDS = (INVALID, SYNTAX, TOKEN, SCOPE, MISSING, METHOD, TOO_LARGE, TOO_MANY, FAILED)
_BY_STATUS = {kind.status: kind for kind in reversed(KINDS)}


def problem(
    kind: Kind, detail: str, hint: str | None = None, headers: dict[str, str] | None = None, **more: Any
) -> JSONResponse:
    """A response that says what went wrong, in one sentence, and what to try."""
    said: dict[str, Any] = {
        "type": f"/api#{kind.name}",
        "title": kind.title,
        "status": int(kind.status),
        "detail": detail,
    }
    if hint:
        said["hint"] = hint
    sent = {"Cache-Control": "no-store", **(headers or {})}
    return JSONResponse({**said, **more}, kind.status, headers=sent, media_type=MEDIA_TYPE)


def problem_of(error: CrivelloError) -> JSONResponse:
    """The response to an error of Crivello."""
    if isinstance(error, QuerySyntaxError):
        return problem(SYNTAX, str(error), error.hint, position=error.position)
    return problem(INVALID if isinstance(error, InvalidArgument) else FAILED, str(error), error.hint)


def problem_of_status(status: int, detail: str, hint: str | None = None) -> JSONResponse:
    """The response to a failure that is known by its status."""
    return problem(_BY_STATUS.get(HTTPStatus(status), FAILED), detail, hint)
