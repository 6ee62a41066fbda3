"""A crawl within its bounds: connections, hosts in memory, room between the threads; and hosts that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from crivello.store import Outcome
from tests.politeness import at_once, overlaps
from tests.small_web import Answer, Page, Query, SmallWeb, links, urls, words


def hosts_of(count: int, page: Page) -> dict[str, dict[str, Page]]:
    return {f"h{number}.test": {"/": page} for number in range(count)}


@pytest.mark.parametrize("most", [1, 3])
def test_so_many_hosts_at_once_and_no_more(most: int, tmp_path: Path) -> None:
    hosts = hosts_of(8, Answer("<p>Slowly.", wait=0.03))
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, connections=most)
        assert len(crawled.fetched()) == 8
        assert at_once(web.hits()) <= most


def test_hosts_that_do_not_fit_wait_for_their_turn(tmp_path: Path) -> None:
    def moody(query: Query) -> Answer:
        return Answer(f"<p>{query.path}") if query.times > 1 else Answer(status=503)

    paths = ["/1", "/2"]
    pages: dict[str, Page] = {"/": links(*paths), "/1": moody, "/2": "<p>2"}
    hosts = {f"h{number}.test": pages for number in range(12)}
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, workbench_hosts=2, max_wait=0.05, max_time=30.0)
        assert crawled.report.stopped_by is None
        assert crawled.fetched() == set().union(*(urls(web, host, ["/", *paths]) for host in hosts))
        assert overlaps(web.hits()) == []
        assert all(web.paths(host).count("/1") == 2 for host in hosts), "tried again, once"


BIG = 2_200_000


def test_large_bodies_go_through_little_room(tmp_path: Path) -> None:
    hosts = hosts_of(20, Answer(b"x" * BIG, kind="image/png", wait=0.2))
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, queue_memory=2**20, max_time=30.0)
        assert (crawled.report.pages, crawled.report.stopped_by) == (20, None)


def test_many_large_bodies_at_once_go_through_little_room(tmp_path: Path) -> None:
    hosts = hosts_of(44, Answer(b"x" * BIG, kind="image/png", wait=0.5))
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, queue_memory=2**20, max_time=4.0)
        assert (crawled.report.pages, crawled.report.stopped_by) == (44, None)


@pytest.mark.parametrize("images", [False, True])
def test_images_are_fetched_where_asked_for(images: bool, tmp_path: Path) -> None:
    home = '<img src=/a.png srcset="/b.png 1x, /c.png 2x"><a href=/d.png>linked</a>'
    picture = Answer(b"\x89PNG", kind="image/png")
    with SmallWeb({"a.test": {"/": home, **{f"/{name}.png": picture for name in "abcd"}}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", images=images)
        wanted = "abcd" if images else "d"
        assert sorted(web.paths("a.test")) == ["/", *(f"/{name}.png" for name in wanted)]
        row = crawled.row(web.url("a.test", "/d.png"))
        assert (row.content_type, row.digest, row.status) == ("image/png", None, 200)
        assert crawled.collection.record(row).body == b"\x89PNG"


FAILING = [f"/{number}" for number in range(14)]


def test_a_host_that_hangs_up_is_given_up_after_ten_failures(tmp_path: Path) -> None:
    torn = Answer("<p>Not all of it.", cut=3)
    with SmallWeb({"a.test": {"/": links(*FAILING), **dict.fromkeys(FAILING, torn)}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", retries=0, max_wait=0.02, max_time=30.0)
        assert crawled.report.waiting == 0 and len(web.paths("a.test")) == 1 + 10
        rows = [crawled.row(web.url("a.test", path)) for path in FAILING]
        assert {row.outcome for row in rows} == {Outcome.RESET}
        assert [row.attempts for row in rows] == [1] * 10 + [0] * 4
        assert {row.detail for row in rows[10:]} == {"10 requests in a row failed"}
        # In the next run it has another chance.
        again = web.crawl(tmp_path / "c", web.url("a.test", "/new"))
        assert again.row(web.url("a.test", "/new")).status == 404


def test_a_page_that_is_fine_ends_a_row_of_failures(tmp_path: Path) -> None:
    pages: dict[str, Page] = dict.fromkeys(FAILING, Answer("<p>Not all of it.", cut=3))
    pages["/7"] = "<p>Fine."
    with SmallWeb({"a.test": {"/": links(*FAILING), **pages}}) as web:
        web.crawl(tmp_path / "c", "a.test", retries=0, max_wait=0.02, max_time=30.0)
        assert web.paths("a.test") == ["/", *FAILING]


@pytest.mark.parametrize("retries", [0, 1])
def test_a_host_that_nobody_listens_at_is_given_up(retries: int, tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links("http://b.test:1/x", "http://b.test:1/y")},
        "b.test": {},
    }
    with SmallWeb(hosts) as web:
        crawled = web.crawl(
            tmp_path / "c", "a.test", scope="any", retries=retries, max_wait=0.02, max_time=30.0
        )
        for path in ("x", "y"):
            row = crawled.row(f"http://b.test:1/{path}")
            assert row.outcome is Outcome.REFUSED and row.detail
        asked = [each for each in crawled.decisions() if each["url"] == "http://b.test:1/robots.txt"]
        assert [each["event"] for each in asked] == ["robots.txt"] * retries + ["host given up"]


def test_conditions_of_the_whole_report_add_up(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(6)]
    pages: dict[str, Page] = {path: links("/", *paths, text=words(40, f"p{path[1:]}x")) for path in paths}
    with SmallWeb({"a.test": {"/": links(*paths), **pages}}) as web:
        report = web.crawl(tmp_path / "c", "a.test").report
        assert report.pages == report.seen == 7 and report.waiting == 0
        assert report.to_dict()["links"] == 6 + 6 * 7
