"""Who may see the dashboard and steer the crawl: every combination of what a request has and lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient

from crivello import Collection
from crivello.crawl.steering import KINDS, ONLY_NOW, CommandLog
from crivello.web import create_app
from tests.memory_engine import MemoryEngine
from tests.small_web import SmallWeb, links

TOKEN = "a long token, with spaces"
HOST = "127.0.0.1:8080"
ORIGIN = f"http://{HOST}"
PATHS = ("/crawl", "/crawl/host?host=https://a.example", "/crawl/url?url=https://a.example/", "/crawl/events")
VALUES = {
    "seeds": "https://a.example/",
    "scope": "any",
    "delay": "1",
    "block": "a.example",
    "unblock": "a.example",
    "refresh": "https://a.example/",
    "refresh-host": "https://a.example/",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dashboard") / "c"
    with SmallWeb({"a.test": {"/": links("/b"), "/b": "b"}}) as web:
        web.crawl(folder, "a.test")
    return folder


@pytest.fixture
def collection(folder: Path) -> Collection:
    return Collection(folder)


def visitor(
    collection: Collection, *, token: str = "", address: str = "127.0.0.1", host: str = HOST
) -> TestClient:
    serve = msgspec.structs.replace(collection.settings.serve, dashboard_token=token)
    collection.settings = msgspec.structs.replace(collection.settings, serve=serve)
    return TestClient(
        create_app(collection),
        base_url=f"http://{host}",
        client=(address, 4321),
        follow_redirects=False,
        raise_server_exceptions=False,
    )


def secret_of(page: str) -> str:
    found = re.search(r'name="form" value="([0-9a-f]{32})"', page)
    assert found
    return found[1]


def told(collection: Collection) -> int:
    return len(CommandLog(collection.folder).read()[0])


@pytest.fixture
def bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize("kind", KINDS)
def test_each_act_needs_its_secret_and_its_origin(collection: Collection, kind: str) -> None:
    client = visitor(collection)
    secret = secret_of(client.get("/crawl").text)
    origins = {
        "own": {"Origin": ORIGIN},
        "none": {},
        "null": {"Origin": "null"},
        "another": {"Origin": "https://evil.example"},
        "another port": {"Origin": "http://127.0.0.1:9999"},
        "own, across sites": {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        "own, of the same site": {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
    }
    secrets = {"own": secret, "none": None, "another": "0" * 32, "empty": "", "long": secret * 2}
    cookies = {"own": dict(client.cookies), "none": {}, "another": dict.fromkeys(client.cookies, "f" * 32)}
    for origin, given, cookie in product(origins, secrets, cookies):
        wrong = sum(each != "own" for each in (origin, given, cookie))
        if wrong > 1 and kind != "seeds":
            continue  # all combinations for one kind, each single fault for the others
        before = told(collection)
        client.cookies.clear()
        client.cookies.update(cookies[cookie])
        data = {"kind": kind, "value": VALUES.get(kind, "")} | (
            {"form": secrets[given]} if secrets[given] is not None else {}
        )
        answer = client.post("/crawl/act", data=data, headers=origins[origin])
        is_right = (origin, given, cookie) == ("own", "own", "own")
        # Without a crawl there is nothing to pause; that is said to those who may ask.
        expected = (400 if kind in ONLY_NOW else 303) if is_right else 403
        assert answer.status_code == expected, (origin, given, cookie, answer.text)
        assert told(collection) == before + (expected == 303)


@pytest.mark.parametrize("path", PATHS)
def test_without_a_token_it_is_for_this_machine_alone(collection: Collection, path: str) -> None:
    strangers = [
        (visitor(collection, address="192.0.2.7"), {}),
        (visitor(collection, address="10.0.0.7"), {}),
        (visitor(collection, host="evil.example:8080"), {}),
        (visitor(collection, host="127.0.0.1.evil.example"), {}),
        *(
            (visitor(collection), {name: "192.0.2.7"})
            for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
        ),
    ]
    for client, headers in strangers:
        answer = client.get(path, headers=headers)
        assert answer.status_code == 403 and "only on this machine" in answer.text
        assert (
            client.post(
                "/crawl/act", data={"kind": "stop"}, headers={"Origin": ORIGIN, **headers}
            ).status_code
            == 403
        )
    for host in ("localhost:8080", "127.0.0.1", "[::1]:8080"):
        assert visitor(collection, host=host).get("/crawl").status_code == 200
    assert visitor(collection, address="::1").get("/crawl").status_code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7"])
def test_with_a_token_it_is_for_whoever_has_it(
    collection: Collection, bearer: dict[str, str], address: str
) -> None:
    client = visitor(collection, token=TOKEN, address=address)
    for path in PATHS:
        answer = client.get(path)
        assert answer.status_code == 401 and "needs its token" in answer.text
        wrong = {"Authorization": "Bearer another"}
        assert client.get(path, headers=wrong).status_code == 401
    assert client.get("/crawl", headers=bearer).status_code == 200

    # The token alone is not enough to act: the form and the origin must be right as well.
    act = {"kind": "delay", "value": "1"}
    before = told(collection)
    assert client.post("/crawl/act", data=act, headers={"Origin": ORIGIN}).status_code == 401
    assert client.post("/crawl/act", data=act, headers=bearer).status_code == 403
    assert client.post("/crawl/act", data=act, headers={**bearer, "Origin": ORIGIN}).status_code == 403
    assert told(collection) == before
    secret = secret_of(client.get("/crawl", headers=bearer).text)
    right = {"headers": {**bearer, "Origin": ORIGIN}, "data": {**act, "form": secret}}
    assert client.post("/crawl/act", **right).status_code == 303  # type: ignore[arg-type]
    assert told(collection) == before + 1


def test_the_form_gives_a_cookie_for_the_token(collection: Collection) -> None:
    client = visitor(collection, token=TOKEN, address="192.0.2.7")
    path = "/crawl/url?url=https%3A%2F%2Fa.example%2F"
    page = client.get(path).text
    assert TOKEN not in page
    form = {"form": secret_of(page), "back": path}
    headers = {"Origin": ORIGIN}
    wrong = client.post("/crawl/login", data={**form, "token": "no"}, headers=headers)
    assert wrong.status_code == 401 and "That is not the token" in wrong.text
    assert client.post("/crawl/login", data={**form, "token": TOKEN}).status_code == 403
    assert client.post("/crawl/login", data={"token": TOKEN}, headers=headers).status_code == 403
    right = client.post("/crawl/login", data={**form, "token": TOKEN}, headers=headers)
    assert right.status_code == 303 and right.headers["location"] == path
    [cookie] = [each for each in right.headers.get_list("set-cookie") if "session" in each]
    assert {"HttpOnly", "SameSite=strict", "Path=/crawl"} <= set(cookie.split("; ")) and TOKEN not in cookie
    assert client.get("/crawl").status_code == 200
    # A cookie of another token opens nothing.
    other = visitor(collection, token="another", address="192.0.2.7")
    other.cookies.update(dict(client.cookies))
    assert other.get("/crawl").status_code == 401


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example/", "/\\evil.example", "/crawl\r\nX: y", ""]
)
def test_an_act_never_leads_elsewhere(collection: Collection, back: str) -> None:
    client = visitor(collection)
    form = {"form": secret_of(client.get("/crawl").text), "kind": "delay", "value": "", "back": back}
    answer = client.post("/crawl/act", data=form, headers={"Origin": ORIGIN})
    assert answer.status_code == 303 and answer.headers["location"] == "/crawl#told"


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"kind": "pause"}, "no crawl is running"),
        ({"kind": "stop"}, "no crawl is running"),
        ({"kind": "resume"}, "no crawl is running"),
        ({"kind": "explode"}, "is not something a crawl can be told"),
        ({"kind": "seeds", "value": "nonsense"}, "is not a URL that can be crawled"),
        ({"kind": "delay", "value": "soon"}, "delay"),
        ({}, "is not something a crawl can be told"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(
    collection: Collection, form: dict[str, str], problem: str
) -> None:
    client = visitor(collection)
    secret = secret_of(client.get("/crawl").text)
    answer = client.post("/crawl/act", data={**form, "form": secret}, headers={"Origin": ORIGIN})
    assert answer.status_code == 400 and problem in answer.text and "Traceback" not in answer.text


def test_pages_are_not_stored_and_not_framed(collection: Collection) -> None:
    answer = visitor(collection).get("/crawl")
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "<script>" not in answer.text and " style=" not in answer.text and " onclick=" not in answer.text


def test_bad_addresses_get_a_sentence(collection: Collection) -> None:
    client = visitor(collection)
    for path in (
        "/crawl/host",
        "/crawl/host?host=",
        "/crawl/host?host=a%20b",
        "/crawl/url",
        "/crawl/url?url=x",
    ):
        answer = client.get(path)
        assert answer.status_code == 400 and "is not a" in answer.text, path
    assert client.get("/crawl/act").status_code == 405
    long = client.post("/crawl/act", content=b"a" * (2 << 20), headers={"Origin": ORIGIN})
    assert long.status_code == 413


@pytest.fixture
def other_engine() -> Iterator[TestClient]:
    yield TestClient(create_app(MemoryEngine([])), base_url=ORIGIN, client=("127.0.0.1", 1))


def test_without_a_collection_there_is_no_crawl(other_engine: TestClient) -> None:
    answer = other_engine.get("/crawl")
    assert answer.status_code == 404 and "no crawl here" in answer.text
