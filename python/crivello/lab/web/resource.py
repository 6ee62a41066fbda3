"""What a URL of the sample web answers with."""

from __future__ import annotations

from dataclasses import dataclass

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Resource:
    """A status, a body and its type; ``location`` is where a redirect leads."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    location: str | None = None

    @classmethod
    def redirect(cls, status: int, location: str) -> Resource:
        """A redirect, with the line of text that servers send along."""
        return cls(f"This page is now at {location}\n".encode(), TEXT, status, location)
