"""What a hand can do on the dashboard: each form becomes a command to the crawl (``crivello.crawl.steering``)."""

from __future__ import annotations

from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from crivello.collection import Collection
from crivello.crawl.now import read_now
from crivello.crawl.steering import ONLY_NOW, CommandLog, command
from crivello.errors import InvalidArgument
from crivello.web.dashboard.access import back_to, collection_of, guarded, own_form


@guarded
async def act(request: Request) -> Response:
    """Appends a command to the log, and goes back to the page that it came from."""
    form = await own_form(request)
    by = f"{request.client.host if request.client else 'somebody'} on the dashboard"
    await run_in_threadpool(_command, collection_of(request), form.get("kind", ""), form.get("value", ""), by)
    return RedirectResponse(back_to(form.get("back", "")) + "#told", HTTPStatus.SEE_OTHER)


def _command(collection: Collection, kind: str, value: str, by: str) -> None:
    told = command(kind, value, by=by)
    now = read_now(collection)
    if kind in ONLY_NOW and (now is None or (now["state"] == "idle" and kind != "resume")):
        raise InvalidArgument(
            f"there is nothing to {kind}: no crawl is running",
            hint=f"crivello crawl --into {collection.name}",
        )
    CommandLog(collection.folder).add(told)
