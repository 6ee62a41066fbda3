"""Relaxed forms of a query, for when it does not parse or has no matches."""

from __future__ import annotations

from dataclasses import dataclass

from crivello._core import QueryText
from crivello.errors import QuerySyntaxError
from crivello.web.engine import Engine

_WORDS_COUNTED = 6


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query to try instead, and what it changes."""

    change: str
    query: str


def suggestions(query: str) -> list[Suggestion]:
    """Less restrictive queries, the most similar first."""
    query = " ".join(query.split())
    text = QueryText(query)
    filters = [one for one in text.filters if one.removable]
    simpler = {
        "without the filters": text.without(filters) if filters else query,
        "without the quotes": text.unquoted(),
        "only the words": text.plain_words(),
    }
    found: list[Suggestion] = []
    for change, other in simpler.items():
        if other and other != query and other not in [suggestion.query for suggestion in found]:
            found.append(Suggestion(change, other))
    return found


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query, and how many pages have it; a lower bound, unless ``exact``."""

    word: str
    matches: int
    exact: bool


def words_alone(engine: Engine, query: str) -> list[Word]:
    """What each word of a query finds, so that one sees which of them is too much; nothing for a single word."""
    words = list(dict.fromkeys(QueryText(query).plain_words().split()))[:_WORDS_COUNTED]
    if len(words) < 2:
        return []
    found = []
    for word in words:
        try:
            results = engine.search(word, top=1, correct=False)
        except QuerySyntaxError:
            continue
        found.append(Word(word, results.matches, results.exact))
    return found
