"""What goes out with a request: who we are, languages, cookies, and the way through a proxy."""

from __future__ import annotations

import base64
from importlib.metadata import version
from pathlib import Path

import pytest

from crivello.store import Outcome
from tests.politeness import at_once, overlaps
from tests.small_web import Answer, Page, Query, SmallWeb, links, redirect, rules, words


def test_requests_say_who_we_are(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links("/page"), "/page": "<p>"}}) as web:
        web.crawl(
            tmp_path / "c",
            "a.test",
            user_agent="Finder",
            contact="mailto:a@b.test",
            accept_language="it, en;q=0.5",
        )
        assert [each.path for each in web.log] == ["/robots.txt", "/", "/page"]
        for each in web.log:
            assert each.headers["user-agent"] == f"Finder/{version('crivello')} (+mailto:a@b.test)"
            assert each.headers["accept-language"] == "it, en;q=0.5"
            assert each.headers["host"] == f"a.test:{web.port}"
            assert {"cookie", "referer", "authorization"}.isdisjoint(each.headers)


def test_by_default_no_language_is_asked_for(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": "<p>"}}) as web:
        web.crawl(tmp_path / "c", "a.test")
        assert all("accept-language" not in each.headers for each in web.log)
        assert {each.headers["user-agent"] for each in web.log} == {f"crivello/{version('crivello')}"}


# --- cookies ------------------------------------------------------------------------------------------------


def baked(*cookies: str, page: str = "<p>") -> Answer:
    return Answer(page, headers={"Set-Cookie": cookies[0]} if cookies else {})


def shop() -> dict[str, Page]:
    """A shop that gives a cookie with its first page, another with a redirect, and a third in one of its corners."""
    home = links("/enter", "/shop/list", "/other")
    return {
        "/robots.txt": Answer("", headers={"Set-Cookie": "robots=1"}, kind="text/plain"),
        "/": baked("visit=7; Path=/; HttpOnly", page=home),
        "/enter": Answer(status=302, headers={"Location": "/shop/in", "Set-Cookie": "door=open; Path=/shop"}),
        "/shop/in": "<p>In.",
        "/shop/list": baked("list=1", page=links("/shop/item", "/secret")),
        "/shop/item": baked("visit=; Path=/; Max-Age=0", page=links("/shop/last", text=words(9))),
        "/shop/last": links("/last", text=words(9, "l")),
        "/last": "<p>Last.",
        "/secret": baked("hidden=1; Secure; Path=/"),
        "/other": "<p>Other.",
    }


def test_cookies_are_not_kept_by_default(tmp_path: Path) -> None:
    with SmallWeb({"a.test": shop()}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        assert len(crawled.fetched()) == 8
        assert all("cookie" not in each.headers for each in web.log)


def test_cookies_go_back_where_they_belong(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": shop(), "b.test": {"/": "<p>Another host."}}
    with SmallWeb(hosts) as web:
        web.crawl(tmp_path / "c", "a.test", "b.test", cookies=True)
        sent = {each.path: each.headers.get("cookie") for each in web.log if each.host == "a.test"}
        assert sent["/robots.txt"] is None and sent["/"] is None
        assert sent["/enter"] == sent["/other"] == "visit=7"
        assert sent["/shop/list"] == "door=open; visit=7"
        assert set((sent["/shop/in"] or "").split("; ")) >= {"door=open", "visit=7"}
        assert set((sent["/shop/item"] or "").split("; ")) == {"door=open", "list=1", "visit=7"}
        assert set((sent["/shop/last"] or "").split("; ")) == {"door=open", "list=1"}, "one is over"
        assert sent["/last"] is None, "a secure one does not go out in the open"
        assert all("cookie" not in each.headers for each in web.log if each.host == "b.test")


# --- a proxy ------------------------------------------------------------------------------------------------


def test_everything_goes_through_the_proxy(tmp_path: Path) -> None:
    names = [f"{letter}.nowhere.test" for letter in "abcd"]
    slow: dict[str, Page] = {path: Answer(words(9, path), wait=0.1) for path in ("/1", "/2", "/3")}
    robots = rules("User-agent: *", "Disallow: /3")
    with SmallWeb({name: {"/robots.txt": robots, "/": links(*slow), **slow} for name in names}) as web:
        proxy = f"http://Aladdin:open%20sesame@127.3.9.9:{web.port}"
        seeds = [f"http://{name}/" for name in names]
        crawled = web.crawl(tmp_path / "c", *seeds, proxy=proxy, hosts_file=None, max_time=20.0)
        assert crawled.fetched() == {f"http://{name}{path}" for name in names for path in ("/", "/1", "/2")}
        assert {each.address for each in web.log} == {"127.3.9.9"}
        credentials = base64.b64encode(b"Aladdin:open sesame").decode()
        assert {each.headers["proxy-authorization"] for each in web.log} == {f"Basic {credentials}"}
        assert {each.headers["host"] for each in web.log} == set(names)
        # The proxy's address is not that of the hosts: they are visited at once, but each by itself.
        hits = [hit._replace(address=hit.host) for hit in web.hits()]
        assert at_once(hits) > 1 and overlaps(hits) == []


def test_a_robots_txt_elsewhere_is_had_through_the_proxy(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.nowhere.test": {
            "/robots.txt": redirect("http://b.nowhere.test/rules"),
            "/": links("/no"),
            "/no": "<p>",
        },
        "b.nowhere.test": {"/rules": rules("User-agent: *", "Disallow: /no")},
    }
    with SmallWeb(hosts) as web:
        proxy = f"http://127.3.9.9:{web.port}"
        crawled = web.crawl(
            tmp_path / "c", "http://a.nowhere.test/", proxy=proxy, hosts_file=None, max_time=20.0
        )
        assert crawled.row("http://a.nowhere.test/no").outcome is Outcome.ROBOTS
        assert all("proxy-authorization" not in each.headers for each in web.log)


def test_the_password_of_a_proxy_is_told_to_nobody_else(tmp_path: Path) -> None:
    with SmallWeb({"a.nowhere.test": {"/": "<p>"}}) as web:
        proxy = f"http://Aladdin:sesame@127.3.9.9:{web.port}"
        crawled = web.crawl(tmp_path / "c", "http://a.nowhere.test/", proxy=proxy, hosts_file=None)
        record = crawled.collection.record(crawled.row("http://a.nowhere.test/"))
        assert "sesame" not in str(record.headers)
        log = "".join(map(str, crawled.decisions()))
        assert "sesame" not in log and "QWxhZGRpbg" not in log


@pytest.mark.parametrize("answer", [Answer(status=407), None], ids=["wants credentials", "is away"])
def test_a_proxy_that_does_not_work_has_its_class(answer: Answer | None, tmp_path: Path) -> None:
    with SmallWeb({"a.nowhere.test": {"/": answer or "", "/robots.txt": answer or ""}}) as web:
        port = web.port if answer else 1
        proxy = f"http://127.3.9.9:{port}"
        crawled = web.crawl(
            tmp_path / "c",
            "http://a.nowhere.test/",
            proxy=proxy,
            hosts_file=None,
            max_wait=0.05,
            max_time=20.0,
        )
        row = crawled.row("http://a.nowhere.test/")
        assert (row.outcome, row.status) == (Outcome.PROXY, None)


def test_a_hosts_file_wins_and_a_name_that_is_in_none_is_no_host(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": {"/": ""}, "b.test": {"/": "<p>b"}}
    with SmallWeb(hosts, {"b.test": "127.3.7.7"}) as web:
        hosts["a.test"]["/"] = links(web.url("b.test"), web.url("missing.invalid"))
        crawled = web.crawl(tmp_path / "c", "a.test", scope="any", max_wait=0.05, max_time=20.0)
        assert crawled.row(web.url("b.test")).address == "127.3.7.7"
        assert crawled.row(web.url("missing.invalid")).outcome is Outcome.DNS


def test_a_kept_connection_that_was_closed_is_made_anew(tmp_path: Path) -> None:
    def closing(query: Query) -> Answer:
        return Answer(f"<p>{query.path}", headers={"Connection": "close"})

    paths = [f"/{number}" for number in range(4)]
    with SmallWeb({"a.test": {"/": links(*paths), **dict.fromkeys(paths, closing)}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", retries=0)
        assert len(crawled.fetched()) == 5 and len(web.log) == 6
