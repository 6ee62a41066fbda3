"""Queries to start with, made of the collection's own titles, sites, languages and types."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from crivello.errors import CrivelloError
from crivello.search.results import FacetValue, Hit, Results
from crivello.summary import Summary
from crivello.web.engine import Engine, engine_of
from crivello.web.names import language_name, type_name

_EVERYTHING = "*"
_TITLES = 60
_SITES = 8
_WORD = re.compile(r"[^\W\d_]{4,}")
_PAIR = re.compile(r"\b([^\W\d_]{4,}) ([^\W\d_]{4,})\b")
_ASIDE = re.compile(r"\s[—–|·]\s.*$")
_RARE = 0.5
_SECONDS_GOOD = 60
# Words of titles that say nothing of a page.
_COMMON = frozenset(
    {"about", "compared", "contents", "documentation", "from", "guide", "have", "home", "index", "into", "page",
     "pages", "people", "questions", "table", "that", "their", "they", "this", "using", "welcome", "what", "when",
     "where", "which", "with", "wrong", "your"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """A query that has results, and what it asks for."""

    query: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Site:
    """A site with its number of pages, and the URL of one of them: a site has no port, and its icon needs one."""

    name: str
    pages: int
    url: str


@dataclass(frozen=True, slots=True)
class Start:
    """What the start page offers: queries, and the largest sites."""

    examples: list[Example]
    sites: list[Site]


_NOTHING = Start([], [])


class Examples:
    """Made again when the collection has changed, but not for every commit of a crawl; any number of threads may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[tuple[int, datetime | None], Start] | None = None
        self._good_until = 0.0

    def of(self, engine: Engine, summary: Summary) -> Start:
        """What to offer for a collection in this state."""
        state = (summary.pages, summary.updated)
        with self._lock:
            fresh = self._made is not None and time.monotonic() < self._good_until
            if self._made is None or (self._made[0] != state and not fresh):
                self._made = state, _start(engine)
                self._good_until = time.monotonic() + (_SECONDS_GOOD if self._made[1].examples else 0)
            return self._made[1]


async def start_of(request: Request, summary: Summary) -> Start:
    """What to offer for the collection that this request is about."""
    examples: Examples = request.app.state.examples
    return await run_in_threadpool(examples.of, engine_of(request), summary)


def _start(engine: Engine) -> Start:
    # The start page also has to come up when a search fails: the search itself will tell why.
    try:
        everything = engine.search(_EVERYTHING, top=_TITLES, facets=True)
        offered = _offered(everything)
        examples = [one for one in offered if engine.search(one.query, top=1, correct=False).matches]
        values = (everything.facets or {}).get("site", ())
        sites = [_site(engine, value) for value in values[:_SITES]] if len(values) > 1 else []
    except CrivelloError:
        return _NOTHING
    return Start(examples, sites)


def _site(engine: Engine, value: FacetValue) -> Site:
    found = engine.search(f"site:{value.value}", top=1, correct=False)
    url = next((hit.url for hit in found), f"https://{value.value}/")
    return Site(value.value, value.count, url)


def _offered(everything: Results) -> Iterator[Example]:
    facets = everything.facets or {}
    languages = facets.get("language", ())
    usual = [hit for hit in everything if not languages or hit.language == languages[0].value]
    words, pairs = _words(usual), _pairs(usual)
    if not words:
        return
    plain = (pairs[1:2] or words)[0]
    yield Example(plain, "pages with these words, those about them first")
    if pairs:
        yield Example(f'"{pairs[0]}"', "the words together, in this order")
    others = [word for word in words if word not in plain and not (pairs and word in pairs[0])]
    if len(others) > 1:
        yield Example(f"{others[0]} OR {others[1]}", "either of them; AND for both, NOT or - to exclude")
    if site := _choice(everything, "site"):
        of_site = _words([hit for hit in usual if hit.site == site])
        yield Example(f"{of_site[0] if of_site else words[0]} site:{site}", "from one site")
    if kind := _choice(everything, "type"):
        yield Example(f"type:{kind}", f"of one type: {type_name(kind)}")
    if language := _choice(everything, "language"):
        yield Example(f"lang:{language}", f"in one language: {language_name(language)}")
    years = sorted(value.value for value in facets.get("year", ()))
    if len(years) > 1:
        recent = _words([hit for hit in usual if hit.date and str(hit.date.year) == years[-1]])
        yield Example(
            f"{recent[0] if recent else words[0]} after:{years[-1]}",
            "of that day or newer; before: for older",
        )


def _words(hits: list[Hit]) -> list[str]:
    return _distinct(word.lower() for hit in hits for word in _WORD.findall(_subject(hit)))


def _pairs(hits: list[Hit]) -> list[str]:
    return _distinct(pair[0].lower() for hit in hits for pair in _PAIR.finditer(_subject(hit)))


def _subject(hit: Hit) -> str:
    """The title without the name of the site after it."""
    return _ASIDE.sub("", hit.title)


def _distinct(expressions: Iterator[str]) -> list[str]:
    return [one for one in dict.fromkeys(expressions) if _COMMON.isdisjoint(one.split())]


def _choice(everything: Results, name: str) -> str | None:
    """A value that narrows the collection down: the most frequent that less than half of the pages have."""
    values = (everything.facets or {}).get(name, ())
    usable = (one.value for one in values if one.count < _RARE * everything.matches and one.value != "other")
    return next(usable, None)
