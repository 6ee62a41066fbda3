"""What a search gives back: results that print well, and turn into JSON."""

from __future__ import annotations

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
    """One page among the results; ``id`` is what its document was called where that came with a name."""

    rank: int
    score: float
    url: str
    title: str
    snippet: Snippet
    id: str = ""

    def __str__(self) -> str:
        return (
            f"{self.rank:>3}. {self.title or self.url}\n     {self.url}\n     {self.snippet.marked('*', '*')}"
        )


@dataclass(frozen=True, slots=True)
class Results:
    """The best pages for a query; ``matches`` counts all the pages that match."""

    query: str
    matches: int
    microseconds: int
    hits: tuple[Hit, ...]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __str__(self) -> str:
        pages = "1 page" if self.matches == 1 else f"{self.matches:,} pages"
        head = f"{pages} for {self.query!r} in {self.microseconds / 1000:.1f} ms"
        return "\n".join([head, *map(str, self.hits)])

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello search --json`` and of the HTTP API."""
        hits = [
            {
                "rank": hit.rank,
                "score": hit.score,
                "url": hit.url,
                "title": hit.title,
                "snippet": hit.snippet.html(),
            }
            for hit in self.hits
        ]
        return {"query": self.query, "matches": self.matches, "microseconds": self.microseconds, "hits": hits}


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
