"""What a search gives back: results that print well, and turn into JSON."""

from __future__ import annotations

import datetime
import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of a page as fragments of plain text, each marked as a match or not."""

    fragments: tuple[tuple[str, bool], ...]

    def __str__(self) -> str:
        return "".join(text for text, _ in self.fragments)

    def marked(self, before: str, after: str) -> str:
        """The passage with the matches between two strings."""
        return "".join(f"{before}{text}{after}" if match else text for text, match in self.fragments)

    def html(self) -> str:
        """The passage as HTML: escaped, with the matches in ``<mark>``."""
        pieces = ((html.escape(text), match) for text, match in self.fragments)
        return "".join(f"<mark>{text}</mark>" if match else text for text, match in pieces)


@dataclass(frozen=True, slots=True)
class Hit:
    """One page among the results.

    ``id`` is what its owner calls it. ``kind`` is html, text, pdf, feed, office or other. ``similar`` counts
    the near-duplicates that are folded under it, and ``more_from_site`` the further pages of its site that
    would have come before later hits. What is not known is empty.
    """

    rank: int
    score: float
    url: str
    title: str
    snippet: Snippet
    id: str = ""
    site: str = ""
    language: str = ""
    kind: str = ""
    date: datetime.date | None = None
    similar: int = 0
    more_from_site: int = 0

    def __str__(self) -> str:
        return (
            f"{self.rank:>3}. {self.title or self.url}\n     {self.url}\n     {self.snippet.marked('*', '*')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON has it; the snippet is HTML."""
        return {
            "rank": self.rank,
            "score": self.score,
            "url": self.url,
            "title": self.title,
            "snippet": self.snippet.html(),
            "id": self.id,
            "site": self.site,
            "language": self.language,
            "kind": self.kind,
            "date": self.date.isoformat() if self.date else None,
            "similar": self.similar,
            "more_from_site": self.more_from_site,
        }


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value that matches have in common, how many have it, and the query that leaves only those."""

    value: str
    count: int
    query: str

    def to_dict(self) -> dict[str, Any]:
        """The value as JSON has it."""
        return {"value": self.value, "count": self.count, "query": self.query}


@dataclass(frozen=True, slots=True)
class Results:
    """The best pages for a query; ``matches`` counts all the pages that match.

    When not ``exact``, there are at least so many. When ``partial``, the time limit ended the search early.
    ``suggestion`` is a query that may have been meant. ``facets``, where asked for, are the values of "site",
    "language", "type" and "year" among the matches, the most frequent first.
    """

    query: str
    matches: int
    microseconds: int
    hits: tuple[Hit, ...]
    exact: bool = True
    partial: bool = False
    suggestion: str | None = None
    facets: dict[str, tuple[FacetValue, ...]] | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __str__(self) -> str:
        pages = "1 page" if self.matches == 1 else f"{self.matches:,} pages"
        bound = "" if self.exact else "more than "
        head = f"{bound}{pages} for {self.query!r} in {self.microseconds / 1000:.1f} ms"
        return "\n".join([head, *map(str, self.hits)])

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello search --json`` and of the HTTP API; facets only where asked for."""
        answer: dict[str, Any] = {
            "query": self.query,
            "matches": self.matches,
            "exact": self.exact,
            "partial": self.partial,
            "microseconds": self.microseconds,
            "suggestion": self.suggestion,
            "hits": [hit.to_dict() for hit in self.hits],
        }
        if self.facets is not None:
            answer["facets"] = {
                name: [value.to_dict() for value in values] for name, values in self.facets.items()
            }
        return answer


def results(
    query: str, answer: tuple[int, int, list[tuple[float, str, str, list[tuple[str, bool]]]]], offset: int = 0
) -> Results:
    """What the core's ``Searcher`` answered, as results; the first hit is the one after ``offset``."""
    matches, microseconds, hits = answer
    ranked = (
        Hit(rank, score, url, title, Snippet(tuple(fragments)))
        for rank, (score, url, title, fragments) in enumerate(hits, start=offset + 1)
    )
    return Results(query, matches, microseconds, tuple(ranked))
