"""An engine over a list of pages, for tests of the search page."""

from __future__ import annotations

import difflib
import html
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import httpx

from crivello._core import QueryFilter, QueryText
from crivello.errors import QuerySyntaxError
from crivello.search.results import Explanation, FacetValue, Hit, Results, Snippet
from crivello.store import CachedPage
from crivello.summary import State, Summary
from crivello.web import Server

FETCHED = datetime(2025, 11, 13, 8, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Page:
    """A page; ``body`` is its stored copy, of which there is none where it is empty."""

    url: str
    title: str
    text: str
    language: str = ""
    kind: str = ""
    date: date | None = None
    body: bytes = b""
    media_type: str = "text/html"
    encoding: str | None = "UTF-8"
    converted: str = ""
    extent: str = ""

    @property
    def site(self) -> str:
        return urlsplit(self.url).hostname or ""


@dataclass
class MemoryEngine:
    """Finds the pages that pass the filters of the query, with all its words and phrases, and none after a ``-``.

    AND and OR are passed over. Pages of the same text fold under the first. With ``a_site`` set, so many pages
    of a site are shown and the others held back; with ``countable`` set, matches are counted up to there.
    """

    pages: Sequence[Page]
    name: str = "almanac"
    state: State = "ready"
    failure: Exception | None = None
    a_site: int | None = None
    countable: int | None = None
    partial: bool = False
    asked: list[str] = field(default_factory=list)

    def search(
        self, query: str, *, top: int = 10, offset: int = 0, facets: bool = False, correct: bool = True
    ) -> Results:
        started = time.perf_counter_ns()
        self.asked.append(query)
        if self.failure:
            raise self.failure
        text = QueryText(query)
        filters = [one for one in text.filters if one.removable]
        wanted, excluded = _parsed(text.without(filters) if filters else query)
        found = [
            page
            for page in self.pages
            if all(_pattern([one]).search(page.text) for one in wanted)
            and not (excluded and _pattern(excluded).search(page.text))
            and all(_passes(page, one) for one in filters)
        ]
        suggestion = None if found else self._suggestion(wanted)
        if suggestion and filters:
            suggestion += "".join(f" {query[one.start : one.end]}" for one in filters)
        if suggestion and correct:
            meant = self.search(suggestion, top=top, offset=offset, facets=facets)
            if meant.matches:
                return replace(meant, query=query, corrected=suggestion)
        copies = Counter(page.text for page in found)
        first: dict[str, Page] = {}
        for page in found:
            first.setdefault(page.text, page)
        shown, held_back = self._spread(list(first.values()))
        hits = tuple(
            Hit(
                offset + place,
                1 / (offset + place),
                page.url,
                page.title,
                _snippet(page.text, wanted),
                page.url,
                page.site,
                page.language,
                page.kind,
                page.date,
                copies[page.text] - 1,
                held_back[page.site],
            )
            for place, page in enumerate(shown[offset : offset + top], start=1)
        )
        matches = len(found) if self.countable is None else min(len(found), self.countable)
        return Results(
            query,
            matches,
            (time.perf_counter_ns() - started) // 1000,
            hits,
            exact=matches == len(found),
            partial=self.partial,
            suggestion=suggestion,
            facets=_facets(query, found) if facets else None,
        )

    def complete(self, text: str, *, top: int = 8) -> list[str]:
        titles = dict.fromkeys(page.title.lower() for page in self.pages)
        return [title for title in titles if title.startswith(text.lower())][:top]

    def explain(self, query: str, url: str) -> Explanation | None:
        """A word counts once for each time that the text has it."""
        wanted, _ = _parsed(query)
        for page in self.pages:
            if page.url == url and all(_pattern([one]).search(page.text) for one in wanted):
                length = len(page.text.split())
                counts = {one: len(_pattern([one]).findall(page.text)) for one in wanted}
                details = {
                    one: f"x ({count} in body of {length} words: {count}); idf 1 for 3 documents"
                    for one, count in counts.items()
                }
                parts = tuple(Explanation(one, counts[one], details[one]) for one in wanted)
                return Explanation("score", sum(counts.values()), "", parts)
        return None

    def near_copies(self, query: str, url: str) -> list[Hit]:
        texts = {page.text for page in self.pages if page.url == url}
        wanted, _ = _parsed(query)
        others = [page for page in self.pages if page.text in texts and page.url != url]
        return [
            Hit(place, 1 / place, page.url, page.title, _snippet(page.text, wanted))
            for place, page in enumerate(others, start=1)
        ]

    def site_names(self, urls: Sequence[str]) -> list[str]:
        titles = {page.url: page.title for page in self.pages}
        return [titles.get(f"https://{urlsplit(url).netloc}/", "") for url in urls]

    def icon_urls(self, host: str) -> list[str]:
        return [f"{scheme}://{host}/favicon.ico" for scheme in ("https", "http")]

    def extents(self, urls: Sequence[str]) -> list[str]:
        extents = {page.url: page.extent for page in self.pages}
        return [extents[url] for url in urls]

    def cached(self, url: str) -> CachedPage | None:
        for page in self.pages:
            if page.url == url and page.body:
                return CachedPage(
                    url, FETCHED, page.media_type, page.encoding, page.body, page.title, page.converted
                )
        return None

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        kept = {page.url for page in self.pages if page.body}
        return [url in kept for url in urls]

    def summary(self) -> Summary:
        hosts = {page.site for page in self.pages if page.site}
        terms = {word for page in self.pages for word in page.text.lower().split()}
        updated = datetime(2025, 11, 14, 9, 30, tzinfo=UTC) if self.pages else None
        return Summary(len(self.pages), len(hosts), len(terms), updated, self.state)

    def _spread(self, pages: list[Page]) -> tuple[list[Page], Counter[str]]:
        """At most ``a_site`` pages of each site, and how many of each are held back."""
        taken: Counter[str] = Counter()
        held_back: Counter[str] = Counter()
        shown = []
        for page in pages:
            if self.a_site is not None and taken[page.site] == self.a_site:
                held_back[page.site] += 1
            else:
                taken[page.site] += 1
                shown.append(page)
        return shown, held_back

    def _suggestion(self, wanted: list[str]) -> str | None:
        """The words with those that no page has replaced by the nearest that one has."""
        known = sorted({word.lower() for page in self.pages for word in re.findall(r"\w+", page.text)})
        words = [word for one in wanted for word in one.lower().split()]
        nearest = [
            ([word] if word in known else difflib.get_close_matches(word, known, 1, 0.7)) for word in words
        ]
        other = [word for words in nearest for word in words]
        return " ".join(other) if other != words and len(other) == len(words) else None


@contextmanager
def asking(engine: MemoryEngine) -> Iterator[httpx.Client]:
    """A client of the engine's search page."""
    with Server(engine) as server, httpx.Client(base_url=server.url) as client:
        yield client


def text_of(page: str) -> str:
    """What is left of HTML without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def html_of(page: Page) -> bytes:
    """A copy as a server might have sent it."""
    return f"<!doctype html><title>{page.title}</title><p>{html.escape(page.text)}</p>".encode()


def _facets(query: str, found: list[Page]) -> dict[str, tuple[FacetValue, ...]]:
    text = QueryText(query)

    def counted(values: Iterator[str], clause: str) -> tuple[FacetValue, ...]:
        return tuple(
            FacetValue(value, count, text.narrowed(clause + value))
            for value, count in Counter(filter(None, values)).most_common()
        )

    years = Counter(page.date.year for page in found if page.date)
    return {
        "site": counted((page.site for page in found), "site:"),
        "language": counted((page.language for page in found), "lang:"),
        "type": counted((page.kind for page in found), "type:"),
        "year": tuple(
            FacetValue(str(year), count, text.narrowed(f"after:{year}-01-01 before:{year + 1}-01-01"))
            for year, count in years.most_common()
        ),
    }


def _passes(page: Page, one: QueryFilter) -> bool:
    match one.name:
        case "site":
            passes = page.site == one.value or page.site.endswith(f".{one.value}")
        case "lang":
            passes = page.language == one.value
        case "type":
            passes = page.kind == one.value
        case "before":
            passes = page.date is not None and page.date < date.fromisoformat(one.value)
        case _:
            passes = page.date is not None and page.date >= date.fromisoformat(one.value)
    return passes != one.negated


def _parsed(query: str) -> tuple[list[str], list[str]]:
    if query.count('"') % 2:
        raise QuerySyntaxError("the quotes are not closed", query.rindex('"'))
    if query.count("(") != query.count(")"):
        raise QuerySyntaxError("a parenthesis is not closed", query.find("("))
    wanted: list[str] = []
    excluded: list[str] = []
    for sign, phrase, word in re.findall(r'(-?)(?:"([^"]*)"|([^\s"]+))', query):
        if word not in ("AND", "OR", "*"):
            (excluded if sign else wanted).append(phrase or word.strip("()"))
    return wanted, excluded


def _pattern(expressions: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(map(re.escape, expressions))})\b", re.IGNORECASE)


def _snippet(text: str, wanted: list[str]) -> Snippet:
    def fragments() -> Iterator[tuple[str, bool]]:
        for place, piece in enumerate(_pattern(wanted).split(text) if wanted else [text]):
            if piece:
                yield piece, place % 2 == 1

    return Snippet(tuple(fragments()))
