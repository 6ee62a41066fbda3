"""Politeness, as the server sees it: no two requests at once at a host or an address, and no gap too short.

Several hosts share each address. ``CRIVELLO_TEST_REQUESTS`` says how many pages are fetched in each crawl; 360
unless it is set.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crivello.lab.web import SampleWeb
from tests.crawling import run_crawl
from tests.many_hosts import ManyHosts
from tests.politeness import (
    Hit,
    at_once,
    from_nginx,
    from_sample_web,
    impatient,
    overlaps,
    too_close,
)

REQUESTS = int(os.environ.get("CRIVELLO_TEST_REQUESTS", "360"))
PER_ADDRESS = 3
PAGES = 12
HOSTS = max(PER_ADDRESS, REQUESTS // PAGES)
SLOW_HOST = 1
CRAWL_DELAY = 0.3


def robots(host: int) -> str:
    return (
        f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n" if host == SLOW_HOST else "User-agent: *\nDisallow:\n"
    )


def crawl_politely(tmp_path: Path, *flags: object) -> tuple[ManyHosts, list[Hit]]:
    # A request that takes a while on the server cannot be mistaken for a rest.
    with ManyHosts(HOSTS, PAGES, per_address=PER_ADDRESS, think=0.004, robots=robots) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        flags = ("--scope", "any", "--hosts-file", hosts_file, "--allow-private", *flags)
        crawled = run_crawl(tmp_path / "c", web.seeds, *flags, timeout=240)
        assert set(crawled.fetched()) == web.urls()
        hits = list(web.hits())
    assert len(hits) >= HOSTS * PAGES
    return web, hits


def test_absolute_politeness_leaves_a_gap_between_requests(tmp_path: Path) -> None:
    web, hits = crawl_politely(tmp_path, "--delay", 0.2, "--address-delay", 0.05)
    assert too_close(hits, 0.2, 0.05) == []
    assert too_close([hit for hit in hits if hit.host == web.name(SLOW_HOST)], CRAWL_DELAY) == []


@pytest.mark.alone
def test_relative_politeness_rests_for_what_a_visit_took(tmp_path: Path) -> None:
    web, hits = crawl_politely(tmp_path, "--politeness", "relative", "--address-delay", 0.05)
    assert impatient(hits, 0.2, address_delay=0.05) == []
    assert too_close([hit for hit in hits if hit.host == web.name(SLOW_HOST)], CRAWL_DELAY) == []
    # A visit is more than one request, or there would be nothing relative about it.
    assert impatient([hit for hit in hits if hit.host != web.name(SLOW_HOST)], 0.2, most=1) != []


def test_a_sample_web_is_treated_politely(tmp_path: Path) -> None:
    with SampleWeb(hosts=4, pages_per_host=6, slow=0.01) as web:
        run_crawl(tmp_path / "c", web.seeds, "--delay", 0.05, "--max-time", 5)
        hits = list(from_sample_web(web.log))
    assert len(hits) > 40
    assert too_close(hits, 0.05) == []


def hit(start: float, end: float, host: str = "a", address: str = "1") -> Hit:
    return Hit(start, end, host, address, 1)


def test_the_checker_sees_what_is_impolite() -> None:
    assert overlaps([hit(0, 1), hit(1, 2)]) == []
    assert len(overlaps([hit(0, 1), hit(0.5, 2)])) == 2, "at the host, and at the address"
    assert len(overlaps([hit(0, 1), hit(0.5, 2, host="b")])) == 1, "at the address"
    assert overlaps([hit(0, 1), hit(0.5, 2, "b", "2")]) == []
    assert at_once([]) == 0
    assert at_once([hit(0, 1), hit(1, 2), hit(0.5, 3), hit(2.5, 4)]) == 2
    assert too_close([hit(0, 1), hit(1.2, 2)], 0.2) == []
    assert len(too_close([hit(0, 1), hit(1.19, 2)], 0.2)) == 1

    visit = [hit(place / 100, place / 100 + 0.009) for place in range(10)]
    rested = [hit(0.6, 0.61)]
    assert impatient([*visit, *rested], 0.2) == []
    assert impatient([*visit, *rested], 0.1), "the rest is too short for this share"
    assert impatient([*visit, hit(0.1, 0.109), *rested], 0.2), "eleven requests are too many"
    assert impatient([hit(0, 0.5), hit(0.5, 1.2), hit(1.2, 1.3)], 0.2), "the third began after the stay"
    assert impatient([*visit, hit(0.11, 0.12, host="b")], 0.2, address_delay=0.1)


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_log_of_nginx_is_read(tmp_path: Path, end: str) -> None:
    log = tmp_path / "access.log"
    log.write_text(
        '1000.500 0.250 a.test 127.0.1.1 7 200 99 "GET /doc/ HTTP/1.1" "crivello/0.1 (+x)"\n'
        f'1001.000 0.000 b.test 127.0.1.2 8 404 9 "GET /a b" "-"{end}'
    )
    assert list(from_nginx(log)) == [
        Hit(1000.25, 1000.5, "a.test", "127.0.1.1", 7),
        Hit(1001.0, 1001.0, "b.test", "127.0.1.2", 8),
    ]
