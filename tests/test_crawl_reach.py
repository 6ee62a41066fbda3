"""A run that reaches further than the ones before it brings back the links that they refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crivello import Collection, settings
from crivello.crawl.reach import is_wider, reach_of
from crivello.settings import Crawl
from crivello.store import Outcome
from tests.documents import ANCHOR, docx
from tests.small_web import Answer, Page, SmallWeb, links, redirect, words
from tests.test_shell import crivello

HOSTS = ["www.a.example", "docs.a.example", "b.example"]


def chains(web: SmallWeb, pages: dict[str, dict[str, Page]]) -> None:
    """Hosts with a chain of pages below each first page; the page N of a host links to the next host, too."""
    for number, host in enumerate(HOSTS):
        others = [web.url(other) for other in HOSTS[number + 1 : number + 2]]
        for step in range(5):
            here = "/" if step == 0 else f"/docs/{step}"
            text = words(20, f"h{number}s{step}x")
            pages[host][here] = links(f"/docs/{step + 1}", f"/old/{step}", *others, text=text)
            pages[host][f"/old/{step}"] = f"<p>{words(20, f'old{number}and{step}x')}"
        pages[host]["/docs/5"] = f"<p>{words(20, f'last{number}x')}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"scope": "domain"}),
        ({}, {"scope": "any"}),
        ({"scope": "domain", "max_depth": 1}, {"scope": "any", "max_depth": 4}),
        ({"max_depth": 0}, {"max_depth": -1}),
        ({"max_depth": 2}, {"max_depth": 3}),
        ({"scope": "any", "max_site_depth": 1}, {"scope": "any", "max_site_depth": 3}),
        ({"scope": "any", "max_site_depth": 0}, {"scope": "any"}),
        ({"max_links": 1}, {"max_links": 0}),
        ({"scope": "any", "max_links": 1}, {"scope": "any", "max_links": 2}),
        ({"exclude": "/old/ /docs/3"}, {"exclude": "/docs/3"}),
        ({"include": "/docs/"}, {"include": "/docs/ /old/"}),
    ],
    ids=str,
)
def test_what_was_refused_comes_back(before: dict[str, Any], after: dict[str, Any], tmp_path: Path) -> None:
    pages: dict[str, dict[str, Page]] = {host: {} for host in HOSTS}
    with SmallWeb(pages) as web:
        chains(web, pages)
        at_once = web.crawl(tmp_path / "at once", HOSTS[0], **after)
        narrow = web.crawl(tmp_path / "c", HOSTS[0], **before)
        assert narrow.fetched() < at_once.fetched()
        asked = len(web.log)
        wide = web.crawl(tmp_path / "c", **after)
        assert wide.fetched() == at_once.fetched()
        assert {row.url: row.depth for row in wide.rows()} == {row.url: row.depth for row in at_once.rows()}
        again = {(each.host, each.path) for each in web.log[asked:]}
        pages_again = {(host, path) for host, path in again if path != "/robots.txt"}
        assert not {web.url(host, path) for host, path in pages_again} & narrow.fetched(), (
            "nothing is fetched twice"
        )
        assert wide.collection.state("crawl")["reread"] is None


def test_a_new_seed_brings_back_links_to_its_host(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {},
        "b.test": {"/": "<p>Home.", "/linked": "<p>Only others link to it."},
    }
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/"] = links(web.url("b.test", "/linked"))
        assert len(web.crawl(tmp_path / "c", "a.test").fetched()) == 1
        crawled = web.crawl(tmp_path / "c", "b.test")
        assert web.url("b.test", "/linked") in crawled.fetched()
        assert crawled.row(web.url("b.test", "/linked")).depth == 1


def test_links_of_converted_documents_come_back_and_are_listed(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links("/paper.docx", "/secret.docx")},
        "b.test": {"/linked": "<p>Only a document links to it.", "/never": "<p>Nobody may follow."},
    }
    with SmallWeb(hosts) as web:
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        target = web.url("b.test", "/linked")
        hosts["a.test"]["/paper.docx"] = Answer(docx(link=target), kind=kind)
        secret = docx("Something else altogether.", web.url("b.test", "/never"))
        hosts["a.test"]["/secret.docx"] = Answer(secret, kind=kind, headers={"X-Robots-Tag": "nofollow"})
        narrow = web.crawl(tmp_path / "c", "a.test")
        assert target not in narrow.fetched()
        paper = web.url("a.test", "/paper.docx")
        assert target in dict(narrow.collection.links(paper))
        shown = crivello("pages", tmp_path / "c", "--url", paper, "--links").stdout
        assert f"{target}  {ANCHOR}" in shown.splitlines()
        wide = web.crawl(tmp_path / "c", scope="any")
        assert target in wide.fetched() and wide.row(target).depth == 2
        assert web.paths("b.test") == ["/linked"]


def test_a_redirect_that_was_refused_comes_back(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": {"/": links("/away")}, "b.test": {"/": "<p>Elsewhere."}}
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/away"] = redirect(web.url("b.test"))
        crawled = web.crawl(tmp_path / "c", "a.test")
        assert crawled.row(web.url("a.test", "/away")).detail and web.paths("b.test") == []
        crawled = web.crawl(tmp_path / "c", scope="any")
        assert web.url("b.test") in crawled.fetched()
        said = crivello("why", tmp_path / "c", web.url("a.test", "/away")).stdout
        assert "not followed" not in said and web.url("b.test") in said


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(200)]
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links(*paths)},
        "b.test": {f"/{number}": f"<p>{words(9, f'b{number}x')}" for number in range(200)},
    }
    with SmallWeb(hosts) as web:
        for number, path in enumerate(paths):
            hosts["a.test"][path] = links(web.url("b.test", path), text=words(9, f"a{number}x"))
        web.crawl(tmp_path / "c", "a.test")
        first = web.crawl(tmp_path / "c", scope="any", max_pages=3)
        assert first.report.stopped_by == "max_pages" and first.report.pages == 204
        last = web.crawl(tmp_path / "c", scope="any", max_pages=0)
        assert len(last.fetched()) == 401 == last.report.pages
        assert last.collection.state("crawl")["reread"] is None


def test_a_rule_of_ones_own_is_asked_about_links_that_come_back(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": {}, "b.test": {"/1": "<p>One.", "/2": "<p>Two."}}

    class Odd:
        def follow(self, page: Any, links: list[str], anchors: list[str]) -> list[bool]:
            assert page["text"].startswith("Both") and anchors == links
            return [link.endswith("1") for link in links]

    with SmallWeb(hosts) as web:
        hosts["a.test"]["/"] = links(*(web.url("b.test", path) for path in ("/1", "/2")), text="Both.")
        web.crawl(tmp_path / "c", "a.test")
        chosen = {"scope": "any", "sitemaps": False, "delay": 0.0, "hosts_file": str(tmp_path / "c.hosts")}
        loaded = settings.load(flags={"crawl": chosen}, environment={})
        with Collection.write(tmp_path / "c", settings=loaded) as collection:
            collection.use(follow=Odd())
            collection.crawl()
        assert web.paths("b.test") == ["/1"]


def test_a_damaged_page_costs_its_links_and_says_so(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/": links("/1")},
        "b.test": {"/": "<p>B.", "/1": "<p>1."},
    }
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/"] = links("/1", web.url("b.test"))
        hosts["a.test"]["/1"] = links(web.url("b.test", "/1"), text="Other words.")
        crawled = web.crawl(tmp_path / "c", "a.test")
        row = crawled.row(web.url("a.test"))
        archive = tmp_path / "c" / "archive" / "crivello-00001.warc.gz"
        content = bytearray(archive.read_bytes())
        content[row.offset + row.length // 2] ^= 0xFF
        archive.write_bytes(content)
        crawled = web.crawl(tmp_path / "c", scope="any")
        assert web.paths("b.test") == ["/1"]
        [note] = [each for each in crawled.decisions() if each["event"] == "not read again"]
        assert note["url"] == row.url and "crivello-00001.warc.gz" in note["detail"]


def test_a_run_that_reaches_no_further_reads_nothing_again(tmp_path: Path) -> None:
    pages: dict[str, dict[str, Page]] = {host: {} for host in HOSTS}
    with SmallWeb(pages) as web:
        chains(web, pages)
        web.crawl(tmp_path / "c", HOSTS[0], scope="domain", max_pages=4)
        for chosen in ({"scope": "domain"}, {"scope": "host"}, {"scope": "host", "exclude": "/old/"}):
            report = web.crawl(tmp_path / "c", **chosen).report
            assert report.gauges["reread_end"] == 0


@pytest.mark.parametrize(
    ("before", "now", "wider"),
    [
        ({}, {}, False),
        ({"scope": "any"}, {"scope": "prefix"}, False),
        ({"scope": "prefix"}, {"scope": "host"}, True),
        ({"max_depth": 3}, {"max_depth": 2}, False),
        ({"max_depth": 3}, {"max_depth": 0}, False),
        ({"max_depth": 0}, {"max_depth": 1}, True),
        ({"max_depth": 3}, {}, True),
        ({}, {"max_depth": 3}, False),
        ({"max_site_depth": 1}, {"max_site_depth": 2}, True),
        ({"max_links": 5}, {"max_links": 4}, False),
        ({"max_links": 5}, {}, True),
        ({"exclude": "a b"}, {"exclude": "b a c"}, False),
        ({"exclude": "a b"}, {"exclude": "a"}, True),
        ({}, {"include": "a"}, False),
        ({"include": "a"}, {"include": "b"}, True),
        ({"include": "a"}, {}, True),
        ({}, {"images": True}, True),
        ({"follow": "m:A"}, {"follow": ""}, True),
        ({}, {"follow": "m:A"}, False),
    ],
)
def test_what_is_wider(before: dict[str, Any], now: dict[str, Any], wider: bool) -> None:
    seeds = ["http://a.example/"]
    reaches = [reach_of(Crawl(**chosen), seeds) for chosen in (now, before)]
    assert is_wider(reaches[0], reaches[1], seeds, []) is wider


def test_seeds_only_says_so_and_why_knows(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links("/1"), "/1": "<p>One."}}) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        common = ("--into", tmp_path / "c", "--delay", "0", "--hosts-file", hosts_file)
        done = crivello("crawl", web.url("a.test"), *common, "--max-depth", "0")
        assert done.returncode == 0 and web.paths("a.test") == ["/"]
        assert "only the seeds are fetched" in done.stderr
        story = json.loads(crivello("why", tmp_path / "c", web.url("a.test", "/1"), "--json").stdout)
        assert story["state"] == "left out"
        assert story["limit_refusal"] == "only the seeds are fetched (max_depth is 0)"
        done = crivello("crawl", *common, "--max-depth", "-1")
        assert done.returncode == 0 and web.paths("a.test") == ["/", "/1"]
        story = json.loads(crivello("why", tmp_path / "c", web.url("a.test", "/1"), "--json").stdout)
        assert story["page"]["outcome"] == Outcome.FETCHED
        assert json.loads(crivello("status", tmp_path / "c", "--json").stdout)["reread"] is None
