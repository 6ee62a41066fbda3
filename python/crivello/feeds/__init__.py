"""Private: the feeds that a collection follows. The public entry is ``collection.feeds``.

A feed is a page like any other to the crawl: it is fetched politely, stored, and its entries are links, of which the
sieve lets only new ones through. What is added here is when to ask again (``feed``), what a poll found (``poll``),
word from outside (``spool``), and subscriptions to hubs (``websub``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.feeds.feed import Feed
from crivello.feeds.store import FeedStore

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl import Report
    from crivello.feeds.poll import Polled

__all__ = ["Feed", "Feeds"]

_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")


class Feeds:
    """The feeds of a collection; iterating yields them, those that are due first."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._store = FeedStore(collection)

    def __iter__(self) -> Iterator[Feed]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self._store.load())

    def __repr__(self) -> str:
        feeds = self.list()
        due, dead = sum(feed.is_due(time.time()) for feed in feeds), sum(feed.is_dead for feed in feeds)
        return f"<Feeds: {len(feeds)} feeds, {due} due, {dead} dead>"

    def list(self) -> Sequence[Feed]:
        """All feeds, those that are due first.

        >>> [feed.url for feed in collection.feeds.list() if feed.is_dead]
        """
        return sorted(self._store.load().values(), key=lambda feed: (feed.next, feed.url))

    def add(self, urls: str | Iterable[str] = (), *, found: bool = False) -> Sequence[str]:
        """Follows these feeds, and with ``found`` also those that the crawl came across; returns the new ones.

        >>> collection.feeds.add("https://www.example.org/feed.xml")
        ['https://www.example.org/feed.xml']
        """
        wanted = list(self._canonical(urls))
        if found:
            wanted += [
                row.url
                for row in self._collection.pages()
                if row.status == 200 and row.content_type in _TYPES
            ]
        feeds = self._store.load()
        new = [url for url in dict.fromkeys(wanted) if url not in feeds]
        now = time.time()
        self._store.save(feeds | {url: Feed(url=url, added=now, next=now) for url in new})
        return new

    def remove(self, urls: str | Iterable[str]) -> Sequence[str]:
        """Stops following feeds; returns those that were followed. Their pages stay.

        >>> collection.feeds.remove("https://www.example.org/feed.xml")
        ['https://www.example.org/feed.xml']
        """
        feeds = self._store.load()
        gone = [url for url in self._canonical(urls) if feeds.pop(url, None)]
        self._store.save(feeds)
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
        feeds = self._store.load()
        if strangers := [url for url in named if url not in feeds]:
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
