"""Who may see the dashboard, and which forms are its own.

Without a token it is for this machine alone: the connection must come from a loopback address, the ``Host`` must be a name
of this machine (another site can give its own name the address 127.0.0.1), and no proxy may have passed the request on.
With ``serve.dashboard_token`` it is for whoever has that, from anywhere and from here: as a bearer token, or as the
cookie that a form gives for it.

A POST must also come from a page of this server: its ``Origin`` is this host, and it repeats the secret of a cookie that
no other site can read (a double submit). Cookies do not tell ports apart, so their names do.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from crivello.collection import CLUSTER, Collection
from crivello.web.engine import engine_of
from crivello.web.pages import html_page

Handler = Callable[[Request], Awaitable[Response]]
Form = dict[str, str]

_SECRET = re.compile(r"[0-9a-f]{32}")
_MOST_BYTES = 1 << 20
_MOST_FIELDS = 20
_AFTER_A_WRONG_TOKEN = 0.5
_BY_A_PROXY = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_PLACES = ("/crawl", "/crawl?", "/crawl/host?", "/crawl/url?")
# Only over TLS, which a proxy may end: then the browser knows, and the server does not.
_COOKIE: dict[str, Any] = {"path": "/crawl", "httponly": True, "samesite": "strict"}


def collection_of(request: Request) -> Collection:
    """The collection that is served; raises 404 if the server has another engine, or the collection many agents."""
    engine = engine_of(request)
    if not isinstance(engine, Collection):
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no crawl here")
    if (engine.folder / CLUSTER).is_file():
        problem = "the crawl of many agents is watched by `crivello cluster status`"
        raise HTTPException(HTTPStatus.NOT_FOUND, problem)
    return engine


def guarded(handler: Handler) -> Handler:
    """A handler that answers only those who may see the dashboard."""

    @functools.wraps(handler)
    async def guard(request: Request) -> Response:
        token = collection_of(request).settings.serve.dashboard_token
        if token and not _has_token(request, token):
            return page(request, "dashboard/login.html", status=HTTPStatus.UNAUTHORIZED, is_wrong=False)
        if not token and not is_local(request):
            raise HTTPException(
                HTTPStatus.FORBIDDEN,
                "the dashboard answers only on this machine, until `serve.dashboard_token` is set",
            )
        return await handler(request)

    return guard


async def log_in(request: Request) -> Response:
    """Takes the token from a form, and gives the cookie for it."""
    token = collection_of(request).settings.serve.dashboard_token
    form = await own_form(request)
    if not token or not hmac.compare_digest(form.get("token", "").encode(), token.encode()):
        await asyncio.sleep(_AFTER_A_WRONG_TOKEN)
        return page(request, "dashboard/login.html", status=HTTPStatus.UNAUTHORIZED, is_wrong=True)
    response = RedirectResponse(back_to(form.get("back", "")), HTTPStatus.SEE_OTHER)
    response.set_cookie(_cookie(request, "session"), _session(token), **_secured(request))
    return response


async def own_form(request: Request) -> Form:
    """The fields of a form of this server; raises 403 if it is another's."""
    _refuse_other_origins(request)
    fields = parse_qs((await _body(request)).decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    form = {name: values[-1] for name, values in fields.items()}
    expected = request.cookies.get(_cookie(request, "form"), "")
    given = form.pop("form", "")
    if not _SECRET.fullmatch(expected) or not hmac.compare_digest(given.encode(), expected.encode()):
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "the form is not of this page, or too old: load the page again"
        )
    return form


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> Response:
    """A page of the dashboard, whose forms have the secret that ``own_form`` asks for."""
    secret = request.cookies.get(_cookie(request, "form"), "")
    if not _SECRET.fullmatch(secret):
        secret = secrets.token_hex(16)
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    response = html_page(
        template, status=status, name=engine_of(request).name, secret=secret, back=back_to(path), **values
    )
    response.set_cookie(_cookie(request, "form"), secret, **_secured(request))
    # Without a referrer a browser names no origin either, and `own_form` asks for it.
    own = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "same-origin"}
    response.headers.update(own)
    return response


def is_local(request: Request) -> bool:
    """Whether a request comes from this machine, to it by its own name, and not through a proxy."""
    if request.client is None or any(name in request.headers for name in _BY_A_PROXY):
        return False
    return _is_loopback(request.client.host) and _is_loopback(_hostname(request.headers.get("host", "")))


def back_to(path: str) -> str:
    """A path of the dashboard to go back to; ``/crawl`` for any other."""
    is_ours = path == "/crawl" or path.startswith(_PLACES[1:])
    return path if is_ours and "\\" not in path and path.isprintable() else "/crawl"


def _has_token(request: Request, token: str) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    is_bearer = kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
    cookie = request.cookies.get(_cookie(request, "session"), "")
    return is_bearer or hmac.compare_digest(cookie.encode(), _session(token).encode())


def _refuse_other_origins(request: Request) -> None:
    """Every browser names the origin of a POST. Behind a proxy the scheme may differ, so the hosts are compared."""
    origin = urlsplit(request.headers.get("origin", ""))
    is_same = origin.scheme in ("http", "https") and origin.netloc == request.headers.get("host")
    if not is_same or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise HTTPException(HTTPStatus.FORBIDDEN, "the request comes from another site")


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too long")
    except ClientDisconnect:
        return b""
    return bytes(body)


def _cookie(request: Request, what: str) -> str:
    return f"crivello-{what}-{request.url.port or 0}"


def _secured(request: Request) -> dict[str, Any]:
    return {**_COOKIE, "secure": request.url.scheme == "https"}


def _session(token: str) -> str:
    return hmac.new(token.encode(), b"the dashboard of Crivello", hashlib.sha256).hexdigest()


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
