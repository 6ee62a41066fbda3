"""Which links are followed, and in what order: the built-in priorities, and the link policy of a crawl.

Priorities range from 0 (fetched first) to 7. Politeness decides when a host may be visited; among the hosts
that may be visited, and among the URLs of a host, the best priority is fetched first; ties are broken by
discovery order. Without a priority a crawl is breadth-first. ``crivello.extend`` documents user-defined
priorities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from crivello.errors import ExtensionError, InvalidArgument
from crivello.extend import Extension, Extensions, Page, Priority, load
from crivello.settings import Crawl

FIRST_COME = 4
LAST = 7


class ShortUrls:
    """URLs with few levels first, which are near the root of a site: the level of a URL is the number of
    segments of its path, and one more if it has a query."""

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        return [self._levels(link) for link in links]

    @staticmethod
    def _levels(link: str) -> int:
        _, _, address = link.partition("://")
        path, query, _ = address.partition("?")
        segments = [segment for segment in path.split("/")[1:] if segment]
        return len(segments) + bool(query)


class OtherSites:
    """Links to other hosts first, so that the crawl spreads."""

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        host = urlsplit(page["url"]).netloc
        return [FIRST_COME if urlsplit(link).netloc == host else 0 for link in links]


class Keywords:
    """Links whose URL or anchor text contains one of the keywords first."""

    def __init__(self, keywords: Sequence[str] = ()) -> None:
        self.keywords: list[str] = [word.lower() for word in keywords]
        if not self.keywords:
            raise InvalidArgument(
                "this priority needs keywords", hint="name them with --keywords 'one two three'"
            )

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[int]:
        said = (f"{link} {anchor}".lower() for link, anchor in zip(links, anchors, strict=True))
        return [0 if any(word in text for word in self.keywords) else FIRST_COME for text in said]


class Focused(Keywords):
    """A focused crawl: links on pages about the keywords first, as their targets are likely on topic, too.

    The relevance of a page is the share of keywords among its words, capped at one word in fifty.
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


PRIORITIES: dict[str, Callable[..., Priority] | None] = {
    "breadth": None,
    "short": ShortUrls,
    "other-sites": OtherSites,
    "keywords": Keywords,
    "focused": Focused,
}

Verdict = tuple[list[int | None], list[tuple[str, str]]]
"""The priority of each link (``None``: not followed), and the name and message of each failed extension."""

Judge = Callable[[Page, list[str], list[str]], Verdict]


def load_policy(extensions: Extensions, settings: Crawl) -> Judge | None:
    """The link policy of a crawl; ``None`` if all links are followed in discovery order."""
    priority = _priority(extensions, settings)
    follow = extensions.get("crawl.follow", settings.follow)
    if priority is None and follow is None:
        return None

    def judge(page: Page, links: list[str], anchors: list[str]) -> Verdict:
        failures: list[tuple[str, str]] = []

        def ask(
            extension: Extension, check: Callable[[Sequence[float]], list[int]], default: int
        ) -> list[int]:
            try:
                return extension.call(
                    page, links, anchors, check=lambda said: check(_one_each(said, links)), about=page["url"]
                )
            except ExtensionError as error:
                failures.append((extension.name, str(error)))
                return [default] * len(links)

        levels = ask(priority, _levels, FIRST_COME) if priority else [0] * len(links)
        followed = ask(follow, _truths, True) if follow else [True] * len(links)
        return [level if yes else None for level, yes in zip(levels, followed, strict=True)], failures

    return judge


def _priority(extensions: Extensions, settings: Crawl) -> Extension | None:
    named, keywords = extensions.named("crawl.priority", settings.priority), settings.keywords.split()
    if not isinstance(named, str) or ":" in named:
        return extensions.get("crawl.priority", settings.priority, keywords)
    if named not in PRIORITIES:
        raise InvalidArgument(
            f"there is no priority {named}", hint=f"there are {', '.join(PRIORITIES)}, or module:Class"
        )
    built_in = PRIORITIES[named]
    return None if built_in is None else load("crawl.priority", built_in, keywords)


def _one_each(said: Sequence[float], links: list[str]) -> Sequence[float]:
    if len(said) != len(links):
        raise InvalidArgument(f"it returned {len(said)} values for {len(links)} links")
    return said


def _levels(said: Sequence[float]) -> list[int]:
    return [min(LAST, max(0, int(level))) for level in said]


def _truths(said: Sequence[float]) -> list[int]:
    for value in said:
        if value not in (True, False):
            raise InvalidArgument(f"it returned {value!r}, which is neither True nor False")
    return [bool(value) for value in said]
