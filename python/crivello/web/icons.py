"""The icon of a site: the one that its pages declare, if the crawl has stored it, or its ``/favicon.ico``; otherwise a
tile with its first letter, or with the last number of an address.

Nothing is fetched: what a browser shows beside the results tells the sites nothing.
"""

from __future__ import annotations

import hashlib
import html
import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from crivello.errors import InvalidArgument
from crivello.store import CachedPage
from crivello.web.engine import Engine, engine_of
from crivello.web.headers import POLICY, STRANGER_POLICY

_HOST = re.compile(r"[a-z0-9\u0080-\U0010ffff._\[\]:-]{1,255}")
_IMAGE = re.compile(r"image/(x-icon|vnd\.microsoft\.icon|png|gif|jpeg|webp|svg\+xml)")
_LARGEST = 100_000
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d{1,3}")
_SIZES = {1: 18, 2: 15, 3: 13}
_A_DAY = {"Cache-Control": "public, max-age=86400"}
# A crawl may still find an icon.
_A_WHILE = {"Cache-Control": "public, max-age=600"}

# Hues that can be told apart, and saturations and lightnesses at which white has a contrast of 5 to 1 or more.
_HUES = range(0, 360, 30)
_SHADES = ("45%,31%", "65%,27%")


async def favicon(request: Request) -> Response:
    """The icon of ``host``, in a sandbox: it may be a drawing with scripts."""
    host = request.query_params.get("host", "").strip().lower()
    if not _HOST.fullmatch(host):
        raise InvalidArgument("there is no host", hint="put it in host: /favicon?host=example.org")
    icon = await run_in_threadpool(_stored, engine_of(request), host)
    if icon is not None:
        return Response(icon.body, media_type=icon.media_type, headers={**_A_DAY, POLICY: STRANGER_POLICY})
    return Response(_tile(host), media_type="image/svg+xml", headers=_A_WHILE)


def _stored(engine: Engine, host: str) -> CachedPage | None:
    for url in engine.icon_urls(host):
        icon = engine.cached(url)
        if icon and _IMAGE.fullmatch(icon.media_type) and 0 < len(icon.body) <= _LARGEST:
            return icon
    return None


def _tile(host: str) -> str:
    name = re.sub(r":\d*$", "", host.removeprefix("www."))
    shade, hue = hashlib.sha256(name.encode()).digest()[1:3]
    label = name.rpartition(".")[2] if _ADDRESS.fullmatch(name) else _initial(name)
    size = _SIZES[len(label)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="8" fill="hsl({_HUES[hue % len(_HUES)]},{_SHADES[shade % len(_SHADES)]})"/>'
        f'<text x="16" y="{16 + 0.36 * size:.1f}" text-anchor="middle" font-family="system-ui,sans-serif" '
        f'font-weight="600" font-size="{size}" fill="#fff">{html.escape(label)}</text></svg>'
    )


def _initial(name: str) -> str:
    return next((sign for sign in name if sign.isalnum()), "·").upper()[0]
