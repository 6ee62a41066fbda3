"""The rests of a crawl, one reason for each: what the server sees is never sooner than what it asked for."""

from __future__ import annotations

import time
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.politeness import impatient, too_close
from tests.small_web import Answer, Page, Query, SmallWeb, links, redirect, rules

PAGES = [f"/{number}" for number in range(5)]
SOON = 20.0
"""No crawl here may take longer."""


def site(**others: Page) -> dict[str, Page]:
    """A first page with a few others behind it."""
    pages: dict[str, Page] = {"/": links(*PAGES, *(f"/{name}" for name in others))}
    return (
        pages
        | {path: f"<p>Page {path}" for path in PAGES}
        | {f"/{name}": page for name, page in others.items()}
    )


@pytest.mark.parametrize("politeness", [{"delay": 0.0}, {"delay": None}], ids=["absolute", "relative"])
def test_crawl_delay_is_respected(politeness: dict[str, object], tmp_path: Path) -> None:
    robots = rules("User-agent: *", "Crawl-delay: 0.12")
    with SmallWeb({"a.test": {"/robots.txt": robots, **site()}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", **politeness)
        assert len(crawled.fetched()) == 6
        assert len(web.gaps("a.test")) == 6 and min(web.gaps("a.test")) >= 0.12


def test_crawl_delay_counts_up_to_a_limit(tmp_path: Path) -> None:
    robots = rules("User-agent: *", "Crawl-delay: 1000")
    with SmallWeb({"a.test": {"/robots.txt": robots, **site()}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_crawl_delay=0.1, max_time=SOON)
        assert len(crawled.fetched()) == 6 and crawled.report.stopped_by is None
        assert min(web.gaps("a.test")) >= 0.1


def test_a_crawl_delay_for_another_crawler_is_not_ours(tmp_path: Path) -> None:
    robots = rules("User-agent: othello", "Crawl-delay: 1000", "", "User-agent: *", "Disallow: /1")
    with SmallWeb({"a.test": {"/robots.txt": robots, **site()}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_time=SOON)
        assert len(crawled.fetched()) == 5 and crawled.report.stopped_by is None


def test_a_burst_is_a_few_requests_before_the_pause(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", delay=0.4, burst=3)
        assert len(crawled.fetched()) == 6
        gaps = web.gaps("a.test")
        assert all(max(gaps[place : place + 3]) >= 0.4 for place in range(len(gaps) - 2))
        assert sum(gap >= 0.4 for gap in gaps) < len(gaps), "some requests follow at once"


def later(seconds: float) -> str:
    """The first whole second that is at least so far away, as HTTP writes it."""
    return formatdate(int(time.time() + seconds) + 1, usegmt=True)


@pytest.mark.parametrize(("status", "form"), [(429, "seconds"), (503, "date")])
def test_retry_after_is_respected(status: int, form: str, tmp_path: Path) -> None:
    def busy(query: Query) -> Answer:
        if query.times > 1:
            return Answer("<p>Here it is.")
        return Answer(status=status, headers={"Retry-After": "1" if form == "seconds" else later(1)})

    with SmallWeb({"a.test": site(busy=busy)}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_time=SOON)
        row = crawled.row(web.url("a.test", "/busy"))
        assert (row.status, row.attempts) == (200, 2)
        # Not only that page: the whole host rests, longer than the half second that an error costs anyway.
        [place] = [number for number, each in enumerate(web.log) if each.path == "/busy"][:1]
        assert web.gaps("a.test")[place] >= 1
        [note] = [each for each in crawled.decisions() if each["event"] == "tried again"]
        assert (note["status"], note["attempt"], note["detail"]) == (status, 1, f"the host answers {status}")


def test_retry_after_counts_up_to_a_limit(tmp_path: Path) -> None:
    def busy(query: Query) -> Answer:
        return Answer("ok") if query.times > 1 else Answer(status=503, headers={"Retry-After": "86400"})

    with SmallWeb({"a.test": site(busy=busy)}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_wait=0.3, max_time=SOON)
        assert crawled.report.stopped_by is None and crawled.row(web.url("a.test", "/busy")).status == 200
        assert min(web.gaps("a.test", "/busy")) >= 0.3


def test_errors_double_the_wait_and_end(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": Answer(status=503)}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", retries=2, max_time=SOON)
        first, second = web.gaps("a.test", "/")
        assert first >= 0.5 and second >= 1.0
        row = crawled.row(web.url("a.test"))
        assert (row.status, row.attempts) == (503, 3)


def test_retry_after_counts_for_robots_txt(tmp_path: Path) -> None:
    def busy(query: Query) -> Answer:
        return rules("") if query.times > 1 else Answer(status=503, headers={"Retry-After": "1"})

    with SmallWeb({"a.test": {"/robots.txt": busy, **site()}}) as web:
        assert len(web.crawl(tmp_path / "c", "a.test", max_time=SOON).fetched()) == 6
        assert min(web.gaps("a.test", "/robots.txt")) >= 1


def test_a_busy_answer_makes_the_host_rest_also_in_the_next_run(tmp_path: Path) -> None:
    busy = Answer(status=503, headers={"Retry-After": "1"})
    with SmallWeb({"a.test": site(busy=busy)}) as web:
        web.crawl(tmp_path / "c", "a.test", retries=0, max_pages=7, max_time=SOON)
        answered = next(each.end for each in web.log if each.path == "/busy")
        web.crawl(tmp_path / "c", web.url("a.test", "/0?more"), retries=0, max_time=SOON)
        assert web.log[-1].path == "/0?more"
        assert web.log[-1].start - answered >= 1


def test_hosts_on_one_address_take_turns(tmp_path: Path) -> None:
    names = ["a.test", "b.test", "c.test"]
    with SmallWeb(dict.fromkeys(names, site()), dict.fromkeys(names, "127.3.1.1")) as web:
        crawled = web.crawl(tmp_path / "c", *names, address_delay=0.05, max_time=SOON)
        assert len(crawled.fetched()) == 18
        assert too_close(web.hits(), 0.0, 0.05) == []
        assert {each.address for each in web.log} == {"127.3.1.1"}


def test_an_address_rests_a_quarter_of_what_a_host_rests(tmp_path: Path) -> None:
    names = ["a.test", "b.test"]
    with SmallWeb(dict.fromkeys(names, site()), dict.fromkeys(names, "127.3.1.1")) as web:
        web.crawl(tmp_path / "c", *names, delay=0.12, max_time=SOON)
        assert len(web.log) == 14
        assert too_close(web.hits(), 0.12, 0.03) == []


@pytest.mark.alone
def test_relative_politeness_ends_a_visit_after_its_requests_and_hangs_up(tmp_path: Path) -> None:
    pages: dict[str, Page] = {path: Answer(f"<p>Page {path}", wait=0.01) for path in PAGES}
    with SmallWeb({"a.test": {"/": links(*PAGES), **pages}}) as web:
        web.crawl(tmp_path / "c", "a.test", delay=None, visit_requests=3, visit_share=0.5, max_time=SOON)
        visits: dict[int, int] = {}
        for each in web.log:
            visits[each.connection] = visits.get(each.connection, 0) + 1
        assert sum(visits.values()) == 7 and max(visits.values()) == 3
        assert impatient(web.hits(), 0.5, most=3) == []


@pytest.mark.alone
def test_relative_politeness_ends_a_visit_after_its_time(tmp_path: Path) -> None:
    pages: dict[str, Page] = {path: Answer(f"<p>Page {path}", wait=0.06) for path in PAGES}
    with SmallWeb({"a.test": {"/": links(*PAGES), **pages}}) as web:
        web.crawl(tmp_path / "c", "a.test", delay=None, visit_time=0.1, visit_share=1.0, max_time=SOON)
        assert len(web.log) == 7
        assert impatient(web.hits(), 1.0, stay=0.1) == []


@pytest.mark.parametrize("chosen", [{}, {"politeness": "relative"}])
def test_a_delay_makes_politeness_absolute(chosen: dict[str, object], tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        web.crawl(tmp_path / "c", "a.test", delay=0.15, **chosen)
        assert len(web.gaps("a.test")) == 6 and min(web.gaps("a.test")) >= 0.15
        assert len({each.connection for each in web.log}) == 1, "a short rest does not cost the connection"


def test_absolute_politeness_leaves_four_seconds(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", delay=None, politeness="absolute", max_time=3.0)
        assert crawled.report.stopped_by == "max_time" and len(web.log) == 1


def test_a_redirect_is_a_request_of_its_own(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": redirect("/1"), "/1": redirect("/2"), "/2": "<p>There."}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", delay=0.1)
        assert crawled.fetched() == {web.url("a.test", "/2")}
        assert len(web.gaps("a.test")) == 3 and min(web.gaps("a.test")) >= 0.1
