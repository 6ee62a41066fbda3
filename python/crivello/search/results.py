"""Search results: printable, and convertible to JSON."""

from __future__ import annotations

import datetime
import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, overload

from crivello._tables import Tabular


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of a page as fragments of plain text, each marked as a match or not."""

    fragments: tuple[tuple[str, bool], ...]

    def __str__(self) -> str:
        return "".join(text for text, _ in self.fragments)

    def marked(self, before: str, after: str) -> str:
        """The passage with each match enclosed in two strings."""
        return "".join(f"{before}{text}{after}" if match else text for text, match in self.fragments)

    def html(self) -> str:
        """The passage as HTML: escaped, with the matches in ``<mark>``."""
        pieces = ((html.escape(text), match) for text, match in self.fragments)
        return "".join(f"<mark>{text}</mark>" if match else text for text, match in pieces)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A part of a score: its label, its value, how it was computed, and the parts it is the sum of."""

    label: str
    value: float
    detail: str
    parts: tuple[Explanation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        yield f"{'  ' * depth}{self.value:10.4f}  {self.label}{f'  ({self.detail})' if self.detail else ''}"
        for part in self.parts:
            yield from part._lines(depth + 1)

    def to_dict(self) -> dict[str, Any]:
        """The explanation in its JSON form."""
        parts = [part.to_dict() for part in self.parts]
        return {"label": self.label, "value": self.value, "detail": self.detail, "parts": parts}


@dataclass(frozen=True, slots=True)
class Hit:
    """One page among the results.

    ``id`` is the identifier given by its owner. ``kind`` is html, text, pdf, feed, office or other.
    ``similar`` counts the near-duplicates collapsed under it, and ``more_from_site`` the further pages of its
    site that would have ranked before later hits. ``explanation`` explains its score, if requested. Unknown
    values are empty.
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
    explanation: Explanation | None = None

    def __str__(self) -> str:
        return "\n".join(self.lines("*", "*"))

    def __repr__(self) -> str:
        return f"<Hit {self.rank}: {self.title or self.url!r} {self.score:.3f} {self.url}>"

    @property
    def notes(self) -> list[str]:
        """Its metadata, and the hits collapsed or held back behind it, each in a few words."""
        kind = "" if self.kind in ("html", "other") else self.kind
        known = [kind, self.language, self.date.isoformat() if self.date else ""]
        behind = [
            f"+{self.similar:,} similar" if self.similar else "",
            f"{self.more_from_site:,} more from this site" if self.more_from_site else "",
        ]
        return [note for note in known + behind if note]

    def lines(self, before: str, after: str) -> Iterator[str]:
        """The hit as lines for people, with each match enclosed in two strings."""
        yield f"{self.rank:>3}. {self.title or self.url}"
        for line in (self.url, " · ".join(self.notes), self.snippet.marked(before, after)):
            if line:
                yield f"     {line}"

    def to_dict(self) -> dict[str, Any]:
        """The hit in its JSON form; the snippet is HTML."""
        explained = {"explanation": self.explanation.to_dict()} if self.explanation else {}
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
            **explained,
        }


def _html_of(hit: Hit) -> str:
    """A hit as on the search page. Only web addresses become links: a URL of a document may be anything."""
    url, title = html.escape(hit.url), html.escape(hit.title or hit.url)
    is_web = hit.url.startswith(("http://", "https://"))
    linked = (
        f'<a href="{url}" rel="noreferrer" style="font-size:1.15em">{title}</a>'
        if is_web
        else f"<b>{title}</b>"
    )
    notes = html.escape(" · ".join([*hit.notes, f"{hit.score:.3f}"]))
    return (
        f'<div style="margin:0 0 1em"><small style="color:GrayText">{hit.rank}. {url}</small><br>{linked}<br>'
        f'{hit.snippet.html()}<br><small style="color:GrayText">{notes}</small></div>'
    )


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet, its number of matches, and the query that selects only those."""

    value: str
    count: int
    query: str

    def to_dict(self) -> dict[str, Any]:
        """The value in its JSON form."""
        return {"value": self.value, "count": self.count, "query": self.query}


_COLUMNS = {
    "rank": "INTEGER",
    "score": "DOUBLE",
    "url": "VARCHAR",
    "title": "VARCHAR",
    "snippet": "VARCHAR",
    "id": "VARCHAR",
    "site": "VARCHAR",
    "language": "VARCHAR",
    "kind": "VARCHAR",
    "date": "DATE",
    "similar": "BIGINT",
    "more_from_site": "BIGINT",
}


@dataclass(frozen=True, slots=True)
class Results(Tabular):
    """The best pages for a query; ``matches`` counts all the pages that match.

    If not ``exact``, that is a lower bound. If ``partial``, the time limit ended the search early.
    ``suggestion`` is a spelling correction to offer. If nothing matches ``query`` but something matches its
    correction, the results are those of ``corrected``. ``rewritten`` is the query returned by a rewriter.
    ``facets``, if requested, are the values of "site", "language", "type" and "year" among the matches, the
    most frequent first. ``missing_shards`` are the shards of the index that did not answer in time.
    """

    query: str
    matches: int
    microseconds: int
    hits: tuple[Hit, ...]
    exact: bool = True
    partial: bool = False
    suggestion: str | None = None
    corrected: str | None = None
    facets: dict[str, tuple[FacetValue, ...]] | None = None
    rewritten: str | None = None
    missing_shards: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    @property
    def searched(self) -> str:
        """The query whose results these are."""
        return self.corrected or self.query

    @property
    def counted(self) -> str:
        """The number of matching pages, as a phrase."""
        pages = "1 page" if self.matches == 1 else f"{self.matches:,} pages"
        return pages if self.exact else f"more than {pages}"

    def __str__(self) -> str:
        head = f"{self.counted} for {self.searched!r} in {self.microseconds / 1000:.1f} ms"
        instead = f"nothing for {self.query!r}; showing " if self.corrected else ""
        meant = [f"did you mean: {self.suggestion}"] if self.suggestion else []
        return "\n".join([instead + head, *meant, *map(str, self.hits)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The results as a notebook shows them."""
        head = f'<p style="color:GrayText">{html.escape(str(self).splitlines()[0])}</p>'
        return f'<div style="max-width:42em">{head}{"".join(map(_html_of, self.hits))}</div>'

    def _columns(self) -> Mapping[str, str]:
        return _COLUMNS

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for hit in self.hits:
            values = (getattr(hit, column) for column in _COLUMNS)
            yield tuple(str(value) if isinstance(value, Snippet) else value for value in values)

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello search --json`` and of the HTTP API; ``corrected``, ``rewritten``, facets
        and missing shards only if present."""
        answer: dict[str, Any] = {
            "query": self.query,
            "matches": self.matches,
            "exact": self.exact,
            "partial": self.partial,
            "microseconds": self.microseconds,
            "suggestion": self.suggestion,
            "hits": [hit.to_dict() for hit in self.hits],
        }
        if self.corrected is not None:
            answer["corrected"] = self.corrected
        if self.facets is not None:
            answer["facets"] = {
                name: [value.to_dict() for value in values] for name, values in self.facets.items()
            }
        if self.rewritten is not None:
            answer["rewritten"] = self.rewritten
        if self.missing_shards:
            answer["missing_shards"] = list(self.missing_shards)
        return answer
