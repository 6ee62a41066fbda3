"""The dashboard live: server-sent events with the parts that changed, and the samples for the plots.

All listeners share one reading a second, so their number costs nothing but their own sending. Without a listener nothing
is read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from crivello.errors import CrivelloError
from crivello.web.dashboard.access import collection_of, guarded
from crivello.web.dashboard.overview import Watch, watch_of

_BETWEEN = 1.0
_BEAT = 0.25
_BETWEEN_HISTORIES = 15.0
_BETWEEN_COMMENTS = 10.0


@guarded
async def events(request: Request) -> Response:
    """The stream; a browser connects again by itself when it breaks off."""
    watch = watch_of(request, collection_of(request))
    return StreamingResponse(
        _stream(request, watch),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(request: Request, watch: Watch) -> AsyncIterator[bytes]:
    sent: dict[str, str] = {}
    last_sample = 0.0
    next_history = 0.0
    next_comment = time.monotonic() + _BETWEEN_COMMENTS
    while True:
        try:
            overview = await run_in_threadpool(watch.overview)
        except CrivelloError as error:
            yield _event({"problem": str(error)})
            return
        message: dict[str, Any] = {}
        changed = {name: html for name, html in overview.parts.items() if sent.get(name) != html}
        if changed:
            message["parts"] = changed
            sent |= changed
        samples = [sample for sample in overview.samples if sample[0] > last_sample]
        if samples:
            message["samples"], last_sample = samples, samples[-1][0]
        if time.monotonic() >= next_history:
            next_history = time.monotonic() + _BETWEEN_HISTORIES
            message["history"] = await run_in_threadpool(watch.history)
        if message:
            yield _event({"state": overview.state, "title": overview.title, **message})
        elif time.monotonic() >= next_comment:
            # Tells both ends that the other is there.
            yield b": nothing new\n\n"
            next_comment = time.monotonic() + _BETWEEN_COMMENTS
        until = time.monotonic() + _BETWEEN
        while time.monotonic() < until:
            if getattr(request.app.state, "is_ending", False):
                return
            await asyncio.sleep(_BEAT)


def _event(message: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(message) + b"\n\n"
