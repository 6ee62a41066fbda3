"""Limits end a crawl, or keep URLs out of it, exactly where they say; filters keep pages out of the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.small_web import Answer, Crawled, Page, SmallWeb, links, urls, words


def wide(name: str, count: int, size: int = 30) -> dict[str, Page]:
    """A first page with links to all others; each has other words."""
    paths = [f"/{number}" for number in range(count)]
    pages: dict[str, Page] = {"/": links(*paths)}
    return pages | {path: f"<p>{words(size, name + path[1:] + 'x')}" for path in paths}


def stored(crawled: Crawled) -> set[str]:
    """The URLs that have a response in the archive."""
    found = set()
    for file in (crawled.collection.folder / "archive").iterdir():
        with file.open("rb") as stream:
            records = [(each.rec_type, each.rec_headers) for each in ArchiveIterator(stream)]
        found |= {headers.get_header("WARC-Target-URI") for kind, headers in records if kind == "response"}
    return found


@pytest.mark.parametrize("most", [1, 7])
def test_max_pages_is_exact_and_counts_anew_in_each_run(most: int, tmp_path: Path) -> None:
    hosts = {f"{name}.test": wide(name, 10) for name in "abc"}
    with SmallWeb(hosts) as web:
        first = web.crawl(tmp_path / "c", *hosts, max_pages=most)
        assert (first.report.pages, first.report.stopped_by) == (most, "max_pages")
        assert sum(len(web.paths(host)) for host in hosts) == most
        second = web.crawl(tmp_path / "c", max_pages=most)
        assert second.report.pages == sum(len(web.paths(host)) for host in hosts) == 2 * most
        last = web.crawl(tmp_path / "c", max_pages=0)
        assert (last.report.pages, last.report.stopped_by, last.report.waiting) == (33, None, 0)
        assert all(len(web.paths(host)) == len(set(web.paths(host))) == 11 for host in hosts)


def test_max_pages_ends_a_crawl_at_once(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": "<p>The only page."},
        "b.test": {"/robots.txt": Answer(wait=0.1), "/": "<p>One too many."},
    }
    with SmallWeb(hosts) as web:
        # It is a race between two threads, which the crawl loses two times out of three.
        for attempt in range(8):
            crawled = web.crawl(tmp_path / str(attempt), *hosts, max_pages=1, max_time=1.0)
            assert crawled.report.stopped_by == "max_pages"


def test_what_failed_does_not_count_as_a_page(tmp_path: Path) -> None:
    pages = wide("a", 6) | {"/0": Answer("x" * 2000), "/1": Answer("x" * 2000)}
    with SmallWeb({"a.test": pages}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_pages=5, max_bytes=1024)
        assert crawled.report.pages == 5 and crawled.report.outcomes[Outcome.TOO_LARGE] == 2
        assert len(web.paths("a.test")) == 7


def test_max_depth(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"/{step}": links(f"/{step + 1}", text=words(9, f"s{step}")) for step in range(5)
    }
    with SmallWeb({"a.test": {"/": links("/0"), **pages}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_depth=2)
        assert {row.url: row.depth for row in crawled.rows()} == {
            web.url("a.test"): 0,
            web.url("a.test", "/0"): 1,
            web.url("a.test", "/1"): 2,
        }


def test_max_site_depth_counts_from_where_a_host_was_entered(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": {}, "b.test": {}}
    with SmallWeb(hosts) as web:
        for name, pages in hosts.items():
            for step in range(4):
                here = "/" if step == 0 else f"/{step}"
                pages[here] = links(f"/{step + 1}", text=words(9, f"{name[0]}{step}x"))
        hosts["a.test"]["/1"] = links("/2", web.url("b.test"), text=words(9, "both"))
        crawled = web.crawl(tmp_path / "c", "a.test", scope="any", max_site_depth=1)
        assert {row.url: row.depth for row in crawled.rows()} == {
            web.url("a.test"): 0,
            web.url("a.test", "/1"): 1,
            web.url("b.test"): 2,
            web.url("b.test", "/1"): 3,
        }
        story = crawled.collection.why(web.url("b.test", "/2"))
        assert "it is deeper in its site than max_site_depth (1)" in str(story)


def test_max_links_are_the_first_in_scope(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(5)]
    pages: dict[str, Page] = {path: f"<p>{words(9, path[1:] + 'x')}" for path in paths}
    with SmallWeb({"a.test": pages}) as web:
        pages["/"] = links("http://elsewhere.test/", paths[0], "/skipped", *paths[1:])
        crawled = web.crawl(tmp_path / "c", "a.test", max_links=3, exclude="skipped")
        assert crawled.fetched() == urls(web, "a.test", ["/", *paths[:3]])
        assert "max_links (3)" in str(crawled.collection.why(web.url("a.test", "/3")))


def test_max_per_domain_is_exact_over_hosts_and_runs(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {f"{name}.example.co.uk": wide(name, 9) for name in "abc"}
    hosts["other.co.uk"] = wide("other", 3)
    # A page that fails takes no place.
    for name in "abc":
        hosts[f"{name}.example.co.uk"]["/0"] = Answer("x" * 2000)
    with SmallWeb(hosts) as web:
        chosen = {"max_per_domain": 7, "max_bytes": 1024, "scope": "host"}
        web.crawl(tmp_path / "c", *hosts, max_pages=4, **chosen)
        crawled = web.crawl(tmp_path / "c", max_pages=0, **chosen)
        fetched = crawled.fetched()
        assert sum("example.co.uk" in url for url in fetched) == 7
        assert sum("other.co.uk" in url for url in fetched) == 4
        over = {row.detail for row in crawled.rows() if row.outcome is Outcome.LIMIT}
        assert over == {"max_per_domain is 7"}
        assert crawled.report.waiting == 0
        # A larger limit later applies to what is found from then on, and counts what there is.
        assert web.crawl(tmp_path / "c", **chosen).fetched() == fetched


def test_max_per_host_holds_over_runs(tmp_path: Path) -> None:
    hosts = {"a.test": wide("a", 9), "b.test": wide("b", 2)}
    with SmallWeb(hosts) as web:
        web.crawl(tmp_path / "c", *hosts, max_per_host=4, max_pages=4)
        crawled = web.crawl(tmp_path / "c", max_per_host=4, max_pages=0)
        assert len(web.paths("a.test")) == 4 and len(web.paths("b.test")) == 3
        over = [row for row in crawled.rows() if row.outcome is Outcome.LIMIT]
        assert len(over) == 6 and {row.detail for row in over} == {"max_per_host is 4"}
        assert crawled.report.waiting == 0


def test_max_share_is_a_share_of_max_pages(tmp_path: Path) -> None:
    hosts = {"a.test": wide("a", 30), "b.test": wide("b", 2)}
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, max_pages=20, max_share=0.25)
        assert len(web.paths("a.test")) == 5
        assert {row.detail for row in crawled.rows() if row.outcome is Outcome.LIMIT} == {"max_share is 0.25"}


def test_max_share_without_max_pages(tmp_path: Path) -> None:
    hosts = {"a.test": wide("a", 150, size=3), "b.test": wide("b", 2)}
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", *hosts, max_share=0.1)
        # From a thousand pages on shares are taken of what there is.
        assert len(web.paths("a.test")) == 100
        assert sum(row.outcome is Outcome.LIMIT for row in crawled.rows()) == 51


def test_max_volume(tmp_path: Path) -> None:
    pages = wide("a", 100) | {f"/{number}": Answer(b"x" * 10_000, kind="image/png") for number in range(100)}
    with SmallWeb({"a.test": pages}) as web:
        # The rest after each request gives the writer time to count what came before the next one.
        first = web.crawl(tmp_path / "c", "a.test", max_volume=50_000, delay=0.02)
        assert first.report.stopped_by == "max_volume" and first.report.waiting > 0
        assert 5 <= len(web.paths("a.test")) < 101
        last = web.crawl(tmp_path / "c", max_volume=0)
        assert (last.report.waiting, last.report.pages) == (0, 101)
        assert set(web.paths("a.test")) == set(pages)


def test_max_time(tmp_path: Path) -> None:
    with SmallWeb({"a.test": wide("a", 20)}) as web:
        first = web.crawl(tmp_path / "c", "a.test", delay=0.2, max_time=0.5)
        assert first.report.stopped_by == "max_time"
        assert 1 <= len(web.log) <= 5 and first.report.waiting > 0
        assert web.crawl(tmp_path / "c").report.pages == 21
        assert set(web.paths("a.test")) == set(web.hosts["a.test"])


# --- filters ------------------------------------------------------------------------------------------------

ITALIAN = (
    "La città è bella e il mare è vicino, perché non andiamo a vedere che cosa c'è oggi al mercato? " * 3
)
ENGLISH = (
    "The town is beautiful and the sea is near, so why do we not go and see what the market has today? " * 3
)
SITE: dict[str, Page] = {
    "/": links("/it", "/en", "/short", "/text", "/pdf", "/png", text=ENGLISH),
    "/it": f"<html lang=it><title>Ciao</title><p>{ITALIAN}<a href=/behind-it>oltre</a>",
    "/en": f"<html lang=en><title>Hello</title><p>{ENGLISH} Secret.<a href=/behind-en>beyond</a>",
    "/short": "<p>Ok <a href=/behind-short>x</a>",
    "/text": Answer(ENGLISH + "As a text.", kind="text/plain; charset=utf-8"),
    "/pdf": Answer(write_pdf("A document", [ENGLISH]), kind="application/pdf"),
    "/png": Answer(b"\x89PNG", kind="image/png"),
    "/behind-it": links(text=ENGLISH + "Behind the Italian page."),
    "/behind-en": links(text=ENGLISH + "Behind the English page."),
    "/behind-short": links(text=ENGLISH + "Behind the short page."),
}


@pytest.mark.parametrize(
    ("chosen", "refused", "unseen"),
    [
        pytest.param(
            {"types": "text/html"},
            {
                "/text": "its type is text/plain",
                "/pdf": "its type is application/pdf",
                "/png": "its type is image/png",
            },
            set(),
            id="types",
        ),
        pytest.param(
            {"types": "text/*,application/pdf"}, {"/png": "its type is image/png"}, set(), id="type groups"
        ),
        pytest.param({"languages": "en"}, {"/it": "its language is it"}, {"/behind-it"}, id="languages"),
        pytest.param(
            {"min_text": 50}, {"/short": "its text has 4 characters"}, {"/behind-short"}, id="min_text"
        ),
        pytest.param(
            {"drop_matching": "Secret|^Ciao$"},
            {"/it": "it matches drop_matching", "/en": "it matches drop_matching"},
            {"/behind-it", "/behind-en"},
            id="drop_matching",
        ),
        pytest.param(
            {"keep_matching": "[Mm]arket|Ok"},
            {"/it": "it does not match keep_matching"},
            {"/behind-it"},
            id="keep_matching",
        ),
    ],
)
def test_a_filter_keeps_pages_out(
    chosen: dict[str, object], refused: dict[str, str], unseen: set[str], tmp_path: Path
) -> None:
    with SmallWeb({"a.test": SITE}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", **chosen)
        rows = {row.url.removeprefix(web.url("a.test", "")): row for row in crawled.rows()}
        filtered = {path: row.detail for path, row in rows.items() if row.outcome is Outcome.FILTERED}
        filtered.pop("/short") if "languages" in chosen else None  # whose language nobody knows
        assert filtered == refused
        assert unseen.isdisjoint(web.paths("a.test"))
        kept = {path for path, row in rows.items() if row.outcome is Outcome.FETCHED}
        assert stored(crawled) == urls(web, "a.test", sorted(kept))
        assert all(rows[path].length == 0 and rows[path].digest is None for path in refused)


def test_max_text_keeps_long_pages_out(tmp_path: Path) -> None:
    with SmallWeb({"a.test": SITE}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_text=250)
        assert crawled.report.pages == 0 and web.paths("a.test") == ["/"]
        detail = crawled.row(web.url("a.test")).detail
        assert detail.startswith("its text has ") and detail.endswith(" characters")


@pytest.mark.parametrize("pattern", [r"\bmarket\b", r"(?i)MARKET", r"market\s\w+", "città"])
def test_patterns_for_texts_are_those_that_people_write(pattern: str, tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links(text=ENGLISH + ITALIAN)}}) as web:
        assert web.crawl(tmp_path / "c", "a.test", keep_matching=pattern).report.pages == 1


def test_a_page_that_was_filtered_out_was_tried_once(tmp_path: Path) -> None:
    broken = Answer("no gzip", headers={"Content-Encoding": "gzip"})
    with SmallWeb(
        {"a.test": SITE | {"/": links("/short", "/broken", text=ENGLISH), "/broken": broken}}
    ) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", min_text=50)
        rows = [crawled.row(web.url("a.test", path)) for path in ("/short", "/broken")]
        assert [row.outcome for row in rows] == [Outcome.FILTERED, Outcome.BAD_ENCODING]
        assert [row.attempts for row in rows] == [1, 1]
        notes = [each for each in crawled.decisions() if each["event"] in ("filtered out", "does not decode")]
        assert [each["attempt"] for each in notes] == [1, 1]
