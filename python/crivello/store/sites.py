"""What sites call themselves."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_LONGEST_NAME = 40
_SEPARATOR = re.compile(r"\s+[-—–|·•:]\s+|: ")
_NO_NAME = re.compile(r"(?i)(home ?page|home|index|index of .*|welcome|untitled.*|start|main page)?")


def home_of(url: str) -> str:
    """The URL of the home page of a page's site."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}/"


def site_name(title: str) -> str:
    """The name of a site by the title of its home page: the first of its parts that names something, if it is short."""
    parts = (part.strip() for part in _SEPARATOR.split(" ".join(title.split())))
    name = next((part for part in parts if not _NO_NAME.fullmatch(part)), "")
    return name if len(name) <= _LONGEST_NAME and name.isprintable() else ""
