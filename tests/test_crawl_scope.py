"""Which links a crawl follows: scope, patterns, redirects, spellings of one address, and traps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crivello.errors import InvalidArgument
from crivello.store import Outcome
from tests.small_web import Page, SmallWeb, links, redirect, urls, words
from tests.test_shell import complaint, crivello

HOSTS = ["a.example.co.uk", "b.example.co.uk", "example.co.uk", "other.co.uk"]
PATHS = ["/", "/docs/", "/docs/guide", "/docsearch", "/news/today"]
SEED = ("a.example.co.uk", "/docs/start")


def everywhere() -> dict[str, dict[str, Page]]:
    """Hosts on which every page links to every page; the links are filled in once the port is known."""
    return {host: dict.fromkeys([*PATHS, "/docs/start"], "") for host in HOSTS}


def linked(web: SmallWeb, hosts: dict[str, dict[str, Page]]) -> None:
    targets = [web.url(host, path) for host in HOSTS for path in PATHS]
    for host, pages in hosts.items():
        for path in pages:
            pages[path] = links(*targets, text=words(20, f"{host}{path}".replace("/", "")))


@pytest.mark.parametrize(
    ("scope", "hosts", "paths"),
    [
        ("host", HOSTS[:1], PATHS),
        ("domain", HOSTS[:3], PATHS),
        ("prefix", HOSTS[:1], ["/docs/", "/docs/guide"]),
        ("any", HOSTS, PATHS),
    ],
)
def test_scope(scope: str, hosts: list[str], paths: list[str], tmp_path: Path) -> None:
    pages = everywhere()
    with SmallWeb(pages) as web:
        linked(web, pages)
        crawled = web.crawl(tmp_path / "c", web.url(*SEED), scope=scope)
        expected = {web.url(host, path) for host in hosts for path in paths} | {web.url(*SEED)}
        assert crawled.fetched() == expected == {row.url for row in crawled.rows()}
        assert {each.host for each in web.log} == set(hosts)
        outside = web.url("other.co.uk", "/news/today")
        told = crivello("why", tmp_path / "c", outside, "--json")
        story = json.loads(told.stdout)
        assert (story["state"], bool(story["scope_refusal"])) == (
            ("done", False) if scope == "any" else ("left out", True)
        )


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"include": "/docs"}, ["/docs/", "/docs/guide", "/docsearch"]),
        ({"include": "/docs/ /news/"}, ["/docs/", "/docs/guide", "/news/today"]),
        ({"exclude": "search$ ^http://[^/]*/news"}, ["/", "/docs/", "/docs/guide"]),
        ({"include": "/docs", "exclude": "guide"}, ["/docs/", "/docsearch"]),
    ],
)
def test_patterns(chosen: dict[str, object], expected: list[str], tmp_path: Path) -> None:
    pages = everywhere()
    with SmallWeb(pages) as web:
        linked(web, pages)
        crawled = web.crawl(tmp_path / "c", web.url(*SEED), **chosen)
        assert crawled.fetched() == urls(web, SEED[0], [*expected, SEED[1]])


@pytest.mark.parametrize("flag", ["--include", "--exclude"])
def test_a_bad_pattern_is_one_sentence(flag: str, tmp_path: Path) -> None:
    said = complaint("crawl", "http://127.0.0.1:1/", "--into", tmp_path / "c", flag, "a(b", code=2)
    assert "a(b" in said and "unclosed group" in said


@pytest.mark.parametrize("flag", ["--keep-matching", "--drop-matching"])
def test_a_bad_pattern_for_texts_is_one_sentence(flag: str, tmp_path: Path) -> None:
    said = complaint("crawl", "http://127.0.0.1:1/", "--into", tmp_path / "c", flag, "a(b", code=2)
    assert "a(b" in said and "unclosed group" in said


@pytest.mark.parametrize(
    "wrong",
    [
        ("--include", "a(b"),
        ("--keep-matching", "a(b"),
        ("--priority", "nosuch"),
        ("--proxy", "socks5://127.0.0.1:1"),
        ("--name-server", "nowhere"),
    ],
    ids=lambda wrong: str(wrong[0]),
)
def test_a_crawl_that_could_not_start_leaves_nothing_behind(wrong: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "c"
    assert crivello("crawl", "http://127.0.0.1:1/", "--into", folder, *wrong).returncode == 2
    assert not folder.exists()


def test_where_a_seed_leads_belongs_to_it(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "old.test": {"/": ""},
        "new.test": {"/home": links("/page"), "/page": links("/more"), "/more": "<p>More."},
    }
    with SmallWeb(hosts) as web:
        hosts["old.test"]["/"] = redirect(web.url("new.test", "/home"), 301)
        crawled = web.crawl(tmp_path / "c", "old.test", max_pages=2)
        row = crawled.row(web.url("old.test"))
        assert (row.outcome, row.redirect, row.detail) == (
            Outcome.REDIRECTED,
            web.url("new.test", "/home"),
            "",
        )
        # It still does when the crawl goes on.
        crawled = web.crawl(tmp_path / "c")
        assert crawled.fetched() == urls(web, "new.test", ["/home", "/page", "/more"])
        assert crawled.row(web.url("new.test", "/home")).depth == 0


def test_a_redirect_out_of_scope_is_recorded_and_not_followed(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {
            "/": links("/away", "/nowhere", "/kept"),
            "/nowhere": redirect("mailto:a@b.test"),
            "/kept": "<p>",
        },
        "b.test": {"/": "<p>Elsewhere."},
    }
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/away"] = redirect(web.url("b.test"))
        crawled = web.crawl(tmp_path / "c", "a.test", exclude="b.test/x")
        away, nowhere = (crawled.row(web.url("a.test", path)) for path in ("/away", "/nowhere"))
        assert (away.outcome, away.redirect) == (Outcome.REDIRECTED, web.url("b.test"))
        assert away.detail == "it is on another host than the seeds"
        assert (nowhere.outcome, nowhere.redirect, nowhere.detail) == (
            Outcome.REDIRECTED,
            None,
            "it leads to no page",
        )
        assert all(row.length > 0 for row in (away, nowhere)), "a redirect is in the archive"
        assert web.paths("b.test") == []
        told = crivello("why", tmp_path / "c", away.url).stdout
        assert "on another host than the seeds" in " ".join(told.split())


@pytest.mark.parametrize("longest", [0, 2, 8])
def test_a_chain_of_redirects_has_its_limit(longest: int, tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"/{step}": redirect(f"/{step + 1}") for step in range(5)}
    with SmallWeb({"a.test": {**pages, "/5": "<p>At last."}}) as web:
        crawled = web.crawl(tmp_path / "c", web.url("a.test", "/0"), max_redirects=longest)
        reached = min(longest, 5)
        assert web.paths("a.test") == [f"/{step}" for step in range(reached + 1)]
        last = crawled.row(web.url("a.test", f"/{reached}"))
        if longest < 5:
            assert last.detail == f"the chain of redirects is longer than {longest}"
        else:
            assert last.status == 200


# --- one fetch for several spellings ------------------------------------------------------------------------

ALWAYS = [
    "/page#a",
    "/page#",
    "/./page",
    "/x/../page",
    "http://A.TEST:{port}/page",
    "/p%61ge",
    "http://user@a.test:{port}/page",
]
TRACKING = ["/page?utm_source=x&utm_medium=y", "/page?fbclid=1", "/page?gclid=2"]
SESSIONS = [
    "/page;jsessionid=0123456789ABCDEF0123456789ABCDEF",
    "/page?PHPSESSID=0123456789abcdef0123456789abcdef",
]


def asked_for(spellings: list[str], tmp_path: Path, **chosen: object) -> list[str]:
    """What is asked for where a page has these links."""
    pages: dict[str, Page] = {}
    with SmallWeb({"a.test": pages}) as web:
        pages["/"] = links(*(spelling.format(port=web.port) for spelling in spellings))
        crawled = web.crawl(tmp_path / "c", "a.test", **chosen)
        assert len(crawled.rows()) == len(web.paths("a.test"))
        return sorted(web.paths("a.test"))


@pytest.mark.parametrize("spellings", [ALWAYS, TRACKING, SESSIONS], ids=["always", "tracking", "sessions"])
def test_several_spellings_are_one_fetch(spellings: list[str], tmp_path: Path) -> None:
    expected = ["/", "/p%61ge", "/page"] if spellings is ALWAYS else ["/", "/page"]
    assert asked_for(["/page", *spellings], tmp_path) == expected


def test_what_is_not_to_be_cleaned_stays(tmp_path: Path) -> None:
    spellings = ["/page", TRACKING[0], *SESSIONS]
    asked = asked_for(spellings, tmp_path, clean_tracking=False, clean_session_ids=False)
    assert asked == sorted(["/", *spellings])


def test_queries_are_sorted_where_asked_for(tmp_path: Path) -> None:
    spellings = ["/page?b=2&a=1", "/page?a=1&b=2"]
    assert asked_for(spellings, tmp_path / "as they are") == sorted(["/", *spellings])
    assert asked_for(spellings, tmp_path / "sorted", sort_queries=True) == ["/", "/page?a=1&b=2"]


def test_index_pages_are_cut_off_where_asked_for(tmp_path: Path) -> None:
    spellings = ["/x/", "/x/index.html", "/x/index.htm", "/index.html"]
    assert asked_for(spellings, tmp_path / "as they are") == sorted(["/", *spellings])
    assert asked_for(spellings, tmp_path / "cut", clean_index_pages=True) == ["/", "/x/"]


def test_the_target_of_a_redirect_is_cleaned_up(tmp_path: Path) -> None:
    pages: dict[str, Page] = {"/": links("/page"), "/page": redirect("/end?utm_source=x"), "/end": "<p>"}
    with SmallWeb({"a.test": pages}) as web:
        assert web.crawl(tmp_path / "c", "a.test").row(web.url("a.test", "/end")).status == 200


# --- traps --------------------------------------------------------------------------------------------------

TRAPS = {
    "/a/b/a/b/a/b/a/b": "its path repeats /a/b",
    "/" + "/".join(f"s{number}" for number in range(9)): "its path has more than 8 segments",
    "/page?" + "&".join(f"p{number}=1" for number in range(5)): "its query has 5 parameters",
}


def test_traps_are_cut_off_and_why_says_so(tmp_path: Path) -> None:
    queries = [f"/list?sort={number}" for number in range(10)]
    pages: dict[str, Page] = {"/": links(*TRAPS, *queries, "/page?p0=1", "/a/b/a/b/c")}
    pages |= {path: f"<p>{words(9, path)}" for path in [*queries, "/page?p0=1", "/a/b/a/b/c"]}
    with SmallWeb({"a.test": pages}) as web:
        chosen = {"max_segments": 8, "max_parameters": 4, "max_queries": 3, "max_repeats": 3}
        crawled = web.crawl(tmp_path / "c", "a.test", **chosen)
        for path, reason in TRAPS.items():
            row = crawled.row(web.url("a.test", path))
            assert (row.outcome, row.detail, row.attempts) == (Outcome.TRAP, reason, 0)
            told = crivello("why", tmp_path / "c", row.url)
            assert reason in " ".join(told.stdout.split()), path
        assert crawled.row(web.url("a.test", "/page?p0=1")).status == 200
        assert crawled.row(web.url("a.test", "/a/b/a/b/c")).status == 200
        listed = [crawled.row(web.url("a.test", path)) for path in queries]
        assert [row.outcome for row in listed] == [Outcome.FETCHED] * 3 + [Outcome.TRAP] * 7
        assert {row.detail for row in listed[3:]} == {"its path had more than 3 different queries"}
        assert crawled.report.outcomes[Outcome.TRAP] == 10


def test_a_chain_of_numbers_is_cut_off(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"/day/{day}": links(f"/day/{day + 1}", text=words(9, f"d{day}")) for day in range(30)
    }
    with SmallWeb({"a.test": {"/": links("/day/0"), **pages}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", max_chain=5)
        cut = [row for row in crawled.rows() if row.outcome is Outcome.TRAP]
        assert [row.url for row in cut] == [web.url("a.test", "/day/6")]
        assert cut[0].detail == "6 links in a row led to URLs that differ only in numbers"


def test_a_scope_that_is_none_is_refused(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": ""}}) as web, pytest.raises(InvalidArgument, match="scope"):
        web.crawl(tmp_path / "c", "a.test", scope="planet")
