"""Private: a summary of a collection in a few numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from crivello._figures import Figures, shown

State = Literal["crawling", "ready", "not indexed", "empty"]


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Figures):
    """A summary of a collection; ``updated`` is when its index last changed."""

    pages: int
    hosts: int
    terms: int
    updated: datetime | None
    state: State

    @property
    def updated_utc(self) -> datetime | None:
        return self.updated.astimezone(UTC) if self.updated else None

    def _headline(self) -> str:
        return f"{self.pages:,} pages of {self.hosts:,} hosts, {self.state}"

    def _figures(self) -> Iterator[tuple[str, str]]:
        for name, value in self.to_dict().items():
            yield name, shown(value) if isinstance(value, int) else str(value or "never")

    def to_dict(self) -> dict[str, Any]:
        """The format of ``/api/status``."""
        return {
            "state": self.state,
            "pages": self.pages,
            "hosts": self.hosts,
            "terms": self.terms,
            "updated": self.updated_utc.isoformat(timespec="seconds") if self.updated_utc else None,
        }
