"""What the page needs of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from crivello.search.results import Results

State = Literal["crawling", "ready", "empty"]


@dataclass(frozen=True, slots=True)
class Summary:
    """How a collection stands; ``updated`` is when its index last changed."""

    pages: int
    hosts: int
    terms: int
    updated: datetime | None
    state: State

    @property
    def updated_utc(self) -> datetime | None:
        return self.updated.astimezone(UTC) if self.updated else None

    def to_dict(self) -> dict[str, Any]:
        """The form of ``/api/status``."""
        return {
            "state": self.state,
            "pages": self.pages,
            "hosts": self.hosts,
            "terms": self.terms,
            "updated": self.updated_utc.isoformat(timespec="seconds") if self.updated_utc else None,
        }


class Engine(Protocol):
    """Both methods may block, and are called from several threads at once."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, *, top: int = 10, offset: int = 0) -> Results:
        """The best pages; raises ``QuerySyntaxError`` for a query that does not parse."""
        ...

    def summary(self) -> Summary: ...
