"""Who may pass the doors of programs: other origins (CORS), tokens, rate limits; a middleware.

It acts on the paths of programs only. The pages for people are protected by their own headers.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crivello.errors import CrivelloError
from crivello.web.api.limits import Limits
from crivello.web.api.problems import SCOPE, TOKEN, TOO_MANY, problem, problem_of
from crivello.web.api.tokens import Token, Tokens

_DOORS = ("/api/", "/openapi.json", "/elastic", "/mcp", "/search.", "/sitemap")
_SHARED_FILE = "/static/embed.js"
_METHODS = "GET, HEAD, POST, PUT, DELETE"
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="crivello"'}
_EXPOSED = "ETag, RateLimit, RateLimit-Policy, Retry-After"
_A_DAY = "86400"


class Gate:
    """The middleware. ``origins`` are those whose pages may call the API; ``*`` is any."""

    def __init__(
        self, app: ASGIApp, tokens: Tokens, limits: Limits, origins: frozenset[str], read_needs_token: bool
    ) -> None:
        self.app = app
        self._tokens = tokens
        self._limits = limits
        self._origins = origins
        self._read_needs_token = read_needs_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if path == _SHARED_FILE:
            # Also a page that isolates itself (Cross-Origin-Embedder-Policy) may load it.
            added = {"Cross-Origin-Resource-Policy": "cross-origin", **self._sharing(Headers(scope=scope))}
            await self.app(scope, receive, _adding(send, added))
        elif is_door(scope):
            headers = Headers(scope=scope)
            sharing = self._sharing(headers)
            refusal = self._preflight(scope, headers, sharing) or self._refusal(scope, headers)
            if isinstance(refusal, Response):
                refusal.headers.update(sharing)
                await refusal(scope, receive, send)
            else:
                await self.app(scope, receive, _adding(send, sharing | refusal))
        else:
            await self.app(scope, receive, send)

    def _sharing(self, headers: Headers) -> dict[str, str]:
        """The headers that let a page of another origin read the response."""
        if not self._origins:
            return {}
        origin = headers.get("origin", "")
        if "*" in self._origins:
            return {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": _EXPOSED}
        if origin.lower() in self._origins:
            return {
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Expose-Headers": _EXPOSED,
                "Vary": "Origin",
            }
        return {"Vary": "Origin"}

    def _preflight(self, scope: Scope, headers: Headers, sharing: dict[str, str]) -> Response | None:
        if scope["method"] != "OPTIONS" or "access-control-request-method" not in headers:
            return None
        if "Access-Control-Allow-Origin" not in sharing:
            return problem(
                SCOPE,
                "pages of this origin may not call the API",
                "name the origin in the setting serve.cors",
            )
        return Response(
            status_code=HTTPStatus.NO_CONTENT,
            headers={
                "Access-Control-Allow-Methods": _METHODS,
                "Access-Control-Allow-Headers": headers.get("access-control-request-headers", ""),
                "Access-Control-Max-Age": _A_DAY,
            },
        )

    def _refusal(self, scope: Scope, headers: Headers) -> Response | dict[str, str]:
        """Why a request does not pass; if it does, what is said of its rate limit."""
        if scope["method"] not in ("GET", "HEAD") and not self._is_welcome(headers):
            return problem(
                SCOPE,
                "a page of another origin may not send this",
                "name the origin in the setting serve.cors",
            )
        try:
            token = self._tokens.of(headers["authorization"]) if "authorization" in headers else None
        except CrivelloError as error:
            return problem_of(error)
        scope.setdefault("state", {})["token"] = token
        said: dict[str, str] = {}
        if self._limits.a_minute:
            client = f"token {token.name}" if token else (scope.get("client") or ("",))[0]
            left = self._limits.take(client)
            said = self._limits.headers(left)
            if not left.allowed:
                return problem(
                    TOO_MANY,
                    f"more than {self._limits.a_minute:,} requests in a minute",
                    f"try again in {max(1, left.seconds)} s",
                    headers=said,
                )
        # A name and a password that are no token may be those of a person, which auth.py has checked.
        if token is None and not headers.get("authorization", "basic").lower().startswith("basic"):
            return problem(
                TOKEN,
                "this token is not known here",
                "`crivello token list` names those that are",
                _CHALLENGE,
            )
        if token is None and self._read_needs_token:
            return needs_token("read")
        return said

    def _is_welcome(self, headers: Headers) -> bool:
        """Whether a request that may change something comes from a program, this server, or a named origin."""
        origin = headers.get("origin")
        if origin is None or origin.lower() in self._origins:
            return True
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def is_door(scope: Scope) -> bool:
    """Whether a request is for a program rather than for a person."""
    path: str = scope["path"]
    if path in ("/", "/search"):
        return scope["method"] == "POST" or "format" in QueryParams(scope["query_string"])
    return path.startswith(_DOORS)


def token_of(request: Request) -> Token | None:
    """The token of a request that passed the gate."""
    token: Token | None = getattr(request.state, "token", None)
    return token


def missing_scope(request: Request, scope: str) -> Response | None:
    """The refusal of a request whose token does not have a scope."""
    token = token_of(request)
    if token is None:
        return needs_token(scope)
    if not token.allows(scope):
        return problem(
            SCOPE, f"the token {token.name} has the scope {token.scope}, and this needs {scope}", _how(scope)
        )
    return None


def needs_token(scope: str) -> Response:
    return problem(TOKEN, f"this needs a token with the scope {scope}", _how(scope), _CHALLENGE)


def _how(scope: str) -> str:
    return f"`crivello token add DIR NAME --scope {scope}` makes one; send it as Authorization: Bearer TOKEN"


def _adding(send: Send, added: dict[str, str]) -> Send:
    """Sends responses with more headers."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                if name == "Vary":
                    headers.add_vary_header(value)
                else:
                    headers[name] = value
        await send(message)

    return sending
