"""The protocol over streamable HTTP at ``/mcp``: a message is posted, and its answer is the response.

There are no sessions and no streams from the server, which the protocol leaves to it: GET and DELETE are refused. Pages of
other origins are kept out by the gate, as the protocol demands.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crivello.mcp.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    STATELESS,
    UNSUPPORTED_VERSION,
    Server,
)
from crivello.web.api.bodies import read_body
from crivello.web.api.gate import token_of

if TYPE_CHECKING:
    from crivello.collection import Collection

MOST_BYTES = 2**20
_STATUS = {
    PARSE_ERROR: HTTPStatus.BAD_REQUEST,
    INVALID_REQUEST: HTTPStatus.BAD_REQUEST,
    INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
    UNSUPPORTED_VERSION: HTTPStatus.BAD_REQUEST,
}


class McpHttp:
    """The protocol as a route, over a collection. The tool ``crawl`` takes a token with that scope."""

    def __init__(self, collection: Collection) -> None:
        self._server = Server(collection)

    @property
    def routes(self) -> list[Route]:
        return [Route("/mcp", self._answer, methods=["POST"])]

    async def _answer(self, request: Request) -> Response:
        body = await read_body(request, MOST_BYTES)
        token = token_of(request)
        may_crawl = token is not None and token.allows("crawl")
        said = await run_in_threadpool(self._server.answer_text, body, may_crawl=may_crawl)
        if said is None:
            return Response(status_code=HTTPStatus.ACCEPTED)
        # Revisions with a handshake have their errors in a response with status 200.
        is_stateless = request.headers.get("mcp-protocol-version") in STATELESS
        code = said["error"]["code"] if "error" in said else 0
        status = _STATUS.get(code, HTTPStatus.OK) if is_stateless or said["id"] is None else HTTPStatus.OK
        return Response(
            msgspec.json.encode(said),
            status,
            headers={"Cache-Control": "no-store"},
            media_type="application/json",
        )
