"""Where the state of each feed is kept: in the cell ``feed`` of the row of its URL.

A cell is MessagePack, about 300 bytes, and 8 for each of the feed's newest entries. Feeds are read and written in
batches, so memory does not grow with their number. The ETag and the date for the next conditional request are in the
feed's row, as those of any page.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from crivello.feeds.feed import Feed
from crivello.feeds.pings import START, Position

if TYPE_CHECKING:
    from crivello.collection import Collection

_PART = "feeds"
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Feed)


class FeedStore:
    """Reads and commits the feeds; iterating yields them in the order of their hosts."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __iter__(self) -> Iterator[Feed]:
        yield from self._of_manifest().values()
        for batch in self._batches():
            for _, cell in batch:
                yield _DECODER.decode(cell)

    def __len__(self) -> int:
        return len(self._of_manifest()) + sum(len(batch) for batch in self._batches())

    def get(self, url: str) -> Feed | None:
        """The feed with a URL."""
        cell = self._collection.table.feed(url)
        return self._of_manifest().get(url) if cell is None else _DECODER.decode(cell)

    def put(
        self,
        feeds: Iterable[Feed] = (),
        *,
        removed: Iterable[str] = (),
        pings: Position | None = None,
        **state: Any,
    ) -> None:
        """Commits the states of feeds, the end of others, and how far the queue of pings was read."""
        cells: dict[str, bytes | None] = {
            feed.url: _ENCODER.encode(feed) for feed in self._of_manifest().values()
        }
        cells |= {feed.url: _ENCODER.encode(feed) for feed in feeds}
        cells |= dict.fromkeys(removed)
        kept = {**self._collection.state(_PART), **state}
        kept.pop("feeds", None)
        kept.setdefault("key", secrets.token_hex(32))
        if pings is not None:
            kept["pings"] = pings
        self._collection.put_feeds(cells, **{_PART: kept})

    @property
    def pings(self) -> Position:
        """How far the queue of pings was read."""
        position = self._collection.state(_PART).get("pings")
        return (position[0], position[1]) if isinstance(position, list) else START

    @property
    def key(self) -> str:
        """The secret from which callback URLs and the secrets of subscriptions are made; empty if there are no feeds."""
        key: str = self._collection.state(_PART).get("key", "")
        return key

    @property
    def is_private(self) -> bool:
        """Whether a feed on a private network was named, which is consent to fetch from there."""
        return bool(self._collection.state(_PART).get("private"))

    def _batches(self) -> Iterator[list[tuple[str, bytes]]]:
        table = self._collection.table
        batch = table.feeds()
        while batch:
            yield batch
            batch = table.feeds(batch[-1][0])

    def _of_manifest(self) -> dict[str, Feed]:
        """The feeds of a collection that had them in its manifest, until the next commit."""
        kept: dict[str, dict[str, Any]] = self._collection.state(_PART).get("feeds", {})
        for about in kept.values():
            about["seen"] = b"".join(int(mark, 16).to_bytes(8, "big") for mark in about.get("seen", []))
        return {url: msgspec.convert(about, Feed) for url, about in kept.items()}
