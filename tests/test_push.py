"""Pings from outside: WebSub with a real hub, and IndexNow."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import crivello
from crivello.collection import Collection
from crivello.feeds.feed import Feed
from crivello.feeds.pings import START, Ping, Pings
from crivello.feeds.store import FeedStore
from crivello.web import Push, Server
from crivello.web import push as push_module
from crivello.web.server import free_port
from tests.test_feeds import serving
from tests.websub_hub import Hub, hub_running

TOPIC = "http://127.0.0.1:9/feed.xml"


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with hub_running() as hub:
        yield hub


@pytest.fixture
def folder(tmp_path: Path, hub: Hub) -> Path:
    hub.subscribers.clear()
    hub.verified.clear()
    hub.denies, hub.method = False, "sha256"
    with crivello.create(tmp_path / "c") as collection:
        FeedStore(collection).put([Feed(url=TOPIC, hub=hub.url, topic=TOPIC, next=time.time() + 9e6)])
        collection.commit({}, crawl={"private": True})
    return tmp_path / "c"


class Serving:
    """A server with its subscriber, which renews only when told."""

    def __init__(self, folder: Path) -> None:
        self.collection = Collection(folder)
        self.port = _port()
        self.push = Push(self.collection, f"http://127.0.0.1:{self.port}")
        self.server = Server(self.collection, port=self.port, push=self.push)

    def __enter__(self) -> Serving:
        self.server.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.server.stop()

    @property
    def callback(self) -> str:
        return f"{self.server.url}/websub/{self.push.subscriber.token(TOPIC)}"


def _port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    assert free_port("127.0.0.1", port) == port
    return port


def until(holds: Callable[[], object]) -> None:
    while not holds():
        time.sleep(0.01)


def pings(folder: Path) -> list[tuple[str, str]]:
    return [(ping.url, ping.by) for ping in Pings(folder).read(START)[0]]


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_a_round_trip_with_a_hub(folder: Path, hub: Hub, method: str) -> None:
    hub.method = method
    with Serving(folder) as serving:
        serving.push.subscriber.renew()
        until(lambda: hub.verified)
        assert hub.verified == [("subscribe", TOPIC, 200)]
        [subscription] = serving.push.subscriber.subscriptions.values()
        assert 3500 < subscription.until - time.time() <= 3600
        assert hub.publish(TOPIC, b"<feed/>") == [202]
        assert pings(folder) == [(TOPIC, "websub")]
        with Collection.write(folder) as collection:
            collection.feeds.remove(TOPIC)
        serving.push.subscriber.renew()
        until(lambda: len(hub.verified) == 2)
        assert hub.verified[1] == ("unsubscribe", TOPIC, 200)
        assert not hub.subscribers and not serving.push.subscriber.subscriptions
        assert httpx.post(serving.callback, content=b"").status_code == 404


def test_a_lease_is_renewed_before_it_ends(folder: Path, hub: Hub) -> None:
    with Serving(folder) as serving:
        subscriber = serving.push.subscriber
        subscriber.renew()
        until(lambda: hub.verified)
        subscriber.renew()
        assert len(hub.verified) == 1
        subscriber.subscriptions[TOPIC].asked -= 3300
        subscriber.subscriptions[TOPIC].until -= 3300
        subscriber.renew()
        until(lambda: len(hub.verified) == 2)
        assert subscriber.subscriptions[TOPIC].until > time.time() + 3500


def test_only_what_was_asked_for_is_confirmed(folder: Path, hub: Hub) -> None:
    with Serving(folder) as serving:
        asked = {
            "hub.mode": "subscribe",
            "hub.topic": TOPIC,
            "hub.challenge": "x",
            "hub.lease_seconds": "1e9",
        }
        assert httpx.get(serving.callback, params=asked).status_code == 404
        serving.push.subscriber.renew()
        until(lambda: hub.verified)
        assert httpx.get(serving.callback, params=asked).text == "x"
        for wrong in (
            {"hub.topic": TOPIC + "x"},
            {"hub.mode": "unsubscribe"},
            {"hub.mode": "x"},
            {"hub.challenge": ""},
        ):
            assert httpx.get(serving.callback, params=asked | wrong).status_code == 404
        guess = serving.callback[:-1] + ("0" if serving.callback[-1] != "0" else "1")
        assert httpx.get(guess, params=asked).status_code == 404


def test_what_is_not_signed_is_ignored(folder: Path) -> None:
    with Serving(folder) as serving:
        secret = serving.push.subscriber.secret(TOPIC).encode()
        good = hmac.new(secret, b"body", hashlib.sha256).hexdigest()
        for header in ("", "sha256=", f"sha256={'0' * 64}", f"md5={good}", good, f"sha1={good}", "sha256=é"):
            answer = httpx.post(
                serving.callback, content=b"body", headers={b"X-Hub-Signature": header.encode()}
            )
            assert answer.status_code == 202
        assert pings(folder) == []
        signed = {"X-Hub-Signature": f"SHA256={good.upper()}"}
        assert httpx.post(serving.callback, content=b"body", headers=signed).status_code == 202
        assert pings(folder) == [(TOPIC, "websub")]
        long = httpx.post(serving.callback, content=b"x" * (push_module.MOST_BYTES + 1), headers=signed)
        assert long.status_code == 413


def test_a_hub_may_deny(folder: Path, hub: Hub) -> None:
    hub.denies = True
    with Serving(folder) as serving:
        serving.push.subscriber.renew()
        until(lambda: hub.verified)
        assert serving.push.subscriber.subscriptions[TOPIC].failure == "no room"


def test_a_hub_on_a_private_network_is_not_asked_for_a_public_collection(folder: Path, hub: Hub) -> None:
    with Collection.write(folder) as collection:
        collection.commit({}, crawl={"private": False})
    with Serving(folder) as serving:
        serving.push.subscriber.renew()
        assert "public internet" in serving.push.subscriber.subscriptions[TOPIC].failure
    assert not hub.verified


def test_after_a_restart_callbacks_are_the_same(folder: Path) -> None:
    with Serving(folder) as first:
        token = first.push.subscriber.token(TOPIC)
    with Serving(folder) as second:
        assert second.push.subscriber.token(TOPIC) == token


def test_indexnow_takes_pages_of_the_collection(tmp_path: Path) -> None:
    from tests.test_sitemaps import page, site

    with site(lambda path, _: page(path) if path in ("/", "/a") else None) as (home, _):
        with crivello.create(tmp_path / "c") as collection:
            collection.crawl([home, f"{home}/a"], progress=False, delay=0)
        with Serving(tmp_path / "c") as serving:
            url, key = f"{serving.server.url}/indexnow", "0123456789abcdef"

            def get(**said: str) -> int:
                return httpx.get(url, params=said).status_code

            def post(said: object) -> int:
                return httpx.post(url, json=said).status_code

            assert get(url=f"{home}/a", key=key) == 202
            assert pings(tmp_path / "c") == [(f"{home}/a", "indexnow")]
            assert get(url=f"{home}/a", key="short") == 403
            assert get(url=f"{home}/unknown", key=key) == 403
            assert get(url="nonsense", key=key) == 422
            assert get() == 403
            ours = {"host": "127.0.0.1", "key": key, "urlList": [f"{home}/", f"{home}/a"]}
            assert post(ours) == 202
            assert len(pings(tmp_path / "c")) == 3
            assert post(ours | {"host": "other.example"}) == 422
            assert post(ours | {"urlList": [f"{home}/", "http://b.example/"]}) == 422
            assert post(ours | {"urlList": 7}) == 400
            assert post([]) == 400
            assert post(ours | {"urlList": [f"{home}/a"] * 10_001}) == 422
            assert post(ours | {"urlList": [f"{home}/a"] * 9_998}) == 429


def test_pings_wait_until_they_are_read(tmp_path: Path) -> None:
    server, writer = Pings(tmp_path), Pings(tmp_path)
    assert writer.read(START) == ([], START)
    first = Ping("http://a.example/", "websub", 1.0, "text/xml", b"<feed/>")
    second = Ping("http://b.example/", "indexnow", 2.0)
    assert server.add([first])
    found, end = writer.read(START)
    assert found == [first]
    assert server.add([second])
    writer.clear(end)
    found, end = writer.read(end)
    assert found == [second], "what came meanwhile was not cleared"
    writer.clear(end)
    assert writer.read(end)[0] == []
    assert server.add([first]) and server.add([Ping("http://a.example/" + "x" * 9999, "indexnow", 0.0)])
    assert writer.read(end)[0] == [first], "a queue that began anew is read from its start"


def test_what_a_hub_pushes_is_the_feed_and_nothing_is_asked(tmp_path: Path, hub: Hub) -> None:
    with serving() as site:
        topic = f"{site.home}/feed"
        link = f'<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="{hub.url}"/>'
        site.feed("a", more=link)
        hub.subscribers.clear()
        hub.verified.clear()
        hub.denies, hub.method = False, "sha256"
        with crivello.create(tmp_path / "c") as collection:
            collection.feeds.add(topic)
            collection.feeds.poll(delay=0, address_delay=0)
        with Serving(tmp_path / "c") as server:
            server.push.subscriber.renew()
            until(lambda: hub.verified)
            site.feed("b", "a", more=link)
            assert hub.publish(topic, site.bodies["/feed"].encode()) == [202]
            site.feed("c")
            assert hub.publish(topic, site.bodies["/feed"].encode()) == [202]
            forged = httpx.post(
                f"{server.server.url}/websub/{server.push.subscriber.token(topic)}",
                content=site.bodies["/feed"].replace("/c", "/forged"),
                headers={"X-Hub-Signature": f"sha256={'0' * 64}"},
            )
            assert forged.status_code == 202
        with crivello.open(tmp_path / "c", write=True) as collection:
            [polled] = collection.feeds.poll(delay=0, address_delay=0)
            assert polled.new == [f"{site.home}/b", f"{site.home}/c"]
            assert site.requests("/feed") == [200], "the feed itself was asked once, before"
            assert [site.requests(f"/{name}") for name in ("a", "b", "c", "forged")] == [
                [200],
                [200],
                [200],
                [],
            ]
            assert len(collection.versions(topic)) == 3
            [feed] = collection.feeds
            assert (feed.hub, feed.entries, feed.failures) == (hub.url, 3, 0)
            assert collection.feeds.poll() == [], "a ping is read once"
            site.feed("d", "c", "b", "a", more=link)
            [polled] = collection.feeds.poll(every=True, delay=0, address_delay=0)
            assert polled.new == [f"{site.home}/d"] and site.requests("/feed") == [200, 200]
