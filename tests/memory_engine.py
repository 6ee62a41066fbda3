"""An engine over a list of pages, for tests of the search page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crivello.errors import QuerySyntaxError
from crivello.search.results import Hit, Results, Snippet
from crivello.summary import State, Summary


@dataclass(frozen=True)
class Page:
    url: str
    title: str
    text: str


@dataclass
class MemoryEngine:
    """Finds the pages with every word and phrase of the query, and none that a ``-`` excludes."""

    pages: Sequence[Page]
    name: str = "almanac"
    state: State = "ready"
    failure: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, *, top: int = 10, offset: int = 0) -> Results:
        started = time.perf_counter_ns()
        self.asked.append(query)
        if self.failure:
            raise self.failure
        wanted, excluded = _parsed(query)
        found = [
            page
            for page in self.pages
            if all(_pattern([one]).search(page.text) for one in wanted)
            and not (excluded and _pattern(excluded).search(page.text))
        ]
        hits = tuple(
            Hit(offset + place, 1 / (offset + place), page.url, page.title, _snippet(page.text, wanted))
            for place, page in enumerate(found[offset : offset + top], start=1)
        )
        return Results(query, len(found), (time.perf_counter_ns() - started) // 1000, hits)

    def summary(self) -> Summary:
        hosts = {page.url.split("/")[2] for page in self.pages if page.url.count("/") > 1}
        terms = {word for page in self.pages for word in page.text.lower().split()}
        updated = datetime(2025, 11, 14, 9, 30, tzinfo=UTC) if self.pages else None
        return Summary(len(self.pages), len(hosts), len(terms), updated, self.state)


def _parsed(query: str) -> tuple[list[str], list[str]]:
    if query.count('"') % 2:
        raise QuerySyntaxError("the quotes are not closed", query.rindex('"'))
    if query.count("(") != query.count(")"):
        raise QuerySyntaxError("a parenthesis is not closed", query.find("("))
    wanted: list[str] = []
    excluded: list[str] = []
    for sign, phrase, word in re.findall(r'(-?)(?:"([^"]*)"|([^\s"]+))', query):
        (excluded if sign else wanted).append(phrase or word)
    return wanted, excluded


def _pattern(expressions: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(map(re.escape, expressions))})\b", re.IGNORECASE)


def _snippet(text: str, wanted: list[str]) -> Snippet:
    def fragments() -> Iterator[tuple[str, bool]]:
        for place, piece in enumerate(_pattern(wanted).split(text)):
            if piece:
                yield piece, place % 2 == 1

    return Snippet(tuple(fragments()))
