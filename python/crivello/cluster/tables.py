"""Private: the tables of all agents as one.

A URL belongs to one agent at a time, but an agent that was thought dead, and is back, may have a version of a page that
another one has fetched in its place. The newest version is the page; the others are its history.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from crivello import _core
from crivello._core import Row, Table

_BATCH = 500


class UnionTable:
    """What `Table` offers, over several tables."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables

    def get(self, url: str) -> Row | None:
        """The newest version of a URL."""
        return _newest(table.get(url) for table in self._tables)

    def at(self, url: str, when: float) -> Row | None:
        """The version of a URL at a time."""
        return _newest(table.at(url, when) for table in self._tables)

    def versions(self, url: str) -> list[Row]:
        """All versions of a URL, newest first."""
        found = [row for table in self._tables for row in table.versions(url)]
        return sorted(found, key=lambda row: -row.fetched_at)

    def by_signature(self, signature: int) -> Row | None:
        """The newest version of the URL with a signature."""
        return _newest(table.by_signature(signature) for table in self._tables)

    def contains(self, urls: list[str]) -> list[bool]:
        """Whether each URL has a row."""
        found = [table.contains(urls) for table in self._tables]
        return [any(each) for each in zip(*found, strict=True)] if found else [False] * len(urls)

    def has_rows_since(self, start: int) -> bool:
        """Whether there are rows; the tables of agents have no common order."""
        return any(table.has_rows_since(start) for table in self._tables)

    def feed(self, url: str) -> bytes | None:
        """The state of a feed."""
        return next((state for table in self._tables if (state := table.feed(url)) is not None), None)

    def feeds(self, after: str | None = None) -> list[tuple[str, bytes]]:
        """The states of feeds, by URL."""
        return sorted(dict(feed for table in self._tables for feed in table.feeds(after)).items())

    def batches(self, start: int = 0, newest: bool = False) -> Iterator[tuple[list[Row], int]]:
        """The rows of one agent after the other, each batch with the bytes of the tables that were read."""
        before = 0
        for place, table in enumerate(self._tables):
            end = 0
            for rows, end in table.batches(start, newest):
                yield (self._not_elsewhere(rows, place) if newest else rows), before + end
            before += end

    def scan(
        self, site: str | None = None, prefix: str | None = None, versions: bool = False
    ) -> Iterator[list[Row]]:
        """The rows of a site, or of a prefix, in the order of their hosts."""

        def rows_of(place: int) -> Iterator[tuple[str, Row]]:
            for rows in self._tables[place].scan(site, prefix, versions):
                kept = rows if versions else self._not_elsewhere(rows, place)
                yield from zip(_core.surt_keys([row.url for row in kept]), kept, strict=True)

        merged = heapq.merge(*map(rows_of, range(len(self._tables))), key=lambda keyed: keyed[0])
        while batch := [row for _, row in islice(merged, _BATCH)]:
            yield batch

    def verify(self) -> None:
        """Reads all rows and verifies them."""
        for table in self._tables:
            table.verify()

    def __len__(self) -> int:
        """The number of URLs; takes a pass over the rows of all agents but the first."""
        if len(self._tables) == 1:
            return len(self._tables[0])
        return sum(len(rows) for rows, _ in self.batches(newest=True))

    def _not_elsewhere(self, rows: list[Row], place: int) -> list[Row]:
        """Those rows of an agent that no other agent has a newer version of."""
        urls = [row.url for row in rows]
        kept = [True] * len(rows)
        for other, table in enumerate(self._tables):
            if other == place:
                continue
            for number, is_there in enumerate(table.contains(urls)):
                if is_there and kept[number]:
                    theirs = table.get(urls[number])
                    assert theirs is not None
                    ours = rows[number]
                    kept[number] = (ours.fetched_at, -place) > (theirs.fetched_at, -other)
        return [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]


def _newest(rows: Iterable[Row | None]) -> Row | None:
    return max((row for row in rows if row is not None), key=lambda row: row.fetched_at, default=None)
