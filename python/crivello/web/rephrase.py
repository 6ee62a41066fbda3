"""Simpler forms of a query, for when it does not parse or finds nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    unquoted, words = without_quotes(query), plain_words(query)
    found = []
    if unquoted and unquoted != query:
        found.append(Suggestion("without the quotes", unquoted))
    if words and words not in (query, unquoted):
        found.append(Suggestion("only the words", words))
    return found
