"""The log of decisions: after runs that were not killed, each URL has its end exactly once, as its row has it."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest

from crivello.store import Outcome
from tests.small_web import Answer, Crawled, Page, Query, SmallWeb, links, redirect, rules, words

ENDS = {outcome.value for outcome in Outcome}
NOTES = {"seed", "tried again", "robots.txt", "host given up"}


def moody(query: Query) -> Answer:
    return Answer("<p>At last.") if query.times > 1 else Answer(status=503)


def everything() -> dict[str, dict[str, Page]]:
    """A host on which most things happen, and one that is not to be had."""
    paths = [
        "/page",
        "/copy",
        "/moved",
        "/gone",
        "/closed",
        "/busy",
        "/moody",
        "/large",
        "/broken",
        "/picture",
    ]
    text = words(80)
    return {
        "a.test": {
            "/robots.txt": rules("User-agent: *", "Disallow: /closed"),
            "/": links(*paths, "/r/r/r/r/r", "http://b.test:1/", "http://missing.invalid/"),
            "/page": links("/", text=text),
            "/copy": links("/page", text=text),
            "/moved": redirect("/page"),
            "/gone": Answer("Gone.", status=410),
            "/busy": Answer(status=503),
            "/moody": moody,
            "/large": Answer("x" * 5000),
            "/broken": Answer("not gzip", headers={"Content-Encoding": "gzip"}),
            "/picture": Answer(b"PNG", kind="image/png"),
        },
        "b.test": {},
    }


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Two runs, the first of which a limit ended."""
    folder = tmp_path_factory.mktemp("log") / "c"
    chosen = {"scope": "any", "max_bytes": 4096, "types": "text/*", "max_wait": 0.05, "retries": 1}
    with SmallWeb(everything()) as web:
        web.crawl(folder, "a.test", **chosen, max_pages=3, max_time=30.0)
        return web.crawl(folder, **chosen, max_pages=0, max_time=30.0)


def test_every_url_has_its_end_exactly_once(crawled: Crawled) -> None:
    ends = Counter(each["url"] for each in crawled.decisions() if each["event"] in ENDS)
    assert set(ends.values()) == {1}
    assert set(ends) == {row.url for row in crawled.rows()} and len(ends) == 14
    assert crawled.report.waiting == 0


def test_the_log_says_what_the_rows_say(crawled: Crawled) -> None:
    rows = {row.url: row for row in crawled.rows()}
    outcomes = Counter(row.outcome for row in rows.values())
    assert set(outcomes) == {
        Outcome.FETCHED,
        Outcome.REDIRECTED,
        Outcome.ROBOTS,
        Outcome.TRAP,
        Outcome.FILTERED,
        Outcome.DNS,
        Outcome.REFUSED,
        Outcome.TOO_LARGE,
        Outcome.BAD_ENCODING,
    }
    assert crawled.report.outcomes == dict(outcomes)
    for each in crawled.decisions():
        assert each["event"] in ENDS | NOTES
        if each["event"] in ENDS:
            row = rows[each["url"]]
            assert each["event"] == row.outcome.value
            assert each.get("detail", "") == row.detail and each.get("status") == row.status
            assert each["attempt"] == row.attempts and each["depth"] == row.depth
            assert each.get("other") == (row.redirect or row.duplicate_of or row.near_duplicate_of)


def test_every_try_is_in_the_log(crawled: Crawled) -> None:
    noted = crawled.decisions()
    tries = [each["url"] for each in noted if each["event"] == "tried again"]
    assert sorted(url.rpartition("/")[2] for url in tries) == ["busy", "moody"]
    rules_asked = [each for each in noted if each["event"] == "robots.txt" and "a.test" in each["url"]]
    assert [each["status"] for each in rules_asked] == [200], "the second run believed the first"
    given_up = [each["url"] for each in noted if each["event"] == "host given up"]
    assert given_up == ["http://b.test:1/robots.txt"]


def test_duckdb_reads_the_log(crawled: Crawled) -> None:
    files = crawled.collection.folder / "log" / "decisions-*.jsonl"
    counted = duckdb.execute(
        "SELECT event, count(*) FROM read_json(?, sample_size = -1) GROUP BY event", [str(files)]
    ).fetchall()
    assert dict(counted) == Counter(each["event"] for each in crawled.decisions())
    [[distinct]] = duckdb.execute(
        "SELECT count(DISTINCT url) FROM read_json(?, sample_size = -1) WHERE attempt > 0", [str(files)]
    ).fetchall()
    assert distinct >= 8
