"""A crawl of many hosts: all are found, each is visited politely, and the report says how idle the slots were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawling import run_crawl
from tests.many_hosts import ManyHosts
from tests.politeness import at_once, too_close

HOSTS, PAGES = 300, 4
DELAY = 0.5
CONNECTIONS = 32


@pytest.mark.alone
def test_many_hosts_are_crawled_at_once(tmp_path: Path) -> None:
    with ManyHosts(HOSTS, PAGES, think=0.05) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        crawled = run_crawl(
            tmp_path / "c",
            web.seeds,
            *("--hosts-file", hosts_file, "--allow-private", "--scope", "any"),
            *("--delay", DELAY, "--address-delay", 0, "--connections", CONNECTIONS),
        )
        assert set(crawled.fetched()) == web.urls()
        assert too_close(web.hits(), DELAY) == []
        assert CONNECTIONS / 2 < at_once(web.hits()) <= CONNECTIONS
    assert len(web) == HOSTS * (PAGES + 1)
    # One host after the other would take ten minutes.
    assert crawled.seconds < 60
    assert 0 <= crawled.report["idle_share"] <= 1


def test_the_names_and_addresses_are_all_different(tmp_path: Path) -> None:
    with ManyHosts(20_000, 1) as web:
        lines = web.write_hosts_file(tmp_path / "hosts").read_text().splitlines()
        addresses, names = zip(*(line.split() for line in lines), strict=True)
        assert len(set(addresses)) == len(set(names)) == 20_000
        assert all(address.startswith("127.") for address in addresses)
    with ManyHosts(7, 1, per_address=3) as web:
        assert [web.address(host) for host in range(7)].count("127.1.0.1") == 3
