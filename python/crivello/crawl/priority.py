"""Which links come first: a priority for each link of a page, from 0 (served first) to 7.

Hosts are visited when it is polite to; among those that may be visited, and among the URLs of a host, the
better priority goes first, and of equals the one that was found first. Without a priority a crawl goes
breadth first. One of your own is a class with a method ``rate``, named by ``--priority module:Class``::

    class Recent(Priority):
        def rate(self, page, links, anchors):
            return [0 if "2026" in link else FIRST_COME for link in links]

It is asked once for all the links of a page, in the thread that stores pages: it should be quick.
"""

from __future__ import annotations

import importlib
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

from crivello.errors import InvalidArgument

FIRST_COME = 4
LAST = 7


class Page(TypedDict):
    """The page on which links stand."""

    url: str
    depth: int
    title: str
    text: str
    language: str | None


class Priority(ABC):
    """Rates links; made with the words of the setting ``keywords``."""

    def __init__(self, keywords: Sequence[str] = ()) -> None:
        self.keywords: list[str] = [word.lower() for word in keywords]

    @abstractmethod
    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        """A priority for each link, 0 being served first; ``anchors`` is what each is called on the page."""


class ShortUrls(Priority):
    """Short URLs first: they are nearer to the top of a site."""

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        return [
            min(LAST, (len(link) - len("https://a.example/")) // 16) if len(link) > 18 else 0
            for link in links
        ]


class OtherSites(Priority):
    """Links to other hosts first: a crawl that spreads."""

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        host = urlsplit(page["url"]).netloc
        return [FIRST_COME if urlsplit(link).netloc == host else 0 for link in links]


class Keywords(Priority):
    """Links whose URL or text has one of the keywords first."""

    def __init__(self, keywords: Sequence[str] = ()) -> None:
        super().__init__(keywords)
        if not self.keywords:
            raise InvalidArgument(
                "this priority needs keywords", hint="name them with --keywords 'one two three'"
            )

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        said = (f"{link} {anchor}".lower() for link, anchor in zip(links, anchors, strict=True))
        return [0 if any(word in text for word in self.keywords) else FIRST_COME for text in said]


class Focused(Keywords):
    """Links on pages about the keywords first: what such a page links to is likely about them, too.

    A page is the more about the keywords the more of its words they are; one word in fifty is as good as it
    gets.
    """

    _WORDS = re.compile(r"\w+")
    _ENOUGH = 1 / 50

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        words = [word.lower() for word in self._WORDS.findall(page["title"] + " " + page["text"])]
        hits = sum(word in self.keywords for word in words)
        share = hits / max(1, len(words))
        level = round(LAST * (1 - min(1.0, share / self._ENOUGH)))
        own = super().rate(page, links, anchors)
        return [max(0, level - 2) if rated == 0 else level for rated in own]


PRIORITIES: dict[str, type[Priority] | None] = {
    "breadth": None,
    "short": ShortUrls,
    "other-sites": OtherSites,
    "keywords": Keywords,
    "focused": Focused,
}

Rate = Callable[[Any, list[str], list[str]], list[int]]


def load_priority(name: str, keywords: Sequence[str]) -> Rate | None:
    """What rates links by the setting ``priority``; None where they come in the order in which they are found."""
    if name in PRIORITIES:
        known = PRIORITIES[name]
        return _checked(name, known(keywords)) if known else None
    module, separator, attribute = name.partition(":")
    if not separator:
        raise InvalidArgument(
            f"there is no priority {name}", hint=f"there are {', '.join(PRIORITIES)}, or module:Class"
        )
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` would
    try:
        made = getattr(importlib.import_module(module), attribute)(keywords)
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidArgument(f"the priority {name} cannot be loaded: {said}") from None
    return _checked(name, made)


def _checked(name: str, priority: Priority) -> Rate:
    def rate(page: Any, links: list[str], anchors: list[str]) -> list[int]:
        try:
            return [min(LAST, max(0, int(level))) for level in priority.rate(page, links, anchors)]
        except Exception as error:
            raise InvalidArgument(
                f"the priority {name} failed on {page['url']}: {type(error).__name__}: {error}"
            ) from None

    return rate
