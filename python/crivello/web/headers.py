"""The headers that every response carries.

Crawled text is hostile. Templates escape it; should one ever fail to, the browser still runs no script and
loads nothing that does not come from this server.
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

# For a page of ours that frames a stored one.
FRAMING_POLICY = f"{_OWN_POLICY}; frame-src 'self'"

# For a page of a stranger: in an origin of its own, without scripts, forms, or anything from elsewhere.
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
    """Adds ``PROTECTION`` to whatever the application answers, except a header that the answer has already."""

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
