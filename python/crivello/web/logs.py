"""The log of the server, on standard error: only problems, a line per request, or the same as JSON.

A request is logged with the path of its URL and without its query: what people search for is not kept.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUESTS = logging.getLogger("crivello.requests")
_LONGEST = 1000


def configure(form: str) -> None:
    """Lets the loggers of the server write in a form: ``problems``, ``text`` or ``json``."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if form == "json" else _Text())
    for name in ("crivello", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    REQUESTS.setLevel(logging.WARNING if form == "problems" else logging.INFO)


class Logged:
    """Middleware that logs every request once it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not REQUESTS.isEnabledFor(logging.INFO):
            await self.app(scope, receive, send)
            return
        status, size = 500, 0

        async def send_noted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        began = time.perf_counter()
        try:
            await self.app(scope, receive, send_noted)
        finally:
            said = {
                "client": (scope.get("client") or ("",))[0],
                "method": scope["method"],
                "path": scope["path"][:_LONGEST],
                "status": status,
                "bytes": size,
                "milliseconds": round((time.perf_counter() - began) * 1000, 3),
            }
            REQUESTS.info("request", extra={"request": said})


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        said: dict[str, Any] | None = getattr(record, "request", None)
        if said is None:
            return f"{when} {record.levelname.lower()} {super().format(record)}"
        path = said["path"].encode("unicode_escape").decode()
        return (
            f"{when} {said['client']} {said['method']} {path} {said['status']} {said['bytes']} bytes "
            f"{said['milliseconds']} ms"
        )


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **getattr(record, "request", {}),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(said).decode()
