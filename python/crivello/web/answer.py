"""From a user's query to one page of results."""

from __future__ import annotations

from dataclasses import dataclass

from crivello._core import QueryText
from crivello.errors import QuerySyntaxError
from crivello.search.results import Results
from crivello.web.engine import Engine

HITS_A_PAGE = 10

# Far pages cost the engine a heap as deep as the offset, and are not read.
LAST_PAGE = 100


@dataclass(frozen=True, slots=True)
class Misread:
    """The syntax error of a query, and the words that were searched instead."""

    problem: str
    position: int
    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One page of results; ``misread`` if the query did not parse."""

    results: Results
    page: int
    misread: Misread | None = None

    @property
    def last_page(self) -> int:
        counted = max(1, min(LAST_PAGE, -(-self.results.matches // HITS_A_PAGE)))
        # Collapsed and held-back matches count, but fill no page.
        ended = len(self.results) < HITS_A_PAGE
        return min(counted, self.page) if ended else counted


def answer(engine: Engine, query: str, page: int, *, correct: bool = True) -> Answer:
    """The results for the query or, if it does not parse, for its words."""
    page = min(page, LAST_PAGE)
    try:
        return Answer(_search(engine, query, page, correct), page)
    except QuerySyntaxError as error:
        misread = Misread(str(error), error.position, QueryText(query).plain_words())
    try:
        results = _search(engine, misread.words, page, correct) if misread.words else _nothing(query)
    except QuerySyntaxError:
        results = _nothing(query)
    return Answer(results, page, misread)


def _search(engine: Engine, query: str, page: int, correct: bool) -> Results:
    offset = (page - 1) * HITS_A_PAGE
    return engine.search(query, top=HITS_A_PAGE, offset=offset, facets=True, correct=correct)


def _nothing(query: str) -> Results:
    return Results(query, matches=0, microseconds=0, hits=())
