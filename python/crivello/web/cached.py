"""The stored copy of a page: a page of ours around it, and the copy itself where it can do no harm.

The copy is a stranger's page. It is shown in a frame that is a sandbox twice, by the frame and by its own
headers: it runs nothing, sends nothing and loads nothing. What is neither HTML nor text is only downloaded.
Nothing here asks the network.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from crivello._core import reading
from crivello.errors import InvalidArgument
from crivello.store import CachedPage
from crivello.web.address import breadcrumb
from crivello.web.engine import engine_of
from crivello.web.headers import FRAMING_POLICY, POLICY, STRANGER_POLICY
from crivello.web.pages import html_page

_MEDIA_TYPE = re.compile(r"[a-z0-9][\w!#$&^.+-]*/[a-z0-9][\w!#$&^.+-]*", re.ASCII)
_UNKNOWN_TYPE = "application/octet-stream"
_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')


async def cached_page(request: Request) -> Response:
    """The copy in a frame, under a banner that says what it is."""
    page = await _copy(request)
    response = html_page(
        "cached.html",
        name=engine_of(request).name,
        page=page,
        viewable=_viewable(page),
        raw="/cached/raw?" + urlencode({"url": page.url}),
    )
    response.headers.update({POLICY: FRAMING_POLICY, "X-Robots-Tag": "noindex"})
    return response


async def cached_raw(request: Request) -> Response:
    """The bytes of the copy: as a document in a sandbox, or as a file to keep."""
    page = await _copy(request)
    headers = {POLICY: STRANGER_POLICY, "X-Robots-Tag": "noindex", "Cache-Control": "no-cache"}
    if _viewable(page):
        kind = "text/html" if reading(page.media_type) == "html" else "text/plain"
        headers["Content-Type"] = f"{kind}; charset={page.encoding}" if page.encoding else kind
    else:
        named = _MEDIA_TYPE.fullmatch(page.media_type)
        headers["Content-Type"] = page.media_type if named else _UNKNOWN_TYPE
        headers["Content-Disposition"] = (
            f"attachment; filename*=UTF-8''{quote(_file_name(page.url), safe='')}"
        )
    return Response(page.body, headers=headers)


async def _copy(request: Request) -> CachedPage:
    url = request.query_params.get("url", "").strip()
    if not url:
        raise InvalidArgument("there is no URL", hint="put it in url: /cached?url=https://example.org/")
    page = await run_in_threadpool(engine_of(request).cached, url)
    if page is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no copy of this page here")
    return page


def _viewable(page: CachedPage) -> bool:
    return reading(page.media_type) in ("html", "text")


def _file_name(url: str) -> str:
    """The last step of the URL's path or, where it has none, the host."""
    crumbs = breadcrumb(urlsplit(url)._replace(query="", fragment="").geturl())
    return _NOT_IN_A_NAME.sub("-", crumbs[-1]).strip(". ")[:150] or "page"
