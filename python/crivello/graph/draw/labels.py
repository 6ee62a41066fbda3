"""The names of nodes as labels: shortened in the middle, and how wide they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import takewhile
from urllib.parse import unquote, urlsplit

_NARROW = frozenset("ijlftrI.,:;|!'`()[]{}/\\-· ")
_WIDE = frozenset("mwMW@%&")
LONGEST = 30


def width(text: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text is in a sans-serif font of a size; rather too much than too little."""
    return size * sum(map(_share, text)) * (1.15 if bold else 1.0)


def _share(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.38
    if character in _WIDE:
        return 0.95
    return 0.72 if character.isupper() else 0.61


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text of at most ``longest`` characters: its middle is left out, since both ends tell more."""
    if len(text) <= longest:
        return text
    start = longest // 2
    return f"{text[:start]}…{text[len(text) - (longest - 1 - start) :]}"


def is_url(name: str) -> bool:
    """Whether a name is the URL of a page."""
    return name.startswith(("http://", "https://"))


def host_of(name: str) -> str:
    """The host of a page with its port, or the name itself."""
    return (urlsplit(name).netloc or name) if is_url(name) else name


def common_folder(names: Sequence[str]) -> str:
    """The longest beginning of all URLs that ends in a slash; empty if not all are of one host."""
    if not names or not all(map(is_url, names)) or len({host_of(name) for name in names}) > 1:
        return ""
    # All names lie between the least and the greatest, so what those two share, all share.
    first, last = min(names), max(names)
    start = "".join(
        one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    )
    return start[: start.rindex("/") + 1]


def folder_of(name: str, start: str) -> str:
    """The first folder of a page's URL after ``start``."""
    parts = name.removeprefix(start).partition("?")[0].split("/")
    return f"{parts[0]}/" if len(parts) > 1 else "./"


def label_of(name: str, start: str = "") -> str:
    """What is written beside a node: a URL without its scheme, and without ``start``."""
    if not is_url(name):
        return shortened(printable(name))
    rest = name.removeprefix(start) if start else name.partition("://")[2]
    return shortened(printable(unquote(rest.removesuffix("/") if rest.count("/") == 1 else rest) or "./"))


def printable(text: str) -> str:
    """A text without characters that XML forbids or nobody sees."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
