"""Revisits: a real server whose pages change, stay, vanish, move and fail, and what the collection and its index
make of it."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crivello
from crivello import Collection
from crivello.crawl import Crawler
from crivello.crawl.revisits import find_due, next_visit
from crivello.errors import CollectionError
from crivello.store import Outcome
from tests.shell import CRIVELLO
from tests.small_web import Answer, Page, SmallWeb, links, redirect, tagged, words
from tests.test_crawl_return import interrupted
from tests.test_shell import complaint
from tests.test_shell import crivello as shell

HOST = "a.test"


def text_page(text: str) -> Page:
    """A page of a paragraph, which answers 304 to those who have it."""
    return tagged(f"<html><body><p>{text}</p></body></html>")


def first() -> dict[str, Page]:
    return {
        "/": links("/same", "/tagged", "/changing", "/vanishing", "/moving", text=words(60, "home")),
        "/same": links(text=words(60, "same")),
        "/tagged": text_page(words(60, "tagged")),
        "/changing": links(text=words(60, "before")),
        "/vanishing": links(text=words(60, "vanishing")),
        "/moving": links(text=words(60, "moving")),
    }


@pytest.fixture
def web() -> Iterator[SmallWeb]:
    with SmallWeb({HOST: first()}) as web:
        yield web


def change(web: SmallWeb) -> None:
    pages: dict[str, Page] = web.hosts[HOST]  # type: ignore[assignment]
    pages["/changing"] = links("/new", text=words(60, "after"))
    pages["/new"] = links(text=words(60, "new"))
    pages["/elsewhere"] = links(text=words(60, "moved"))
    pages["/moving"] = redirect("/elsewhere", 301)
    del pages["/vanishing"]


@pytest.fixture
def folder(web: SmallWeb, tmp_path: Path) -> Path:
    """A collection of the web as it was at first, indexed."""
    folder = tmp_path / "c"
    web.crawl(folder, HOST)
    with crivello.open(folder, write=True) as collection:
        collection.index()
    return folder


def writable(folder: Path, **refresh: object) -> Collection:
    return (
        crivello.open(folder, write=True, refresh=refresh) if refresh else crivello.open(folder, write=True)
    )


def found(collection: Collection, word: str) -> list[str]:
    return [hit.url for hit in collection.search(f"{word}7", correct=False)]


def test_each_page_becomes_what_the_server_says(web: SmallWeb, folder: Path) -> None:
    change(web)
    with writable(folder) as collection:
        counted: list[int] = []
        report = collection.revisit(all=True, on_due=counted.append)
        assert counted == [6]
        assert dict(report.revisits) == {"unchanged": 3, "changed": 1, "moved": 1, "failed": 1}
        assert report.of_run()["revisits"] == dict(report.revisits)
        outcomes = {path: collection.page(web.url(HOST, path)) for path in (*first(), "/new")}
        assert {path: row.outcome for path, row in outcomes.items() if row} == {
            "/": Outcome.NOT_MODIFIED,
            "/same": Outcome.NOT_MODIFIED,
            "/tagged": Outcome.NOT_MODIFIED,
            "/changing": Outcome.FETCHED,
            "/vanishing": Outcome.FETCHED,  # within the grace period
            "/moving": Outcome.REDIRECTED,
            "/new": Outcome.FETCHED,
        }
        with_tag = outcomes["/tagged"]
        assert with_tag and with_tag.status == 304 and with_tag.length
        assert "tagged7" in collection.text(with_tag)
        # A revisit is asked for with the validators of the copy.
        asked = [each.headers.get("if-none-match") for each in web.log if each.path == "/tagged"]
        assert asked[0] is None and asked[1] == with_tag.etag


def test_the_index_follows(web: SmallWeb, folder: Path) -> None:
    change(web)
    with writable(folder, grace=0, min_interval=1) as collection:
        before = {
            word: found(collection, word) for word in ("before", "vanishing", "moving", "same", "tagged")
        }
        assert all(len(urls) == 1 for urls in before.values()), before
        collection.revisit(all=True)
        assert dict(collection.state("crawl")["report"]["revisits"])["gone"] == 1
        indexed = collection.index(progress=False)
        assert found(collection, "before") == [] and found(collection, "vanishing") == []
        assert found(collection, "after") == [web.url(HOST, "/changing")]
        assert found(collection, "moving") == [] and found(collection, "moved") == [
            web.url(HOST, "/elsewhere")
        ]
        assert found(collection, "same") == before["same"] and found(collection, "tagged") == before["tagged"]
        # /changing in place of its older version, /elsewhere and /new; /vanishing and /moving are out.
        assert (indexed.added, indexed.replaced, indexed.deleted, indexed.documents) == (3, 1, 2, 6)
        gone = collection.page(web.url(HOST, "/vanishing"))
        assert gone and gone.outcome is Outcome.GONE
        assert collection.index(progress=False).deleted == 0
        # A rebuilt index is the same.
        assert collection.index(rebuild=True, progress=False).documents == 6
        assert found(collection, "vanishing") == [] and found(collection, "before") == []


def test_a_page_that_names_another_as_canonical_leaves_the_index(web: SmallWeb, folder: Path) -> None:
    head = f'<link rel="canonical" href="{web.url(HOST, "/same")}">'
    web.hosts[HOST]["/changing"] = links(text=words(60, "after"), head=head)  # type: ignore[index]
    with writable(folder) as collection:
        collection.revisit(all=True)
        assert collection.index(progress=False).deleted == 1
        assert found(collection, "before") == [] and found(collection, "after") == []


def test_a_page_that_comes_back_is_found_again(web: SmallWeb, folder: Path) -> None:
    change(web)
    url = web.url(HOST, "/vanishing")
    with writable(folder, grace=0, min_interval=1) as collection:
        collection.revisit(all=True)
        collection.index(progress=False)
        assert found(collection, "vanishing") == []
        web.hosts[HOST]["/vanishing"] = links(text=words(60, "vanishing"))  # type: ignore[index]
        Crawler(collection, revisits=[url]).run()
        collection.index(progress=False)
        assert found(collection, "vanishing") == [url]


def test_only_what_is_due_is_visited(web: SmallWeb, folder: Path) -> None:
    asked = len(web.log)
    with writable(folder) as collection:
        assert find_due(collection).pages == 0
        report = collection.revisit()
        assert not report.revisits and len(web.log) == asked
        assert find_due(collection, everything=True).pages == 6
        assert find_due(collection, everything=True, site="other.test").pages == 0
        assert find_due(collection, everything=True, site="test").pages == 6


def test_a_budget_bounds_the_requests(web: SmallWeb, folder: Path) -> None:
    asked = len(web.log)
    with writable(folder) as collection:
        report = collection.revisit(all=True, budget=2)
        assert report.revisits.total() == 2
        assert len([each for each in web.log[asked:] if each.path != "/robots.txt"]) == 2
        # Revisits do not use up the limit on pages unless they are the budget.
        assert collection.revisit(all=True, max_pages=1).of_run()["revisits"] == {"unchanged": 6}


def test_urls_are_revisited_without_seeds(web: SmallWeb, folder: Path) -> None:
    asked = len(web.log)
    with writable(folder) as collection:
        Crawler(collection, revisits=[web.url(HOST, "/same"), "http://a.test/never-seen"]).run()
        assert web.paths(HOST, asked) == ["/same"]
        assert len(collection.versions(web.url(HOST, "/same"))) == 2


def test_reading_is_not_enough(folder: Path) -> None:
    with pytest.raises(CollectionError):
        crivello.open(folder).revisit()


def test_the_next_visit_is_known_and_told(web: SmallWeb, folder: Path) -> None:
    change(web)
    with writable(folder) as collection:
        collection.revisit(all=True)
        url = web.url(HOST, "/changing")
        visit = next_visit(collection, url)
        assert visit and visit.visits == 2 and visit.changes >= 1 and visit.failures == 0
        row = collection.page(url)
        assert row and visit.time.timestamp() > row.fetched_at
        failing = next_visit(collection, web.url(HOST, "/vanishing"))
        assert failing and failing.failures == 1 and failing.reason == "the last visit failed"
        assert next_visit(collection, "http://a.test/never-seen") is None
    told = " ".join(shell("why", folder, url).stdout.split())
    assert "2 versions since" in told and "next visit" in told and visit.reason in told
    story = json.loads(shell("why", folder, url, "--json").stdout)
    assert len(story["versions"]) == 2 and story["next_visit"]["reason"] == visit.reason
    assert story["indexed"] is False and "after the last" in story["index_reason"]
    same = json.loads(shell("why", folder, web.url(HOST, "/same"), "--json").stdout)
    assert same["indexed"] is True
    failing_text = " ".join(shell("why", folder, web.url(HOST, "/vanishing")).stdout.split())
    assert "the last 1 visit failed" in failing_text


def test_the_command(web: SmallWeb, folder: Path) -> None:
    nothing = shell("refresh", folder)
    assert nothing.returncode == 0 and "nothing is due" in nothing.stderr
    change(web)
    done = shell("refresh", folder, "--all", "--json")
    assert done.returncode == 0 and "6 pages to visit again" in done.stderr, done
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["due"] == 6
    assert report["revisits"] == {"unchanged": 3, "changed": 1, "moved": 1, "failed": 1}
    assert (report["index"]["added"], report["index"]["deleted"]) == (3, 1)
    status = json.loads(shell("status", folder, "--json").stdout)
    assert status["revisits"] == report["revisits"] and status["refreshed"]
    told = shell("status", folder).stdout
    assert "visited again" in told and "last refresh" in told
    again = shell("refresh", folder, "--all", "--budget", "1", "--site", HOST)
    assert again.returncode == 0 and "1 page to visit again" in again.stderr
    assert "is not a collection" in complaint("refresh", folder / "none", code=3)


def test_ctrl_c_is_clean(web: SmallWeb, folder: Path) -> None:
    asked = len(web.log)
    slow = {path: Answer(links(text=words(60, path[1:])), wait=0.3) for path in first()}
    web.hosts[HOST].update(slow)  # type: ignore[attr-defined]
    code, _, said = interrupted(
        [str(CRIVELLO), "refresh", str(folder), "--all"], lambda: len(web.log) > asked + 2, signal.SIGINT
    )
    assert code == 130 and "goes on with what is still due" in said and "Traceback" not in said
    with writable(folder) as collection:
        assert 1 <= sum(collection.state("crawl")["report"]["revisits"].values()) < 6
        collection.table.verify()


def failures(collection: Collection, urls: list[str]) -> list[int]:
    visits = [next_visit(collection, url) for url in urls]
    return [visit.failures for visit in visits if visit]


def test_hosts_that_refuse_are_left_for_later(tmp_path: Path) -> None:
    names = [f"h{number}.test" for number in range(4)]
    pages = {name: {"/": links("/a", "/b"), "/a": links(text="a"), "/b": links(text="b")} for name in names}
    folder = tmp_path / "c"
    with SmallWeb(pages) as web:
        crawled = web.crawl(folder, *names)
    urls = [web.url(name, path) for name in names for path in ("/", "/a", "/b")]
    noted = len(crawled.decisions())
    with writable(folder) as collection:
        report = collection.revisit(all=True, retries=20)
        assert report.of_run()["revisits"] == {"failed": 12}
        # One request a host: the rest of its pages fail without.
        assert failures(collection, urls) == [1] * 12
        events = [each["event"] for each in crawled.decisions()[noted:]]
        assert events.count("revisit failed") == 12 and "tried again" not in events
        assert report.of_run()["requests"] == 4
        visit = next_visit(collection, urls[0])
        assert (
            visit
            and visit.reason == "the last visit failed"
            and "refused" in crawled.decisions()[-1]["detail"]
        )
        assert find_due(collection).pages == 0, "not before an hour is over"


def test_an_overloaded_host_is_left_for_later_and_a_broken_page_is_not(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(6)]
    home: Page = links(*paths, text=words(60, "home"))
    texts: dict[str, Page] = {path: links(text=words(60, f"page{path[1:]}x")) for path in paths}
    hosts: dict[str, dict[str, Page]] = {"busy.test": {"/": home, **texts}, "fine.test": {"/": home, **texts}}
    folder = tmp_path / "c"
    with SmallWeb(hosts) as web:
        web.crawl(folder, *hosts)
        hosts["busy.test"].update(dict.fromkeys(["/", *paths], Answer(status=503)))
        hosts["fine.test"]["/2"] = Answer(status=500)
        asked = len(web.log)
        with writable(folder) as collection:
            report = collection.revisit(all=True, retries=20)
            assert report.of_run()["revisits"] == {"failed": 8, "unchanged": 6}
        assert len(web.paths("busy.test", asked)) == 3
        assert len(web.paths("fine.test", asked)) == 7


def test_the_settings_of_revisits_are_flags(web: SmallWeb, folder: Path) -> None:
    change(web)
    time.sleep(1.1)  # until the pages of the crawl are due: the least interval is a second
    chosen = ["--policy", "by-age", "--min-interval", "1s", "--grace", "0", "--daily-budget", "1000"]
    done = shell("refresh", folder, "--budget", "6", "--json", *chosen)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["due"] == 6 and report["revisits"]["gone"] == 1
    plan = Collection(folder).state("refresh")["plan"]["options"]
    assert (plan["policy"], plan["budget"], plan["grace"]) == ("by-age", 1000, 0)
    assert "--policy" in complaint("refresh", folder, "--policy", "often", code=2)


def test_up_forever_serves_and_keeps_fresh(web: SmallWeb, tmp_path: Path) -> None:
    folder = tmp_path / "up"
    hosts = web.write_hosts_file(tmp_path / "hosts")
    arguments = [str(CRIVELLO), "up", web.url(HOST), "--into", str(folder), "--forever", "--every", "200ms"]
    arguments += ["--port", "0", "--delay", "0", "--hosts-file", str(hosts)]

    def visited_again() -> bool:
        return web.paths(HOST).count("/same") >= 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRIVELLO_REFRESH_POLICY", "uniform")
        patch.setenv("CRIVELLO_REFRESH_INTERVAL", "60")
        patch.setenv("CRIVELLO_REFRESH_MIN_INTERVAL", "1")
        patch.setenv("CRIVELLO_REFRESH_BUDGET", "1000000")
        code, _, said = interrupted(arguments, visited_again, signal.SIGINT)
    assert code == 130 and "keeping it fresh" in said and "Traceback" not in said, said
    assert len(Collection(folder).versions(web.url(HOST, "/same"))) >= 1
    assert "not a duration" in complaint("up", web.url(HOST), "--forever", "--every", "soon", code=2)
