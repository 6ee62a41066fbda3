"""The interface between the search page and a collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from starlette.requests import Request

from crivello.search.results import Explanation, Hit, Results
from crivello.store import CachedPage
from crivello.summary import Summary


class Engine(Protocol):
    """Its methods may block, and are called from several threads concurrently."""

    @property
    def name(self) -> str: ...

    def search(
        self, query: str, *, top: int = 10, offset: int = 0, facets: bool = False, correct: bool = True
    ) -> Results:
        """The best pages; if there are none and ``correct`` is set, those of the spelling correction.

        Raises ``QuerySyntaxError`` for a query that does not parse.
        """
        ...

    def complete(self, text: str, *, top: int = 8) -> list[str]:
        """Whole queries for what is being typed, the best first."""
        ...

    def explain(self, query: str, url: str) -> Explanation | None:
        """How the score of a page comes about; ``None`` if it does not match."""
        ...

    def near_copies(self, query: str, url: str) -> list[Hit]:
        """The pages that are collapsed under a hit."""
        ...

    def site_names(self, urls: Sequence[str]) -> list[str]:
        """What the site of each page calls itself; empty if that is not known."""
        ...

    def icon_urls(self, host: str) -> list[str]:
        """The URLs where the icon of a host, with its port, may be stored, the best first."""
        ...

    def extents(self, urls: Sequence[str]) -> list[str]:
        """How long each document is, as in "12 pages"; empty if that is not known."""
        ...

    def cached(self, url: str) -> CachedPage | None:
        """The stored copy of a page."""
        ...

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        """Whether each page has a stored copy; must be fast, since it is called for every page of results."""
        ...

    def summary(self) -> Summary: ...


def engine_of(request: Request) -> Engine:
    """The engine of the application that serves this request."""
    engine: Engine = request.app.state.engine
    return engine
