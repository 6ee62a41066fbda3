"""A stored page, ready to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CachedPage:
    """What a server sent for a URL, when it was ``fetched``, without its content encoding.

    ``media_type`` is in lower case, without parameters. ``encoding`` is the WHATWG name of the character
    encoding, for HTML and plain text. ``converted`` is the HTML that a document of another format was converted
    to; empty if there is none.
    """

    url: str
    fetched: datetime
    media_type: str
    encoding: str | None
    body: bytes
    title: str
    converted: str = ""
