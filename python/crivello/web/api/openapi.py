"""The description of the API: OpenAPI 3.1 for programs, a page for people; both from the operations themselves."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crivello.web.api.definitions import Operation, Parameter
from crivello.web.api.limits import Limits
from crivello.web.api.problems import (
    FAILED,
    INVALID,
    KINDS,
    MEDIA_TYPE,
    METHOD,
    MISSING,
    SCOPE,
    SYNTAX,
    TOKEN,
    TOO_MANY,
    Kind,
)
from crivello.web.api.schemas import SCHEMAS
from crivello.web.api.tokens import SCOPES
from crivello.web.api.v1 import OPERATIONS
from crivello.web.engine import engine_of
from crivello.web.examples import start_of
from crivello.web.pages import html_page

if TYPE_CHECKING:
    from crivello.collection import Collection

_ABOUT = (
    "Search a collection and read its pages. Errors are problem details (RFC 9457). A token is sent as "
    "`Authorization: Bearer TOKEN`; whether reading needs one is a setting of the server."
)


def description(name: str, address: str) -> dict[str, Any]:
    """The OpenAPI description of the API of the collection ``name``, served at ``address``."""
    return {
        "openapi": "3.1.1",
        "info": {
            "title": f"{name}, by Crivello",
            "version": version("crivello"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": address}],
        "security": [{}, {"token": []}],
        "paths": {operation.path: {"get": _operation(operation)} for operation in OPERATIONS},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "scopes: "
                    + "; ".join(f"{scope}: {meaning}" for scope, meaning in SCOPES.items()),
                }
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    answered: dict[str, Any] = {
        "description": operation.summary,
        "content": {operation.media_type: {"schema": {"$ref": f"#/components/schemas/{operation.schema}"}}},
    }
    responses = {"200": answered}
    if operation.cached:
        answered["headers"] = {
            "ETag": {
                "description": "changes with every commit of the collection",
                "schema": {"type": "string"},
            }
        }
        responses["304"] = {"description": "the same as for the ETag in If-None-Match"}
    responses |= {str(int(kind.status)): _problem(kind) for kind in _problems(operation)}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": operation.description,
        "parameters": [_parameter(parameter) for parameter in operation.parameters],
        "responses": responses,
    }


def _problems(operation: Operation) -> list[Kind]:
    """What can go wrong; of two kinds with the same status the first describes it."""
    missing = [MISSING] if operation.may_be_missing else []
    return [INVALID, TOKEN, SCOPE, *missing, METHOD, TOO_MANY, FAILED]


def _problem(kind: Kind) -> dict[str, Any]:
    return {
        "description": kind.title,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    example = parameter.example.replace("+", " ")
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema(),
        "example": int(example) if parameter.kind in ("number", "switch") else example,
    }


class Described:
    """The description as routes."""

    def __init__(self, collection: Collection, limits: Limits, read_needs_token: bool) -> None:
        self._collection = collection
        self._limits = limits
        self._read_needs_token = read_needs_token

    @property
    def routes(self) -> list[Route]:
        return [Route("/openapi.json", self._json), Route("/api", self._page)]

    async def _json(self, request: Request) -> Response:
        address = str(request.base_url).rstrip("/")
        return JSONResponse(
            description(self._collection.name, address), headers={"Cache-Control": "no-cache"}
        )

    async def _page(self, request: Request) -> Response:
        start = await start_of(request, await run_in_threadpool(engine_of(request).summary))
        return html_page(
            "api.html",
            example=start.examples[0].query if start.examples else "solar wind",
            name=self._collection.name,
            address=str(request.base_url).rstrip("/"),
            operations=OPERATIONS,
            schemas=SCHEMAS,
            kinds=KINDS,
            syntax=SYNTAX,
            scopes=SCOPES,
            a_minute=self._limits.a_minute,
            read_needs_token=self._read_needs_token,
        )
