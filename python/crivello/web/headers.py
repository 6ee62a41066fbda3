"""The security headers of every response.

Crawled text is hostile. Templates escape it; should one ever fail to, the browser still runs no script and
loads nothing that is not from this server.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "Content-Security-Policy"

_OWN_POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)

PROTECTION = {POLICY: _OWN_POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

# For a page of this server that frames a stored copy.
FRAMING_POLICY = f"{_OWN_POLICY}; frame-src 'self'"

# For a stored copy, which is untrusted: a sandboxed origin, without scripts, forms, or external resources.
STRANGER_POLICY = "; ".join(
    [
        "sandbox",
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    ]
)


class ProtectionHeaders:
    """Middleware that adds ``PROTECTION`` to every response, except for headers that are already set."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in PROTECTION.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_protected)
