"""A poll: what is due is fetched by the crawl, and what came of it is compared with what was known.

In a collection of feeds alone, a poll fetches the pages of new entries wherever they are, and follows none of their
links. In one that was crawled, the poll is a run of that crawl under its own settings, in which new entries are
links like others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from crivello import _core
from crivello.convert import read
from crivello.feeds.feed import Feed
from crivello.feeds.spool import Pings
from crivello.feeds.store import FeedStore
from crivello.store import Outcome, Row

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl import Report

_MOST_HOPS = 8
_LINK = re.compile(r'<([^>]*)>\s*((?:;[^,"]*(?:"[^"]*"[^,"]*)*)*)')


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll of a feed found."""

    url: str
    title: str
    outcome: str
    """changed, unchanged or failed."""
    new: list[str] = field(default_factory=list)
    """The URLs of its new entries."""
    failure: str = ""
    next: float = 0.0
    """When it is polled next, in seconds since 1970."""


def poll(
    collection: Collection,
    store: FeedStore,
    named: Iterable[str],
    *,
    every: bool,
    progress: Callable[[Report], object] | None,
    settings: Mapping[str, Any],
) -> list[Polled]:
    """Polls the feeds that are named or due, and commits what is known of them."""
    from crivello.crawl import Crawler

    pings = Pings(collection.folder)
    waiting, offset = pings.read(store.pings)
    feeds = store.load()
    now = time.time()
    told = {ping.url for ping in waiting}
    due = set(named) or {feed.url for feed in feeds.values() if every or feed.is_due(now) or feed.url in told}
    # Pings of IndexNow are about pages.
    again = [*due, *(url for url in told - feeds.keys() if collection.page(url) is not None)]
    if not again:
        return []
    chosen = collection._with(settings, "crawl").crawl
    if not set(collection.state("crawl").get("seeds", [])) - feeds.keys():
        chosen = msgspec.structs.replace(chosen, scope="any", max_depth=1)
    revisits = [url for url in again if collection.page(url) is not None]
    seeds = [url for url in due if url not in revisits]
    Crawler(collection, seeds, settings=chosen, on_progress=progress, revisits=revisits).run()
    found = [_compare(collection, feeds[url], now) for url in sorted(due)]
    store.save(feeds, pings.done(offset))
    return found


def _compare(collection: Collection, feed: Feed, before: float) -> Polled:
    now = time.time()
    row = _answer(collection, feed.url)
    if row is None or row.fetched_at < before:
        feed.fail(now, "it was not fetched: the run ended before, or a limit forbids it")
    elif row.outcome is Outcome.NOT_MODIFIED:
        feed.succeed(now, None, [], feed.fresh)
    elif row.outcome is not Outcome.FETCHED or row.status != 200:
        reason = f"the server answers {row.status}" if row.outcome is Outcome.FETCHED else row.outcome.value
        feed.fail(now, f"{reason}: {row.detail}" if row.detail else reason, gone=row.status == 410)
    else:
        return _changed(collection, feed, row, now)
    outcome = "failed" if feed.failures else "unchanged"
    return Polled(feed.url, feed.title, outcome, [], feed.failure, feed.next)


def _changed(collection: Collection, feed: Feed, row: Row, now: float) -> Polled:
    record = collection.record(row)
    body = record.decoded(collection.settings.crawl.max_bytes)
    converted = read(body, row.url, "application/rss+xml")
    if converted.feed is None:
        feed.fail(now, converted.failure)
        return Polled(feed.url, feed.title, "failed", [], feed.failure, feed.next)
    headers = {name.lower(): value for name, value in record.headers.items()}
    found = _with_links(converted.feed, headers.get("link", ""), row.url)
    entries = found["entries"]
    marks = [f"{_core.signatures([entry['id']])[0]:016x}" for entry in entries]
    known = set(feed.seen)
    urls = [
        entry["url"] for entry, mark in zip(entries, marks, strict=True) if mark not in known and entry["url"]
    ]
    feed.succeed(now, found, marks, _freshness(headers))
    return Polled(feed.url, feed.title, "changed" if urls else "unchanged", urls, "", feed.next)


def _answer(collection: Collection, url: str) -> Row | None:
    """The row of a feed, or of where it redirects to."""
    row = collection.page(url)
    for _ in range(_MOST_HOPS):
        if row is None or row.outcome is not Outcome.REDIRECTED or row.redirect is None:
            return row
        row = collection.page(row.redirect)
    return row


def _with_links(found: dict[str, Any], header: str, url: str) -> dict[str, Any]:
    """The feed with the hub and the self link of its HTTP header, which go before its own (WebSub, 4)."""
    from urllib.parse import urljoin

    for target, parameters in _LINK.findall(header):
        relations = re.search(r';\s*rel="?([^";]*)"?', parameters)
        words = relations[1].lower().split() if relations else []
        if "hub" in words:
            found["hubs"] = [urljoin(url, target), *found["hubs"]]
        if "self" in words:
            found["self"] = urljoin(url, target)
    return found


def _freshness(headers: Mapping[str, str]) -> float:
    """For how many seconds an answer is fresh (RFC 9111, 4.2.1)."""
    control = headers.get("cache-control", "").lower()
    if "no-cache" in control or "no-store" in control:
        return 0.0
    if age := re.search(r"max-age\s*=\s*\"?(\d{1,10})", control):
        return float(age[1])
    try:
        expires = parsedate_to_datetime(headers["expires"])
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max((expires - now).total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return 0.0
