"""robots.txt, by RFC 9309: what a host lets us fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crivello.store import Outcome

if TYPE_CHECKING:
    from protego import Protego

MAX_BYTES = 500 * 1024
MAX_REDIRECTS = 5


@dataclass(frozen=True)
class Robots:
    """The rules of a host for us; with a ``refusal``, nothing may be fetched and that is why."""

    rules: Protego | None
    agent: str
    refusal: Outcome | None = None

    @classmethod
    def from_response(cls, status: int, body: bytes, agent: str) -> Robots | None:
        """The rules behind an answer; None where it has to be asked for again.

        A client error (4xx) means that there are no rules, a server error that everything is forbidden
        for now (RFC 9309, 2.3.1.3 and 2.3.1.4).
        """
        from protego import Protego

        if 200 <= status < 300:
            text = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
            return cls(Protego.parse(text), agent)
        if 400 <= status < 500 and status != 429:
            return cls(None, agent)
        return None

    def allows(self, url: str) -> bool:
        """Whether we may fetch a URL."""
        return self.refusal is None and (self.rules is None or self.rules.can_fetch(url, self.agent))

    @property
    def delay(self) -> float:
        """The seconds between requests that the host asks for."""
        return (self.rules.crawl_delay(self.agent) or 0.0) if self.rules else 0.0
