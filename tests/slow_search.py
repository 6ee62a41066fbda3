"""Searching by the definitions: no index, nothing lazy, every tuple of places looked at, float64.

What an operator means is in crates/core/src/search/language/tree.rs, and the formulas of the scores are in docs/search.md; this
says the same in the plainest way there is, so that the engine can be held to it. ``SlowIndex`` takes the same steps as
``crivello.index.Index``; ``SlowSearch`` answers over what it holds then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any
from urllib.parse import urlsplit

from crivello import analyze
from crivello._core import analyze as analyze_with_parts
from crivello.index import Document
from crivello.search import (
    After,
    Aligned,
    And,
    Before,
    Boost,
    Containing,
    Everything,
    Fuzzy,
    Group,
    In,
    Inside,
    Lang,
    Not,
    NotContaining,
    NotInside,
    Operator,
    Or,
    Ordered,
    Phrase,
    Prefix,
    Site,
    Term,
    Type,
    Window,
)
from crivello.search.operators.base import query as as_operator
from crivello.search.operators.filters import FIRST_DAY
from crivello.search.operators.modifiers import ZONES

Span = tuple[int, int]
Zones = tuple[str, ...]

MEDIA_TYPES = {
    "text/html": "html",
    "text/plain": "text",
    "application/pdf": "pdf",
    "application/rss+xml": "feed",
}


class Text:
    """A zone of a document: its terms with their positions, and how many positions it takes."""

    def __init__(self, text: str, language: str | None) -> None:
        self.positions: dict[str, list[int]] = {}
        for word in analyze(text, language):
            if word.term:
                self.positions.setdefault(word.term, []).append(word.position)
        # A word behind it stands at the first position that is free.
        self.words = analyze(text + " x", language)[-1].position


class Page:
    """A document with what is said in each zone."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.zones = {zone: Text(getattr(document, zone), document.language) for zone in ZONES}
        self.written = [zone for zone in ZONES if self.zones[zone].words]
        self.host = (urlsplit(document.url).hostname or "").lower()
        self.language = (document.language or "").replace("_", "-").split("-")[0].lower()
        self.kind = MEDIA_TYPES.get(_fact(document, "kind", ""), "")
        self.day: int = _fact(document, "day", 0)

    def holds(self, terms: Iterable[str], zone: str) -> list[int]:
        """Where the terms are in a zone."""
        positions = self.zones[zone].positions
        return [place for term in terms for place in positions.get(term, ())]

    def count(self, terms: Iterable[str], zone: str) -> int:
        """How often the terms are in a zone."""
        positions = self.zones[zone].positions
        return sum(len(positions.get(term, ())) for term in terms)


def _fact(document: Document, name: str, unknown: Any) -> Any:
    return getattr(document, name, unknown)


class SlowIndex:
    """All pages that were written, in order, and which of them can be found."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.live: list[bool] = []

    def add(self, documents: Iterable[Document]) -> None:
        """Of documents with one URL the last counts; those that are written already stay until a merge."""
        new = {document.url: document for document in documents}
        self.delete(new)
        self.pages.extend(map(Page, new.values()))
        self.live.extend([True] * len(new))

    def delete(self, urls: Iterable[str]) -> None:
        """Marks what is deleted."""
        gone = set(urls)
        self.live = [
            alive and page.document.url not in gone for alive, page in zip(self.live, self.pages, strict=True)
        ]

    def merge(self) -> None:
        """Drops what cannot be found."""
        self.pages = list(itertools.compress(self.pages, self.live))
        self.live = [True] * len(self.pages)


@dataclass(frozen=True)
class Leaf:
    """Terms that count as one, in some zones. Two are the same where what was said is the same."""

    said: tuple[str | int, ...]
    zones: Zones
    terms: frozenset[str] = field(compare=False)


Scored = tuple[Leaf, float]


@dataclass
class SlowSearch:
    """Evaluates operators over an index; a word without a zone is looked for in ``zones``."""

    index: SlowIndex
    language: str = "en"
    zones: Zones = ("body", "title", "anchors")
    _leaves: dict[tuple[Operator, Zones], list[tuple[int, Leaf]]] = field(default_factory=dict)
    _others: dict[Lang, SlowSearch] = field(default_factory=dict)

    @property
    def pages(self) -> list[Page]:
        return self.index.pages

    @cached_property
    def all_terms(self) -> frozenset[str]:
        """The terms of all pages, in whatever zone."""
        zones = (text for page in self.pages for text in page.zones.values())
        return frozenset(itertools.chain.from_iterable(text.positions for text in zones))

    def search(self, query: Operator, score: Callable[[list[Scored], Page], float]) -> dict[str, float]:
        """The pages that match, by URL, each with its score."""
        leaves = list(self.scoring_leaves(query))
        found = {}
        for page, alive in zip(self.pages, self.index.live, strict=True):
            if alive and self.matches(query, page):
                found[page.document.url] = score(leaves, page)
        return found

    def matches(self, query: Operator, page: Page, zones: Zones | None = None) -> bool:
        """Whether a page is what is asked for."""
        match query:
            case Not(excluded):
                return not self.matches(excluded, page, zones)
            case And(parts):
                search = self.speaking(parts)
                return all(search.matches(part, page, zones) for part in parts)
            case Or(parts):
                return any(self.matches(part, page, zones) for part in parts)
            case Group(required, optional, excluded):
                if any(self.matches(part, page, zones) for part in excluded):
                    return False
                if required:
                    return all(self.matches(part, page, zones) for part in required)
                return not optional or any(self.matches(part, page, zones) for part in optional)
            case Boost(what):
                return self.matches(what, page, zones)
            case In(zone, what):
                return self.matches(what, page, (zone,))
            case Everything():
                return True
            case Site(host):
                return page.host == host.lower() or page.host.endswith("." + host.lower())
            case Lang(language):
                return page.language == language.lower()
            case Type(kind):
                return page.kind == kind
            case Before(day):
                return 0 < page.day < (day - FIRST_DAY).days
            case After(day):
                return page.day > 0 and page.day >= (day - FIRST_DAY).days
            case _:
                return any(self.spans(query, page, zone, zones) for zone in page.written)

    def speaking(self, parts: Sequence[Operator]) -> SlowSearch:
        """The search by the language that one of these parts requires of the pages."""
        for part in parts:
            if isinstance(part, Lang):
                return self._others.setdefault(part, replace(self, language=part.language, _leaves={}))
        return self

    def spans(self, query: Operator, page: Page, zone: str, zones: Zones | None = None) -> set[Span]:
        """The minimal intervals of positions in one zone of a page."""

        def of(part: Operator) -> set[Span]:
            return self.spans(part, page, zone, zones)

        match query:
            case In(inner, what):
                return self.spans(what, page, zone, (inner,))
            case Term() | Phrase() | Prefix() | Fuzzy():
                return self._phrase(self.words(query, zones), page, zone)
            case Window(size, parts):
                places = (
                    map(of, map(as_operator, parts))
                    if query.words is None
                    else self._places(query, page, zone, zones)
                )
                return {
                    span for span in minimal(map(hull, itertools.product(*places))) if length(span) <= size
                }
            case Or(parts):
                return minimal(itertools.chain.from_iterable(map(of, parts)))
            case And(parts):
                return minimal(map(hull, itertools.product(*map(of, parts))))
            case Ordered(parts):
                return minimal(map(hull, filter(in_order, itertools.product(*map(of, parts)))))
            case Containing(left, right, margins):
                enlarged = enlarge(of(right), margins)
                return {span for span in of(left) if any(contains(span, other) for other in enlarged)}
            case NotContaining(left, right, margins):
                enlarged = enlarge(of(right), margins)
                return {span for span in of(left) if not any(contains(span, other) for other in enlarged)}
            case Inside(left, right, margins):
                enlarged = enlarge(of(right), margins)
                return {span for span in of(left) if any(contains(other, span) for other in enlarged)}
            case NotInside(left, right, margins):
                enlarged = enlarge(of(right), margins)
                return {span for span in of(left) if not any(contains(other, span) for other in enlarged)}
            case Aligned(left, right):
                return of(left) & of(right)
            case _:
                raise TypeError(f"{query} has no intervals")

    def scoring_leaves(
        self, query: Operator, boost: float = 1.0, zones: Zones | None = None
    ) -> Iterator[Scored]:
        """The leaves that score, each as often as it is said, with its boost."""
        match query:
            case Boost(what, factor):
                yield from self.scoring_leaves(what, boost * factor, zones)
            case In(zone, what):
                yield from self.scoring_leaves(what, boost, (zone,))
            case Window(_, parts) if query.words is None:
                yield from self.scoring_leaves(And(*parts), boost, zones)
            case Term() | Phrase() | Window() | Prefix() | Fuzzy():
                yield from ((leaf, boost) for _, leaf in self.words(query, zones))
            case And(parts):
                search = self.speaking(parts)
                for part in parts:
                    yield from search.scoring_leaves(part, boost, zones)
            case Or(parts) | Ordered(parts):
                for part in parts:
                    yield from self.scoring_leaves(part, boost, zones)
            case Group(required, optional):
                for part in required + optional:
                    yield from self.scoring_leaves(part, boost, zones)
            case NotContaining(left) | NotInside(left):
                yield from self.scoring_leaves(left, boost, zones)
            case Containing(left, right) | Inside(left, right) | Aligned(left, right):
                yield from self.scoring_leaves(left, boost, zones)
                yield from self.scoring_leaves(right, boost, zones)

    def words(self, query: Operator, zones: Zones | None) -> list[tuple[int, Leaf]]:
        """The leaves of a word or of several, each with its distance from the first."""
        where = self.zones if zones is None else zones
        known = self._leaves.get((query, where))
        if known is None:
            known = self._leaves[query, where] = [
                (distance, Leaf(said, where, terms)) for distance, said, terms in self._analysed(query)
            ]
        return known

    def _analysed(self, query: Operator) -> list[tuple[int, tuple[str | int, ...], frozenset[str]]]:
        match query:
            case Term(text):
                terms = analysed(text, self.language)
            case Phrase(words):
                terms = analysed(" ".join(words), self.language)
            case Window(words=str(text)):
                terms = analysed(text, self.language)
            case Prefix(text):
                [(_, start)] = analysed(text, UNSTEMMED)
                [(_, whole)] = analysed(text, self.language)
                begun = {term for term in self.all_terms if term.startswith(start)}
                return [(0, ("prefix", start, whole), frozenset(begun | {whole}))]
            case Fuzzy(text, changes):
                [(_, whole)] = analysed(text, self.language)
                near = frozenset(term for term in self.all_terms if distance(term, whole) <= changes)
                return [(0, ("fuzzy", whole, changes), near)]
            case _:
                raise TypeError(f"{query} has no words of its own")
        return [(before, ("term", term), frozenset([term])) for before, term in terms]

    def _places(self, window: Window, page: Page, zone: str, zones: Zones | None) -> list[set[Span]]:
        return [self._phrase([(0, leaf)], page, zone) for _, leaf in self.words(window, zones)]

    def _phrase(self, words: list[tuple[int, Leaf]], page: Page, zone: str) -> set[Span]:
        places = [
            {place - before for place in page.holds(leaf.terms, zone)} if zone in leaf.zones else set()
            for before, leaf in words
        ]
        last = words[-1][0]
        return {(start, start + last) for start in set.intersection(*places)}


UNSTEMMED = "xx"
"""A language that has no stemmer: its words are folded, and that is all."""


def analysed(text: str, language: str) -> list[tuple[int, str]]:
    """The terms of a text of a query, an identifier as its whole alone, each with its distance from the first."""
    found: list[tuple[int, str]] = []
    parts = 0
    for term, position, _, _, its_parts, _ in analyze_with_parts(text.replace('"', " "), language):
        if parts:
            parts -= 1
        elif term:
            parts = its_parts
            found.append((position, term))
    return [(position - found[0][0], term) for position, term in found]


@cache
def distance(left: str, right: str) -> int:
    """Characters to insert, to delete, to replace, and neighbours to swap, none of them twice."""
    rows = [list(range(len(right) + 1))]
    for i in range(1, len(left) + 1):
        row = [i]
        for j in range(1, len(right) + 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (left[i - 1] != right[j - 1]))
            if i > 1 and j > 1 and left[i - 2 : i] == right[j - 2 : j][::-1]:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def minimal(spans: Iterable[Span]) -> set[Span]:
    """Those that contain no other."""
    every = set(spans)
    return {span for span in every if not any(other != span and contains(span, other) for other in every)}


def contains(outer: Span, inner: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(spans: tuple[Span, ...]) -> Span:
    """The shortest that contains all of them."""
    return min(left for left, _ in spans), max(right for _, right in spans)


def in_order(spans: tuple[Span, ...]) -> bool:
    return all(before[1] < after[0] for before, after in itertools.pairwise(spans))


def enlarge(spans: set[Span], margins: tuple[int, int]) -> set[Span]:
    return {(left - margins[0], right + margins[1]) for left, right in spans}


def length(span: Span) -> int:
    return span[1] - span[0] + 1
