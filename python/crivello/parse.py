"""Private: from the bytes of a response to text, links and what else a page says of itself."""

from __future__ import annotations

from collections.abc import Callable

from crivello import _core

HTML = frozenset({"text/html", "application/xhtml+xml"})
PLAIN = "text/plain"


def media_type(content_type: str | None) -> str | None:
    """A content type without its parameters, in lower case."""
    return content_type.split(";")[0].strip().lower() if content_type else None


def parse(url: str, header: Callable[[str], str | None], body: bytes, limit: int) -> _core.ParsedPage | None:
    """What a page holds; None for a type that is not text.

    ``header`` gives the response's header of a lower-case name. A body that does not decode, or only to more
    than ``limit`` bytes, raises ``InvalidArgument``.
    """
    declared = header("content-type")
    kind = media_type(declared) or "text/html"
    if kind not in HTML and kind != PLAIN:
        return None
    decoded = _core.decode_body(body, header("content-encoding") or "", limit)
    return _core.parse_text(decoded, declared) if kind == PLAIN else _core.parse_html(decoded, url, declared)
