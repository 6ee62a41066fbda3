"""Completions while one types, in the form of OpenSearch suggestions, for our page and for a browser's own box."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from crivello.web.engine import engine_of

_SHOWN = 8
# Nobody wants a longer one completed.
_LONGEST_PREFIX = 200


class Suggestions(JSONResponse):
    media_type = "application/x-suggestions+json"


async def complete(request: Request) -> Response:
    """``["prefix", ["completion", …]]``."""
    prefix = request.query_params.get("q", "").strip()
    found: list[str] = []
    if prefix and len(prefix) <= _LONGEST_PREFIX:
        found = await run_in_threadpool(engine_of(request).complete, prefix, top=_SHOWN)
    return Suggestions([prefix, found], headers={"Cache-Control": "private, max-age=60"})
