"""URLs of crawled pages, sanitised for display and for links.

They are untrusted: one may be a script, name a false host before an ``@``, or reverse the direction of the
text around it.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlencode, urlsplit

# A browser and Python disagree on where the host ends in a URL with one of these.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")


def followable(url: str) -> str | None:
    """The URL if it is safe to link to: http or https, with an unambiguous host."""
    if _AMBIGUOUS.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def breadcrumb(url: str) -> list[str]:
    """The host, then the segments of the path, readable: ``["a.example", "news", "2024"]``."""
    if followable(url) is None:
        return [_readable(url)]
    parts = urlsplit(url)
    host = _printable(parts.netloc.rpartition("@")[2])
    crumbs = [host, *(_readable(step) for step in parts.path.split("/") if step)]
    if parts.query:
        crumbs[-1] += "?" + _readable(parts.query)
    return crumbs


def cached_path(url: str) -> str:
    """The path of the stored copy of a page."""
    return "/cached?" + urlencode({"url": url})


def why_path(query: str, url: str) -> str:
    """The path of the page that explains the rank of a result."""
    return "/why-result?" + urlencode({"q": query, "url": url})


def copies_path(query: str, url: str) -> str:
    """The path of the list of the near copies of a result."""
    return "/near-copies?" + urlencode({"q": query, "url": url})


def icon_path(url: str) -> str:
    """The path of the icon of the site of a URL."""
    host = urlsplit(url).netloc.rpartition("@")[2].lower() if followable(url) else ""
    return "/favicon?" + urlencode({"host": host or "page"})


def _readable(text: str) -> str:
    """Percent escapes decoded, unless they hide unprintable characters, such as a change of direction."""
    decoded = unquote(text)
    return decoded if decoded.isprintable() else _printable(text)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
