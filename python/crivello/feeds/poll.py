"""A poll: what is due is fetched by the crawl, and what came of it is compared with what was known.

In a collection of feeds alone, a poll fetches the pages of new entries wherever they are, and follows none of their
links. In one that was crawled, the poll is a run of that crawl under its own settings, in which new entries are
links like others, and the feeds belong to the scope as seeds do; they are asked before anything else. What a hub pushed with its signature is the feed as of now: it is stored as a version of the feed,
and nothing is asked.

Memory: the URLs of the feeds that are due, and the pings that wait.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from crivello import _core
from crivello.convert import read
from crivello.crawl.decisions import Decision, decisions_since
from crivello.feeds.feed import Feed
from crivello.feeds.pings import Ping, Pings
from crivello.feeds.store import FeedStore
from crivello.store import Outcome, Row

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl import Report
    from crivello.settings import Crawl

_MOST_HOPS = 8
_BATCH = 1000
_FOR_GOOD = (301, 308)
_GONE = 410
_PUSHED = "x-crivello-source"
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
    moved: str = ""
    """The URL at which it is followed from now on, if it moved for good."""


def poll(
    collection: Collection,
    store: FeedStore,
    named: Sequence[str],
    *,
    every: bool,
    progress: Callable[[Report], object] | None,
    settings: Mapping[str, Any],
) -> list[Polled]:
    """Polls the feeds that are named or due, and commits what is known of them."""
    from crivello.crawl import Crawler

    pings = Pings(collection.folder)
    waiting, position = pings.read(store.pings)
    now = time.time()
    told = {ping.url for ping in waiting}
    of_feeds = {url for url in told if store.get(url) is not None}
    due = {*named} or {feed.url for feed in store if every or feed.is_due(now)}
    due |= of_feeds
    # Pings of IndexNow are about pages.
    pages = _stored(collection, told - of_feeds)
    if not due and not pages:
        return []
    pushed = _pushed(collection, waiting, of_feeds)
    asked = (due - {ping.url for ping in pushed}) | {*named}
    chosen, reaches = _run_of(collection, store, asked, settings)
    revisits = [*dict.fromkeys([*pages, *_with_targets(collection, asked)])]
    if chosen.max_pages:
        most = chosen.max_pages + len(revisits) + len(pushed)
        chosen = msgspec.structs.replace(chosen, max_pages=most)
    log = dict(collection.files)
    contents = [(ping.url, ping.content_type, ping.content) for ping in pushed]
    Crawler(
        collection,
        settings=chosen,
        revisits=revisits,
        pushed=contents,
        reaches=reaches,
        on_progress=progress,
    ).run()
    failed = {
        decision.url: decision
        for decision in decisions_since(collection, log)
        if decision.event == "revisit failed"
    }
    ordered, found = sorted(due), []
    for at in range(0, len(ordered), _BATCH):
        found += _compared(collection, store, ordered[at : at + _BATCH], now, failed)
    store.put(pings=position)
    pings.clear(position)
    return found


def _stored(collection: Collection, urls: Iterable[str]) -> list[str]:
    """Those of the URLs that the collection has."""
    known = list(urls)
    return [url for url, is_stored in zip(known, collection.table.contains(known), strict=True) if is_stored]


def _pushed(collection: Collection, waiting: Iterable[Ping], of_feeds: set[str]) -> list[Ping]:
    """The pings with the content of a feed that was fetched before, in their order."""
    stored = set(_stored(collection, of_feeds))
    return [ping for ping in waiting if ping.content and ping.url in stored]


def _run_of(
    collection: Collection, store: FeedStore, asked: set[str], settings: Mapping[str, Any]
) -> tuple[Crawl, list[str]]:
    """The settings of the run, and the feeds that belong to its scope from now on."""
    chosen = collection._with(settings, "crawl").crawl
    if store.is_private:
        chosen = msgspec.structs.replace(chosen, allow_private=True)
    seeds = collection.state("crawl").get("seeds", [])
    if all(store.get(seed) is not None for seed in seeds):
        return msgspec.structs.replace(chosen, scope="any", max_depth=1, sitemaps=False), []
    return chosen, sorted(asked - {*_stored(collection, asked)})


def _with_targets(collection: Collection, urls: Iterable[str]) -> Iterator[str]:
    """The URLs, and where they redirected to: the sieve lets a target through only once."""
    for url in sorted(urls):
        yield from _chain(collection, url)


def _chain(collection: Collection, url: str) -> list[str]:
    chain = [url]
    while len(chain) <= _MOST_HOPS:
        row = collection.table.get(chain[-1])
        if row is None or row.outcome is not Outcome.REDIRECTED or not row.redirect or row.redirect in chain:
            break
        chain.append(row.redirect)
    return chain


def _compared(
    collection: Collection,
    store: FeedStore,
    urls: Iterable[str],
    before: float,
    failed: Mapping[str, Decision],
) -> list[Polled]:
    """Compares feeds with what they were, and commits what is known of them now."""
    feeds: dict[str, Feed] = {}
    removed: set[str] = set()
    found: list[Polled] = []
    for url in urls:
        feed = store.get(url)
        if feed is None:
            continue
        polled = _compare(collection, feed, before, failed)
        if polled.moved:
            removed.add(url)
            if store.get(polled.moved) is None:
                feeds[polled.moved] = msgspec.structs.replace(feed, url=polled.moved)
        else:
            feeds[url] = feed
        found.append(polled)
    store.put(feeds.values(), removed=removed - feeds.keys())
    return found


def _compare(collection: Collection, feed: Feed, before: float, failed: Mapping[str, Decision]) -> Polled:
    now = time.time()
    chain = _chain(collection, feed.url)
    failure = next((failed[url] for url in chain if url in failed), None)
    # Newest first: of what was pushed there may be several versions.
    rows = [row for row in collection.table.versions(chain[-1]) if row.fetched_at >= before]
    moved, new = "", list[str]()
    if failure is not None:
        feed.fail(now, failure.detail or f"the server answers {failure.status}", gone=failure.status == _GONE)
    elif not rows:
        feed.fail(now, "it was not fetched: the run ended before, or a limit forbids it")
    elif rows[0].outcome is Outcome.REDIRECTED:
        feed.fail(now, f"it redirects to {rows[0].redirect}, which leads nowhere")
    elif rows[0].outcome is Outcome.NOT_MODIFIED and feed.first:
        feed.succeed(now)
    elif rows[0].outcome not in (Outcome.FETCHED, Outcome.NOT_MODIFIED) or not rows[0].length:
        status = f" {rows[0].status}" if rows[0].status else ""
        reason = f"{rows[0].outcome.value}{status}"
        feed.fail(
            now, f"{reason}: {rows[0].detail}" if rows[0].detail else reason, gone=rows[0].status == _GONE
        )
    else:
        for row in reversed([row for row in rows if row.length]):
            new += _read(collection, feed, row, now)
        moved = _moved(collection, chain) if not feed.failures else ""
    outcome = "failed" if feed.failures else "changed" if new else "unchanged"
    return Polled(feed.url, feed.title, outcome, new, feed.failure, feed.next, moved)


def _moved(collection: Collection, chain: Sequence[str]) -> str:
    """Where a feed is for good; empty if every redirect may end, or if it is a seed of the crawl."""
    rows = [collection.table.get(url) for url in chain[:-1]]
    seeds = collection.state("crawl").get("seeds", [])
    is_for_good = rows and all(row is not None and row.status in _FOR_GOOD for row in rows)
    return chain[-1] if is_for_good and chain[0] not in seeds else ""


def _read(collection: Collection, feed: Feed, row: Row, now: float) -> list[str]:
    """Reads a version of a feed; returns the URLs of its new entries."""
    record = collection.record(row)
    converted = read(record.decoded(collection.settings.crawl.max_bytes), row.url, "application/rss+xml")
    if converted.feed is None:
        feed.fail(now, converted.failure)
        return []
    headers = {name.lower(): value for name, value in record.headers.items()}
    found = _with_links(converted.feed, headers.get("link", ""), row.url)
    entries = found["entries"]
    marks = _core.signatures([entry["id"] for entry in entries])
    known = feed.knows()
    new = [
        entry["url"] for entry, mark in zip(entries, marks, strict=True) if mark not in known and entry["url"]
    ]
    feed.succeed(now, found, marks, fresh=None if _PUSHED in headers else _freshness(headers))
    return new


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
