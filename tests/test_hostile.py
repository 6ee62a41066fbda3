"""Hostile hosts, all in one crawl: each ends in its class of error within its limit, and a healthy host beside them
is crawled whole meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crivello import Collection
from crivello.store import Row
from tests.crawling import Crawled, run_crawl
from tests.hostile import BEHAVIOURS, HEALTHY, HEALTHY_PAGES, LINKS, LONG, NESTED_BYTES, Hostiles

TIMEOUT = 4.0
MAX_BYTES = 12 * 2**20
MAX_PER_HOST = 300
MAX_REDIRECTS = 8
# What lies in the sockets' buffers when a client has had enough.
UNDERWAY = 16 * 2**20

OUTCOMES = {
    "endless-body": {"too large"},
    "enormous-body": {"too large"},
    "slow-body": {"timeout"},
    "slow-head": {"timeout"},
    "silent": {"timeout"},
    "gzip-bomb": {"decodes to too much"},
    "zstd-bomb": {"decodes to too much"},
    "redirect-loop": {"redirected"},
    "endless-redirects": {"redirected"},
    "garbage": {"not HTTP"},
    "no-colon": {"not HTTP"},
    "bad-status": {"not HTTP"},
    "zero-in-header": {"not HTTP"},
    "endless-head": {"not HTTP", "too large"},
    "hangs-up": {"connection lost"},
    "short-body": {"connection lost"},
    "long-body": {"fetched"},
    "two-lengths": {"not HTTP"},
    "bad-chunks": {"not HTTP", "connection lost"},
    "many-links": {"fetched"},
    "nested-tags": {"decodes to too much"},
    "long-urls": {"fetched"},
    "long-location": {"not HTTP", "too large"},
    "wrong-charset": {"fetched"},
    "unknown-charset": {"fetched"},
    "gzip-that-is-brotli": {"does not decode"},
    "brotli-that-is-gzip": {"does not decode"},
    "half-a-gzip": {"does not decode"},
    "enormous-robots": {"fetched"},
}


@dataclass(frozen=True)
class Outing:
    """A crawl among hostile hosts, and what they saw of it."""

    web: Hostiles
    crawled: Crawled
    rows: dict[str, Row]

    def outcome(self, name: str, path: str = "/") -> str:
        row = self.rows.get(self.web.url(name, path))
        return row.outcome.value if row else "no row"

    def of_host(self, name: str) -> list[Row]:
        return [row for url, row in self.rows.items() if url.startswith(self.web.url(name))]


def go_out(web: Hostiles, folder: Path, seeds: list[str], max_bytes: int) -> Outing:
    crawled = run_crawl(
        folder / "c",
        seeds,
        *("--hosts-file", web.write_hosts_file(folder / "hosts"), "--allow-private", "--scope", "host"),
        *("--delay", 0, "--address-delay", 0, "--retries", 0, "--connections", 64),
        *("--timeout", TIMEOUT, "--connect-timeout", TIMEOUT, "--first-byte-timeout", TIMEOUT),
        *("--max-bytes", max_bytes, "--max-per-host", MAX_PER_HOST, "--max-redirects", MAX_REDIRECTS),
    )
    return Outing(web, crawled, {row.url: row for row in crawled.rows()})


@pytest.fixture(scope="module")
def outing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outing]:
    with Hostiles() as web:
        yield go_out(web, tmp_path_factory.mktemp("hostile"), web.seeds, MAX_BYTES)


def test_every_behaviour_has_its_class() -> None:
    assert OUTCOMES.keys() == BEHAVIOURS.keys()


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_hostile_page_ends_in_its_class(name: str, outing: Outing) -> None:
    assert outing.outcome(name) in OUTCOMES[name]
    assert outing.outcome(name, "/fine.html") == "fetched", "the rest of the host is crawled all the same"


def test_the_healthy_host_is_crawled_whole(outing: Outing) -> None:
    expected = {
        outing.web.url(HEALTHY, f"/{number or ''}{'.html' if number else ''}")
        for number in range(HEALTHY_PAGES)
    }
    rows = outing.of_host(HEALTHY)
    assert {row.url for row in rows} == expected
    assert {row.outcome.value for row in rows} == {"fetched"}
    witness = outing.web.seen[HEALTHY]
    assert witness.last_asked - witness.first_asked < 15


@pytest.mark.parametrize("name", ["slow-body", "slow-head", "silent"])
def test_time_is_limited(name: str, outing: Outing) -> None:
    assert TIMEOUT - 0.5 < outing.web.seen[name].longest < TIMEOUT + 5


@pytest.mark.parametrize("name", ["endless-body", "enormous-body", "endless-head", "enormous-robots"])
def test_what_is_read_is_limited(name: str, outing: Outing) -> None:
    limit = MAX_BYTES if name == "endless-body" else 0
    assert outing.web.seen[name].sent < limit + UNDERWAY


def test_memory_is_limited(outing: Outing) -> None:
    assert outing.crawled.peak_bytes < 2**30


def test_redirects_end(outing: Outing) -> None:
    loop = outing.of_host("redirect-loop")
    assert {row.url for row in loop if row.outcome.value == "redirected"} == {
        outing.web.url("redirect-loop", path) for path in ("/", "/loop/a", "/loop/b")
    }
    followed = [row for row in outing.of_host("endless-redirects") if row.outcome.value == "redirected"]
    assert len(followed) == MAX_REDIRECTS + 1
    steps = [path for path in outing.web.seen["endless-redirects"].paths if path.startswith("/step-")]
    assert len(steps) == MAX_REDIRECTS


def test_the_rest_of_a_body_is_not_the_next_answer(outing: Outing) -> None:
    collection = Collection(outing.crawled.folder)
    assert collection.text(outing.rows[outing.web.url("long-body")]) == "ten"
    assert "fine page" in collection.text(outing.rows[outing.web.url("long-body", "/fine.html")])


def test_pages_with_too_much_in_them_are_read_as_far_as_is_sensible(outing: Outing) -> None:
    links = outing.of_host("many-links")
    assert sum(row.outcome.value == "fetched" for row in links) == MAX_PER_HOST
    assert len(links) < LINKS
    assert outing.outcome("long-urls", "/behind.html") == "fetched"
    assert max(map(len, outing.web.seen["long-urls"].paths)) < LONG


def test_tags_may_be_nested_as_deeply_as_a_page_has_room_for(tmp_path: Path) -> None:
    with Hostiles() as web:
        outing = go_out(web, tmp_path, [web.url("nested-tags"), web.url(HEALTHY)], NESTED_BYTES + 2**20)
    assert outing.outcome("nested-tags") == "fetched"
    assert outing.outcome("nested-tags", "/behind.html") == "fetched"
    assert len(outing.of_host(HEALTHY)) == HEALTHY_PAGES
    assert outing.crawled.peak_bytes < 2**30


def test_what_is_declared_wrongly_is_read_all_the_same(outing: Outing) -> None:
    collection = Collection(outing.crawled.folder)
    assert "Überall" in collection.text(outing.rows[outing.web.url("wrong-charset")])
    assert "perché la città" in collection.text(outing.rows[outing.web.url("unknown-charset")])


def test_the_beginning_of_an_enormous_robots_txt_counts(outing: Outing) -> None:
    assert outing.outcome("enormous-robots", "/closed/letter.html") == "refused by robots.txt"
    assert outing.outcome("enormous-robots", "/behind.html") == "fetched"
    assert "/closed/letter.html" not in outing.web.seen["enormous-robots"].paths
