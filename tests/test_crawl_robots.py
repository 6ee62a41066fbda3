"""What sites and pages ask of a crawler: robots.txt, meta robots, X-Robots-Tag, rel=nofollow and rel=canonical."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from crivello.lab.web.pdf import write_pdf
from crivello.store import Outcome
from tests.politeness import too_close
from tests.small_web import Answer, Page, Query, SmallWeb, links, redirect, rules, urls
from tests.test_shell import crivello

OPEN, CLOSED = "/open", "/closed"
SITE: dict[str, Page] = {"/": links(OPEN, CLOSED), OPEN: "<p>For everybody.", CLOSED: "<p>For some."}
FORBIDDING = rules("User-agent: *", f"Disallow: {CLOSED}")
NO_REST = 0.05


def asked(robots: Page, tmp_path: Path, **chosen: object) -> list[str]:
    """The pages of a host with this robots.txt that a crawl asks for."""
    with SmallWeb({"a.test": {"/robots.txt": robots, **SITE}}) as web:
        web.crawl(tmp_path / "c", "a.test", max_wait=NO_REST, max_time=20.0, **chosen)
        assert web.log[0].path == "/robots.txt" or chosen.get("obey_robots") is False
        return sorted(web.paths("a.test"))


ALL, MOST, NONE = sorted(["/", OPEN, CLOSED]), sorted(["/", OPEN]), list[str]()


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        pytest.param(FORBIDDING, MOST, id="forbidden"),
        pytest.param(Answer(status=404), ALL, id="missing"),
        pytest.param(Answer(FORBIDDING.body, status=403), ALL, id="refused"),
        pytest.param(Answer(status=503), NONE, id="broken"),
        pytest.param(Answer(status=429), NONE, id="too often"),
        pytest.param(Answer(b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /closed\r\n"), MOST, id="BOM and CRLF"),
        pytest.param(Answer(b"User-agent: *\rDisallow: /closed\r"), MOST, id="CR alone"),
        pytest.param(
            rules("User-agent: crivello", "User-agent: b", "Disallow: /c", "", "User-agent: *"), MOST
        ),
        pytest.param(rules("User-agent: *", "Disallow: /", "", "User-agent: CRIVELLO", "Allow: /"), ALL),
        pytest.param(rules("User-agent: othello", "Disallow: /"), ALL, id="for another"),
        pytest.param(rules("User-agent: *", "Disallow: /*ed$"), MOST, id="patterns"),
        pytest.param(
            rules("User-agent: *", "Disallow: /", "Allow: /o", "Allow: /$"), MOST, id="longest wins"
        ),
        pytest.param(Answer(status=302, headers={"Location": "/robots.txt"}), ALL, id="loop"),
    ],
)
def test_robots_txt_decides_what_is_asked_for(robots: Page, expected: list[str], tmp_path: Path) -> None:
    assert asked(robots, tmp_path) == expected


def test_robots_txt_does_not_count_when_it_is_switched_off(tmp_path: Path) -> None:
    assert asked(FORBIDDING, tmp_path, obey_robots=False) == ALL


def test_another_name_obeys_other_rules(tmp_path: Path) -> None:
    robots = rules("User-agent: othello", "Disallow: /closed", "", "User-agent: *", "Disallow: /open")
    assert asked(robots, tmp_path, user_agent="Othello") == MOST


def test_a_refusal_says_why(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/robots.txt": FORBIDDING, **SITE}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        row = crawled.row(web.url("a.test", CLOSED))
        assert (row.outcome, row.detail) == (Outcome.ROBOTS, f"line 2: Disallow: {CLOSED}")
        assert (row.attempts, row.status, row.length) == (0, None, 0)
        done = crivello("why", tmp_path / "c", row.url)
        assert f"Disallow: {CLOSED}" in " ".join(done.stdout.split())


def test_a_broken_robots_txt_is_tried_again_and_then_refuses_everything(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/robots.txt": Answer(status=503), **SITE}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test", retries=2, max_wait=0.1, max_time=20.0)
        assert [each.path for each in web.log] == ["/robots.txt"] * 3 and min(web.gaps("a.test")) >= 0.1
        row = crawled.row(web.url("a.test"))
        assert (row.outcome, row.detail) == (Outcome.ROBOTS, "robots.txt answers 503")
        events = [each["event"] for each in crawled.decisions() if each["url"].endswith("/robots.txt")]
        assert events == ["robots.txt", "robots.txt", "host given up"]
        assert "robots.txt answers 503" in " ".join(crivello("why", tmp_path / "c", row.url).stdout.split())


def test_a_robots_txt_that_comes_back_is_obeyed(tmp_path: Path) -> None:
    def at_last(query: Query) -> Answer:
        return FORBIDDING if query.times == 3 else Answer(status=500)

    assert asked(at_last, tmp_path) == MOST


def test_a_robots_txt_may_be_elsewhere_on_its_host(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/robots.txt": redirect("/a"), "/a": redirect("/b", 301), "/b": FORBIDDING, **SITE}
    }
    with SmallWeb(hosts) as web:
        web.crawl(tmp_path / "c", "a.test")
        assert sorted(web.paths("a.test")) == sorted([*MOST, "/a", "/b"])


@pytest.mark.parametrize("together", [True, False], ids=["one address", "two addresses"])
def test_a_robots_txt_on_another_host_is_asked_for_politely(together: bool, tmp_path: Path) -> None:
    slow: dict[str, Page] = {path: Answer(f"<p>{path}", wait=0.02) for path in (f"/{n}" for n in range(12))}
    hosts: dict[str, dict[str, Page]] = {
        "b.test": {"/rules": Answer(FORBIDDING.body, wait=0.05), "/": links(*slow), **slow},
    }
    names = [f"a{number}.test" for number in range(3)]
    hosts |= {name: dict(SITE) for name in names}
    with SmallWeb(hosts, dict.fromkeys(hosts, "127.3.1.1") if together else None) as web:
        for name in names:
            hosts[name]["/robots.txt"] = redirect(web.url("b.test", "/rules"))
        crawled = web.crawl(tmp_path / "c", "b.test", *names, delay=0.05, max_time=20.0)
        assert crawled.report.stopped_by is None
        assert web.paths("b.test").count("/rules") == 3
        assert all(sorted(web.paths(name)) == MOST for name in names)
        assert too_close(web.hits(), 0.05) == []


def led(web: SmallWeb, wait: float) -> Answer:
    """A robots.txt that is that of b.test, and takes a while to say so."""
    return Answer(status=302, headers={"Location": web.url("b.test", "/rules")}, wait=wait)


def test_a_busy_host_gives_its_rules_to_others_in_time(tmp_path: Path) -> None:
    pages: dict[str, Page] = {path: f"<p>{path}" for path in (f"/{number}" for number in range(40))}
    names = [f"a{number}.test" for number in range(3)]
    hosts: dict[str, dict[str, Page]] = {"b.test": {"/rules": FORBIDDING, "/": links(*pages), **pages}}
    hosts |= {name: {"/": "<p>Led here."} for name in names}
    with SmallWeb(hosts) as web:
        for name in names:
            hosts[name]["/robots.txt"] = led(web, 0.3)
        crawled = web.crawl(tmp_path / "c", "b.test", *names, delay=0.08, timeout=2.0, retries=0)
        assert {crawled.row(web.url(name)).outcome for name in names} == {Outcome.FETCHED}


def test_an_errand_to_another_host_keeps_its_crawl_delay(tmp_path: Path) -> None:
    delay = rules("User-agent: *", "Crawl-delay: 0.3")
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {},
        "b.test": {"/robots.txt": delay, "/rules": FORBIDDING, "/": "<p>First.", "/next": "<p>Next."},
    }
    with SmallWeb(hosts) as web:
        hosts["a.test"] |= {"/robots.txt": led(web, 0.7), "/": links(web.url("b.test", "/next"))}
        web.crawl(tmp_path / "c", "b.test", "a.test", max_time=20.0)
        assert web.paths("b.test") == ["/", "/rules", "/next"]
        assert min(web.gaps("b.test")) >= 0.3


def test_rules_are_believed_by_the_next_run(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/robots.txt": FORBIDDING, **SITE}}) as web:
        web.crawl(tmp_path / "c", "a.test", max_pages=1)
        assert [each.path for each in web.log] == ["/robots.txt", "/"]
        crawled = web.crawl(tmp_path / "c")
        assert [each.path for each in web.log] == ["/robots.txt", "/", OPEN]
        assert crawled.row(web.url("a.test", CLOSED)).outcome is Outcome.ROBOTS


def test_rules_that_could_not_be_had_are_asked_for_by_the_next_run(tmp_path: Path) -> None:
    broken = [True]

    def mended(_: Query) -> Answer:
        return Answer(status=503) if broken[0] else FORBIDDING

    hosts: dict[str, dict[str, Page]] = {
        "a.test": {"/robots.txt": mended, **SITE},
        "b.test": {"/": "<p>Beside it."},
    }
    with SmallWeb(hosts) as web:
        web.crawl(tmp_path / "c", "a.test", "b.test", max_wait=NO_REST)
        broken[0] = False
        crawled = web.crawl(tmp_path / "c", web.url("a.test", OPEN), max_wait=NO_REST)
        assert crawled.row(web.url("a.test", OPEN)).status == 200


# --- what pages say -----------------------------------------------------------------------------------------


def meta(name: str, said: str) -> Page:
    return links("/behind", text="A page with a wish.", head=f'<meta name="{name}" content="{said}">')


def header(said: str, kind: str = "text/html") -> Page:
    body = links("/behind", text="A page with a wish.")
    return Answer(body, headers={"X-Robots-Tag": said}, kind=kind)


@pytest.mark.parametrize(
    ("page", "noindex", "nofollow"),
    [
        pytest.param(meta("robots", "all"), False, False, id="meta all"),
        pytest.param(meta("robots", "noindex"), True, False, id="meta noindex"),
        pytest.param(meta("ROBOTS", "NoFollow"), False, True, id="meta nofollow"),
        pytest.param(meta("robots", "none"), True, True, id="meta none"),
        pytest.param(meta("robots", "index, nofollow ,noindex"), True, True, id="meta both"),
        pytest.param(meta("crivello", "none"), True, True, id="meta for us"),
        pytest.param(meta("othello", "none"), False, False, id="meta for another"),
        pytest.param(header("noindex"), True, False, id="header noindex"),
        pytest.param(header("nofollow"), False, True, id="header nofollow"),
        pytest.param(header("none"), True, True, id="header none"),
        pytest.param(header("crivello: noindex, nofollow"), True, True, id="header for us"),
        pytest.param(header("othello: none"), False, False, id="header for another"),
        pytest.param(header("othello: noindex, nofollow"), False, False, id="header with two for another"),
    ],
)
def test_a_page_says_whether_to_index_and_to_follow(
    page: Page, noindex: bool, nofollow: bool, tmp_path: Path
) -> None:
    with SmallWeb({"a.test": {"/": page, "/behind": "<p>Behind it."}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        row = crawled.row(web.url("a.test"))
        assert row.outcome is Outcome.FETCHED and row.length > 0
        assert (row.noindex, row.indexable) == (noindex, not noindex)
        assert ("/behind" in web.paths("a.test")) is not nofollow


@pytest.mark.parametrize("said", ["noindex", "crivello: none", "othello: none"])
def test_texts_and_documents_have_wishes_too(said: str, tmp_path: Path) -> None:
    headers = {"X-Robots-Tag": said}
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {
            "/": links("/text", "/document"),
            "/text": Answer("A text.", headers=headers, kind="text/plain"),
            "/document": Answer(
                write_pdf("A document", ["about", "it"]), headers=headers, kind="application/pdf"
            ),
        }
    }
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        for path in ("/text", "/document"):
            row = crawled.row(web.url("a.test", path))
            assert row.digest is not None
            assert row.noindex is (said != "othello: none"), path


def test_links_with_nofollow_are_not_followed(tmp_path: Path) -> None:
    page = """<a href=/a rel=nofollow>a</a><a href=/b rel="noopener NoFollow">b</a><a href=/c rel=noopener>c</a>
    <a href=/d rel=nofollow>d</a><a href=/d>d, in its own right</a>"""
    with SmallWeb({"a.test": {"/": page, "/c": "<p>c", "/d": "<p>d"}}) as web:
        web.crawl(tmp_path / "c", "a.test")
        assert sorted(web.paths("a.test")) == ["/", "/c", "/d"]


def test_the_canonical_address_is_visited_and_kept(tmp_path: Path) -> None:
    said = links(text="Words.", head="<link rel=canonical href=/proper>")
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {
            "/": links("/copy", "/abroad"),
            "/copy": said,
            "/proper": said,
            "/abroad": links(text="Other words.", head="<link rel=canonical href=http://b.test/>"),
        }
    }
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        assert crawled.fetched() == urls(web, "a.test", ["/", "/copy", "/proper", "/abroad"])
        assert crawled.row(web.url("a.test", "/copy")).canonical == web.url("a.test", "/proper")
        assert crawled.row(web.url("a.test", "/proper")).canonical is None, "it is the page itself"
        assert crawled.row(web.url("a.test", "/abroad")).canonical == "http://b.test/"
        assert len(crawled.rows()) == 4, "out of scope, it is not visited"
        done = crivello("why", tmp_path / "c", web.url("a.test", "/copy"), "--json")
        assert json.loads(done.stdout)["others"][web.url("a.test", "/proper")] == "fetched"


def test_the_canonical_address_is_cleaned_up(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {
        "a.test": {
            "/": links("/page"),
            "/page": links(text="Words.", head='<link rel=canonical href="/page?utm_source=here">'),
            "/page?utm_source=here": "<p>Words.",
        }
    }
    with SmallWeb(hosts) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")
        assert web.paths("a.test") == ["/", "/page"]
        assert crawled.row(web.url("a.test", "/page")).canonical is None


def test_the_moment_of_a_visit_is_in_its_row(tmp_path: Path) -> None:
    with SmallWeb({"a.test": SITE}) as web:
        before = time.time()
        crawled = web.crawl(tmp_path / "c", "a.test")
        assert all(before - 1 <= row.fetched_at <= time.time() + 1 for row in crawled.rows())
        assert {row.address for row in crawled.rows()} == {"127.3.0.1"}
