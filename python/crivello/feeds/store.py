"""Where the feeds of a collection are kept: in the manifest, committed whole.

A feed takes about 300 bytes, and 17 for each of its newest entries.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec

from crivello.feeds.feed import Feed

if TYPE_CHECKING:
    from crivello.collection import Collection

_PART = "feeds"


class FeedStore:
    """Reads and commits the feeds."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def load(self) -> dict[str, Feed]:
        """The feeds by their URLs."""
        return msgspec.convert(self._collection.state(_PART).get("feeds", {}), dict[str, Feed])

    def save(self, feeds: dict[str, Feed], pings: int | None = None) -> None:
        """Commits the feeds, and how far the queue of pings was read."""
        state = self._collection.state(_PART)
        state["feeds"] = msgspec.to_builtins(feeds)
        state.setdefault("key", secrets.token_hex(32))
        if pings is not None:
            state["pings"] = pings
        self._collection.commit({}, **{_PART: state})

    @property
    def pings(self) -> int:
        """How far the queue of pings was read."""
        offset: int = self._collection.state(_PART).get("pings", 0)
        return offset

    @property
    def key(self) -> str:
        """The secret from which callback URLs and the secrets of subscriptions are made; empty if there are no feeds."""
        key: str = self._collection.state(_PART).get("key", "")
        return key
