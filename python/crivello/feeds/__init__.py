"""Private: the feeds that a collection follows. The public entry is ``collection.feeds``.

A feed is a page like any other to the crawl: it is fetched politely, stored, and its entries are links, of which the
sieve lets only new ones through. What is added here is when to ask again (``feed``), what a poll found (``poll``),
word from outside (``pings``), and subscriptions to hubs (``websub``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.feeds.feed import Feed
from crivello.feeds.store import FeedStore
from crivello.feeds.summary import FeedSummary

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl import Report
    from crivello.feeds.poll import Polled

__all__ = ["Feed", "FeedSummary", "Feeds"]

_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")


class Feeds:
    """The feeds of a collection; iterating yields them in the order of their hosts, in bounded memory."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._store = FeedStore(collection)

    def __iter__(self) -> Iterator[Feed]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._store.get(url) is not None

    def __repr__(self) -> str:
        found = self.summary()
        return f"<Feeds: {found.feeds:,} feeds, {found.due:,} due, {found.dead:,} dead>"

    def summary(self) -> FeedSummary:
        """The number of feeds, of those that are due and of those that are dead, and why.

        >>> collection.feeds.summary().dead
        1
        """
        return FeedSummary.of(self._store, time.time())

    def list(self) -> Sequence[Feed]:
        """All feeds, those that are due first.

        >>> [feed.url for feed in collection.feeds.list() if feed.is_dead]
        """
        return sorted(self._store, key=lambda feed: (feed.next, feed.url))

    def add(self, urls: str | Iterable[str] = (), *, found: bool = False) -> Sequence[str]:
        """Follows these feeds, and with ``found`` also those that the crawl came across; returns the new ones.

        >>> collection.feeds.add("https://www.example.org/feed.xml")
        ['https://www.example.org/feed.xml']
        """
        named = list(self._canonical(urls))
        wanted = list(named)
        if found:
            wanted += [
                row.url
                for row in self._collection.pages()
                if row.status == 200 and row.content_type in _TYPES
            ]
        new = [url for url in dict.fromkeys(wanted) if url not in self]
        now = time.time()
        is_private = self._store.is_private or bool(named and _core.any_is_private(named, None))
        self._store.put((Feed(url=url, added=now, next=now) for url in new), private=is_private)
        return new

    def remove(self, urls: str | Iterable[str]) -> Sequence[str]:
        """Stops following feeds; returns those that were followed. Their pages stay.

        >>> collection.feeds.remove("https://www.example.org/feed.xml")
        ['https://www.example.org/feed.xml']
        """
        gone = [url for url in dict.fromkeys(self._canonical(urls)) if url in self]
        self._store.put(removed=gone)
        return gone

    def poll(
        self,
        urls: str | Iterable[str] = (),
        *,
        every: bool = False,
        progress: Callable[[Report], object] | None = None,
        **settings: Any,
    ) -> Sequence[Polled]:
        """Asks the feeds that are due, or these, or with ``every`` all of them, and fetches the pages of new entries.

        >>> [(polled.url, polled.new) for polled in collection.feeds.poll()]
        [('https://www.example.org/feed.xml', ['https://www.example.org/news/lava.html'])]
        """
        from crivello.feeds.poll import poll

        named = list(self._canonical(urls))
        if strangers := [url for url in named if url not in self]:
            raise InvalidArgument(
                f"{strangers[0]} is not followed",
                hint=f"`crivello feed add {self._collection.folder} {strangers[0]}` adds it",
            )
        return poll(self._collection, self._store, named, every=every, progress=progress, settings=settings)

    def _canonical(self, urls: str | Iterable[str]) -> Iterator[str]:
        given = [urls] if isinstance(urls, str) else [*urls]
        for url, canonical in zip(given, _core.canonical_urls(given), strict=True):
            if canonical is None:
                raise InvalidArgument(
                    f"{url!r} is not the URL of a feed",
                    hint="a URL begins with http:// or https://, as in https://www.example.org/feed.xml",
                )
            yield canonical
