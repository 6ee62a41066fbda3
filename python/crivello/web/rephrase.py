"""Simpler forms of a query, for when it does not parse or finds nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crivello.search.filters import filters_of, without
from crivello.search.words import plain_words

_QUOTES = re.compile(r'["“”„]')


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query to try instead, and what it changes."""

    change: str
    query: str


def without_quotes(query: str) -> str:
    """The query with its phrases as loose words."""
    return " ".join(_QUOTES.sub(" ", query).split())


def suggestions(query: str) -> list[Suggestion]:
    """Queries that ask for less than this one, the nearest first."""
    query = " ".join(query.split())
    simpler = {
        "without the filters": " ".join(without(query, *filters_of(query)).split()),
        "without the quotes": without_quotes(query),
        "only the words": plain_words(query),
    }
    found: list[Suggestion] = []
    for change, other in simpler.items():
        if other and other != query and other not in [suggestion.query for suggestion in found]:
            found.append(Suggestion(change, other))
    return found
