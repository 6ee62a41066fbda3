"""What the page needs of a collection."""

from __future__ import annotations

from typing import Protocol

from crivello.search.results import Results
from crivello.summary import Summary


class Engine(Protocol):
    """Both methods may block, and are called from several threads at once."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, *, top: int = 10, offset: int = 0) -> Results:
        """The best pages; raises ``QuerySyntaxError`` for a query that does not parse."""
        ...

    def summary(self) -> Summary: ...
