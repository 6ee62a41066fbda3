"""The resource that a URL of the sample web returns."""

from __future__ import annotations

from dataclasses import dataclass

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Resource:
    """A status, a body and its type; ``location`` is the target of a redirect."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    location: str | None = None

    @classmethod
    def redirect(cls, status: int, location: str) -> Resource:
        """A redirect, with the short body that servers send."""
        return cls(f"This page is now at {location}\n".encode(), TEXT, status, location)
