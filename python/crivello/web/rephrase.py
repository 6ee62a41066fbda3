"""Simpler forms of a query, for when it does not parse or finds nothing.

The query language is the parser's business: here its signs are only taken away, so that what is left is
words that always parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTES = re.compile(r'["“”„]')
_SIGNS = re.compile(r'["“”„()\[\]{}*~^:]')
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
    """The words that the query wants: no signs, no operators, and none of the words that it excludes."""
    wanted = _FIELD.sub(" ", _NEGATED.sub(" ", query))
    words = (word.lstrip("-+") for word in _SIGNS.sub(" ", wanted).split())
    return " ".join(word for word in words if word and word not in _OPERATORS)


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
