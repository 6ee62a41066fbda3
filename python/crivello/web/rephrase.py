"""Relaxed forms of a query, for when it does not parse or has no matches."""

from __future__ import annotations

from dataclasses import dataclass

from crivello._core import QueryText


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
