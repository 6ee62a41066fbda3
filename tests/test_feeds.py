"""Polls of feeds, from a real server: what is new, when to ask again, and what becomes of feeds that fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

import crivello
from crivello.cli.app import application
from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.feeds.feed import DEAD, FEWEST_SEEN, Feed
from crivello.feeds.poll import Polled
from crivello.feeds.store import FeedStore
from crivello.live import poll_live

DAY = 86_400.0


@dataclass
class Site:
    """A server whose pages are set by the test; it answers conditional requests by the ETag."""

    home: str = ""
    bodies: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    asked: list[tuple[str, int]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def feed(self, *names: str, path: str = "/feed", more: str = "") -> None:
        """Sets a feed with these entries, and their pages."""
        items = "".join(
            f"<item><title>{name}</title><link>{self.home}/{name}</link></item>" for name in names
        )
        self.bodies[path] = f'<rss version="2.0"><channel><title>News</title>{more}{items}</channel></rss>'
        self.bodies |= {f"/{name}": f"<title>{name}</title><p>About {name}" for name in names}

    def requests(self, path: str) -> list[int]:
        return [status for asked, status in self.asked if asked == path]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path in site.slow:
                site.ended.wait()
            body = site.bodies.get(self.path, "").encode()
            tag = f'"{hash(body)}"'
            status = site.statuses.get(self.path, 200 if body else 404)
            if status == 200 and self.headers.get("If-None-Match") == tag:
                status, body = 304, b""
            site.asked.append((self.path, status))
            self.send_response(status)
            kind = "application/rss+xml" if self.path.startswith("/feed") else "text/html"
            for name, value in {"Content-Type": kind, "ETag": tag, **site.headers.get(self.path, {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.home = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.ended.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def collection(tmp_path: Path, site: Site) -> Iterator[Collection]:
    with crivello.create(tmp_path / "c") as collection:
        collection.feeds.add(f"{site.home}/feed")
        yield collection


def poll(collection: Collection) -> Polled:
    [polled] = collection.feeds.poll(every=True, delay=0, address_delay=0, retries=0)
    return polled


def only(collection: Collection) -> Feed:
    [feed] = collection.feeds
    return feed


def test_only_new_entries_are_fetched(collection: Collection, site: Site) -> None:
    site.feed("a", "b")
    first = poll(collection)
    assert (first.outcome, first.title) == ("changed", "News")
    assert first.new == [f"{site.home}/a", f"{site.home}/b"]
    site.feed("c", "a", "b")
    second = poll(collection)
    assert second.new == [f"{site.home}/c"]
    assert [site.requests(f"/{name}") for name in "abc"] == [[200]] * 3
    assert site.requests("/feed") == [200, 200]
    feed = only(collection)
    assert (feed.entries, feed.size, feed.polls, feed.changes, feed.kind) == (3, 3, 2, 1, "rss20")
    collection.index(progress=False)
    assert collection.count("about") == 3


def test_an_unchanged_feed_costs_a_conditional_request(collection: Collection, site: Site) -> None:
    site.feed("a")
    poll(collection)
    again = poll(collection)
    assert (again.outcome, again.new, site.requests("/feed")) == ("unchanged", [], [200, 304])
    assert only(collection).entries == 1


def test_the_first_poll_of_a_stored_feed_shows_its_entries(tmp_path: Path, site: Site) -> None:
    site.feed("a", "b")
    site.bodies["/"] = '<link rel="alternate" type="application/rss+xml" href="/feed"><p>Home'
    with crivello.create(tmp_path / "c") as collection:
        collection.crawl(site.home, progress=False, delay=0, address_delay=0, feeds=True)
        assert collection.feeds.add(found=True) == [f"{site.home}/feed"]
        polled = poll(collection)
        assert site.requests("/feed") == [200, 304]
        assert (polled.outcome, len(polled.new), only(collection).entries) == ("changed", 2, 2)
        assert poll(collection).outcome == "unchanged"


def test_a_feed_that_is_gone_is_dead_at_once(collection: Collection, site: Site) -> None:
    site.feed("a")
    poll(collection)
    site.statuses["/feed"] = 410
    polled = poll(collection)
    assert polled.outcome == "failed" and "410" in polled.failure
    feed = only(collection)
    assert feed.is_dead and feed.next > time.time() + 10 * DAY
    site.statuses.clear()
    assert poll(collection).outcome == "unchanged"
    assert not only(collection).is_dead


def test_a_new_feed_that_is_gone_is_dead_at_once(collection: Collection, site: Site) -> None:
    site.statuses["/feed"] = 410
    assert "410" in poll(collection).failure
    assert only(collection).is_dead


def test_a_failing_feed_backs_off_and_dies(collection: Collection, site: Site) -> None:
    site.feed("a")
    poll(collection)
    site.statuses["/feed"] = 500
    waits = []
    for _ in range(DEAD):
        polled = poll(collection)
        assert "500" in polled.failure
        waits.append(polled.next - time.time())
    assert waits == sorted(waits) and waits[-1] > 10 * waits[0]
    summary = collection.feeds.summary()
    assert (summary.feeds, summary.dead, summary.due) == (1, 1, 0)
    assert "500" in summary.why[f"{site.home}/feed"]


def test_a_feed_that_moved_for_good_is_followed_there(collection: Collection, site: Site) -> None:
    site.feed("a")
    poll(collection)
    site.feed("a", "b", path="/feed2")
    site.statuses["/feed"] = 301
    site.headers["/feed"] = {"Location": "/feed2"}
    polled = poll(collection)
    assert (polled.moved, polled.new) == (f"{site.home}/feed2", [f"{site.home}/b"])
    assert only(collection).url == f"{site.home}/feed2"
    site.feed("c", path="/feed2")
    assert poll(collection).new == [f"{site.home}/c"]
    assert len(site.requests("/feed")) == 2


def test_a_feed_that_moved_for_now_is_asked_where_it_was(collection: Collection, site: Site) -> None:
    site.feed("a", path="/feed2")
    site.statuses["/feed"] = 302
    site.headers["/feed"] = {"Location": "/feed2"}
    for name in "abc":
        site.feed(name, path="/feed2")
        polled = poll(collection)
        assert (polled.url, polled.new, polled.moved) == (f"{site.home}/feed", [f"{site.home}/{name}"], "")
    assert site.requests("/feed") == [302] * 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [("<html><p>words", "it is no feed"), ('{"version": "x"', "it is not valid JSON")],
)
def test_what_is_no_feed_any_more_says_so(collection: Collection, site: Site, body: str, reason: str) -> None:
    site.feed("a")
    poll(collection)
    site.bodies["/feed"] = body
    polled = poll(collection)
    assert (polled.outcome, polled.failure) == ("failed", reason)


def test_a_malformed_feed_gives_its_entries(collection: Collection, site: Site) -> None:
    site.feed("a", "b")
    site.bodies["/feed"] = site.bodies["/feed"].replace("</channel></rss>", "<item><title>&nbsp;cut of")
    assert poll(collection).new == [f"{site.home}/a", f"{site.home}/b"]


def test_a_slow_feed_fails_and_the_others_do_not(collection: Collection, site: Site) -> None:
    site.feed("a", path="/feed2")
    site.feed("b")
    site.slow.add("/feed")
    collection.feeds.add(f"{site.home}/feed2")
    slow, quick = collection.feeds.poll(every=True, delay=0, address_delay=0, retries=0, timeout=2)
    assert slow.outcome == "failed" and slow.failure
    assert quick.outcome == "changed"


def test_a_feed_is_not_asked_before_it_wants(tmp_path: Path, site: Site) -> None:
    period = "<sy:updatePeriod>weekly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>"
    expires = {"Expires": formatdate(time.time() + 72_000, usegmt=True)}
    asked = [
        ("", {}, DAY / 2),
        ("<ttl>4320</ttl>", {}, 3 * DAY),
        (period, {}, 3.5 * DAY),
        ("", {"Cache-Control": "max-age=72000"}, 72_000),
        ("", expires, 72_000),
        ("", {"Cache-Control": "no-cache, max-age=72000"}, DAY / 2),
        ("<ttl>60</ttl>", {"Cache-Control": "max-age=900000"}, DAY),
    ]
    for number, (more, headers, _) in enumerate(asked):
        path = f"/feed{number}"
        site.feed("a", path=path, more=more)
        namespace = '<rss xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
        site.bodies[path] = site.bodies[path].replace("<rss", namespace)
        site.headers[path] = headers
    with crivello.create(tmp_path / "c") as collection:
        collection.feeds.add(f"{site.home}/feed{number}" for number in range(len(asked)))
        collection.feeds.poll(delay=0, address_delay=0)
        waits = {feed.url[-1]: feed.next - feed.polled for feed in collection.feeds}
        assert waits == {str(number): pytest.approx(wait, abs=300) for number, (*_, wait) in enumerate(asked)}
        assert collection.feeds.poll() == []


def test_what_a_poll_brings_is_indexed_where_pages_are_kept_fresh(collection: Collection, site: Site) -> None:
    site.feed("a")
    [polled] = poll_live(collection)
    assert len(polled.new) == 1 and collection.count("about") == 1
    assert poll_live(collection) == []


def test_hours_and_days_are_skipped() -> None:
    sunday = 3 * DAY  # 1970-01-04
    feed = Feed(url="x", skip_days=["sunday"], skip_hours=[0, 1])
    feed.polled = sunday - DAY / 2
    feed.plan(sunday - DAY / 2)
    assert feed.next == sunday + DAY + 2 * 3600
    feed.skip_hours = list(range(24))
    feed.plan(sunday)
    assert feed.next == sunday + DAY / 2, "a feed that skips a whole week is not believed"


def test_entries_are_remembered_as_long_as_a_feed_may_show_them() -> None:
    feed = Feed(url="x")
    found = {"title": "", "kind": "", "ttl": 0, "skip_hours": [], "skip_days": [], "hubs": [], "self": ""}
    feed.succeed(1.0, found, range(5000), fresh=0.0)
    assert feed.entries == 5000
    feed.succeed(2.0, found, range(5000), fresh=0.0)
    assert (feed.entries, feed.changes) == (5000, 0), "a long feed has nothing new"
    feed.succeed(3.0, found, [9999])
    assert len(feed.knows()) == 5001, "what is pushed may be the new entry alone"
    feed.succeed(4.0, found, [1], fresh=0.0)
    assert len(feed.knows()) == FEWEST_SEEN


def test_a_feed_of_a_crawl_is_asked_first_and_belongs_to_its_scope(tmp_path: Path, site: Site) -> None:
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(30))
    site.bodies |= {"/": links, **{f"/{number}": f"<p>Page {number}" for number in range(30)}}
    with serving() as other, crivello.create(tmp_path / "c") as collection:
        collection.crawl(site.home, progress=False, delay=0, address_delay=0, max_pages=2)
        other.feed("a")
        collection.feeds.add(f"{other.home}/feed")
        [polled] = collection.feeds.poll(delay=0, address_delay=0, max_pages=4)
        assert polled.new == [f"{other.home}/a"]
        collection.crawl(progress=False, delay=0, address_delay=0)
        assert other.requests("/feed") == [200] and other.requests("/a") == [200]
        assert collection.state("crawl")["seeds"] == [f"{site.home}/"]


def test_a_feed_that_is_named_need_not_be_due(collection: Collection, site: Site) -> None:
    site.feed("a")
    poll(collection)
    assert collection.feeds.poll() == []
    [polled] = collection.feeds.poll(f"{site.home}/feed", delay=0)
    assert polled.outcome == "unchanged"
    with pytest.raises(InvalidArgument, match="is not followed"):
        collection.feeds.poll("https://a.example/feed")


def test_feeds_of_an_older_manifest_are_kept(tmp_path: Path, site: Site) -> None:
    site.feed("a", "b")
    older = {
        "url": f"{site.home}/feed",
        "title": "Old",
        "polls": 3,
        "first": 1.0,
        "seen": ["00000000000000ff"],
    }
    with crivello.create(tmp_path / "c") as collection:
        state = {"feeds": {older["url"]: older}, "key": "ab" * 32, "pings": 77}
        collection.commit({}, feeds=state, crawl={"private": True})
        assert [feed.title for feed in collection.feeds] == ["Old"]
        assert older["url"] in collection.feeds and len(collection.feeds) == 1
        collection.feeds.add(f"{site.home}/feed2")
        assert "feeds" not in collection.state("feeds") and collection.state("feeds")["key"] == "ab" * 32
    with crivello.open(tmp_path / "c", write=True) as collection:
        assert {feed.url: (feed.title, feed.knows()) for feed in collection.feeds} == {
            f"{site.home}/feed": ("Old", {255}),
            f"{site.home}/feed2": ("", set()),
        }
        collection.feeds.remove(f"{site.home}/feed")
        assert only(collection).url == f"{site.home}/feed2"


def test_many_feeds_are_listed_in_batches_and_not_in_the_manifest(tmp_path: Path) -> None:
    urls = [f"http://{number % 7}.example/{number}" for number in range(2500)]
    with crivello.create(tmp_path / "c") as collection:
        FeedStore(collection).put(Feed(url=url, next=1e12, seen=bytes(80)) for url in urls)
        assert len(collection.feeds) == 2500
        assert sorted(feed.url for feed in collection.feeds) == sorted(urls)
        collection.feeds.remove(urls[::2])
        assert sorted(feed.url for feed in collection.feeds) == sorted(urls[1::2])
        assert not collection.is_behind and not collection.has_pages
        collection.check()
    assert (tmp_path / "c" / "manifest.json").stat().st_size < 5000


def test_the_shell_tells_of_dead_feeds(tmp_path: Path, site: Site) -> None:
    folder = str(tmp_path / "c")
    run = CliRunner()
    site.statuses["/feed"] = 410
    assert run.invoke(application(), ["feed", "add", folder, f"{site.home}/feed"]).exit_code == 0
    polled = run.invoke(application(), ["feed", "poll", folder, "--delay", "0", "--json"])
    assert polled.exit_code == 0 and json.loads(polled.stdout)["outcome"] == "failed"
    listed = run.invoke(application(), ["feed", "list", folder])
    assert "dead: " in listed.stdout and "410" in listed.stdout
    status = run.invoke(application(), ["status", folder])
    assert "1 feed" in status.stdout and "dead" in status.stdout and "410" in status.stdout
    feeds = json.loads(run.invoke(application(), ["status", folder, "--json"]).stdout)["feeds"]
    assert (feeds["feeds"], feeds["dead"]) == (1, 1) and "410" in feeds["why"][f"{site.home}/feed"]
