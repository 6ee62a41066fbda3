"""Simpler forms of a query, for when it does not parse or finds nothing.

The query language is the parser's business: here its signs are only taken away, so that what is left is
words that always parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crivello.search.filters import NAMES, filters_of, without

_QUOTES = re.compile(r'["“”„]')
_SIGNS = re.compile(r'["“”„()\[\]{}*~^:]')
_FILTER = re.compile(rf"(?:^|(?<=[\s(]))[-+]?(?:{'|'.join(NAMES)}):[^\s)]+", re.IGNORECASE)
_FIELD = re.compile(r"(?<!\S)\(?\w+:(?=[^\s/])")
_NEGATED = re.compile(r'(?:^|(?<=[\s(]))(?:-|NOT\s+)(?:"[^"]*"?|\([^)]*\)?|[^\s)]+)')
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query to try instead, and what it changes."""

    change: str
    query: str


def without_quotes(query: str) -> str:
    """The query with its phrases as loose words."""
    return " ".join(_QUOTES.sub(" ", query).split())


def plain_words(query: str) -> str:
    """The words that the query wants: no signs, operators or filters, and nothing that it excludes."""
    wanted = _FIELD.sub(" ", _NEGATED.sub(" ", _FILTER.sub(" ", query)))
    words = (word.lstrip("-+") for word in _SIGNS.sub(" ", wanted).split())
    return " ".join(word for word in words if word and word not in _OPERATORS)


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
