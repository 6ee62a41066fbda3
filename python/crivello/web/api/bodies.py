"""Bodies of requests, bounded."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request; one that is too long is refused without being read to its end."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise HTTPException(413, f"the body is longer than {most:,} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "the body ended early") from None
    return bytes(body)
