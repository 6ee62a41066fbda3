"""Pings from outside: WebSub with a real hub, and IndexNow."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crivello
from crivello.collection import Collection
from crivello.feeds.feed import Feed
from crivello.feeds.spool import MOST_BYTES, Full, Ping, Pings
from crivello.feeds.store import FeedStore
from crivello.web import Push, Server
from crivello.web import push as push_module
from crivello.web.server import free_port
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
        FeedStore(collection).save({TOPIC: Feed(url=TOPIC, hub=hub.url, topic=TOPIC, next=time.time() + 9e6)})
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
    return [(ping.url, ping.by) for ping in Pings(folder).read(0)[0]]


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
    queue = Pings(tmp_path)
    assert queue.read(0) == ([], 0)
    first, second = Ping("http://a.example/", "websub", 1.0), Ping("http://b.example/", "indexnow", 2.0)
    queue.add([first])
    found, offset = queue.read(0)
    assert found == [first]
    queue.add([second])
    assert queue.done(offset) == offset
    found, offset = queue.read(offset)
    assert found == [second]
    assert queue.done(offset) == 0
    queue.add([first])
    assert queue.read(offset)[0] == [first], "a queue that began anew is read from its start"
    with (tmp_path / "feeds/pings.jsonl").open("ab") as file:
        file.write(b'{"url": "cut of')
    assert queue.read(0)[0] == [first]
    with pytest.raises(Full):
        queue.add([Ping("http://a.example/" + "x" * 1000, "indexnow", 0.0)] * (MOST_BYTES // 1000))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=8), st.data())
def test_no_ping_is_lost(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[str]], data: st.DataObject
) -> None:
    queue = Pings(tmp_path_factory.mktemp("pings"))
    offset, read, added = 0, [], []
    for batch in batches:
        queue.add([Ping(name, "websub", 0.0) for name in batch])
        added += batch
        if data.draw(st.booleans()):
            found, offset = queue.read(offset)
            read += [ping.url for ping in found]
            offset = queue.done(offset)
    read += [ping.url for ping in queue.read(offset)[0]]
    assert read == added
