"""Addresses of crawled pages, made fit to be shown and followed.

They come from strangers: one may be a script, name a false host before an ``@``, or turn the text around it.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlencode, urlsplit

# A browser and Python disagree on where the host ends in a URL with one of these.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")


def followable(url: str) -> str | None:
    """The URL if a person can follow it from the page: http or https, with a host that reads one way."""
    if _AMBIGUOUS.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def breadcrumb(url: str) -> list[str]:
    """The host, then the steps of the path, as a person reads them: ``["a.example", "news", "2024"]``."""
    if followable(url) is None:
        return [_readable(url)]
    parts = urlsplit(url)
    host = _printable(parts.netloc.rpartition("@")[2])
    crumbs = [host, *(_readable(step) for step in parts.path.split("/") if step)]
    if parts.query:
        crumbs[-1] += "?" + _readable(parts.query)
    return crumbs


def cached_path(url: str) -> str:
    """The address of the stored copy of a page."""
    return "/cached?" + urlencode({"url": url})


def _readable(text: str) -> str:
    """Percent escapes decoded, except where they hide what would not print, such as a change of direction."""
    decoded = unquote(text)
    return decoded if decoded.isprintable() else _printable(text)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
