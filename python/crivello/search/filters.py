"""The filters in a query's text: found, taken out, and added.

A filter is a word such as ``site:a.example`` that says which pages count, whatever they hold. What a query
means is the parser's business. Here its text is only cut into words, phrases and groups, so that a person can
be shown the filters and take them off one at a time, or put one more on. Linear in the length of the query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NAMES = ("site", "lang", "type", "before", "after")

_PIECES = re.compile(
    r'(?P<sign>[-+]?)(?:(?P<phrase>"[^"]*"?)|(?P<open>\()|(?P<word>[^\s()"]+))|(?P<close>\))'
)
_FILTER = re.compile(rf"({'|'.join(NAMES)}):(\S+)", re.IGNORECASE)
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as it stands in a query, from ``start`` to ``end``."""

    name: str
    value: str
    negated: bool
    start: int
    end: int


def filters_of(query: str) -> list[Filter]:
    """The filters that can be taken out and leave a query: those outside groups, beside no operator."""
    pieces = _outer_pieces(query)
    found = []
    for place, piece in enumerate(pieces):
        match = _FILTER.fullmatch(piece["word"] or "")
        beside = {other["word"] for other in pieces[max(0, place - 1) : place + 2]}
        if match and not beside & _OPERATORS:
            negated = piece["sign"] == "-"
            found.append(Filter(match[1].lower(), match[2], negated, *piece.span()))
    return found


def without(query: str, *filters: Filter) -> str:
    """The query without these filters of its own."""
    for one in sorted(filters, key=lambda one: one.start, reverse=True):
        query = f"{query[: one.start].rstrip()} {query[one.end :].lstrip()}".strip()
    return query


def narrowed(query: str, clause: str) -> str:
    """The query with one more filter, or several, that hold for all of it."""
    alternatives = any(piece["word"] == "OR" for piece in _outer_pieces(query))
    return f"({query}) {clause}" if alternatives else f"{query} {clause}"


def _outer_pieces(query: str) -> list[re.Match[str]]:
    """The words and phrases that stand in no parentheses, and the parentheses of the outermost groups."""
    depth, pieces = 0, []
    for piece in _PIECES.finditer(query):
        depth -= 1 if piece["close"] else 0
        if depth <= 0:
            pieces.append(piece)
        depth = max(depth, 0) + (1 if piece["open"] else 0)
    return pieces
