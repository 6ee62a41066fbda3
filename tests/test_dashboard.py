"""The dashboard in a real Chromium: a crawl that is watched and steered by hand."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

import httpx
import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from crivello import Collection
from crivello.crawl.steering import CommandLog
from crivello.web import Server
from crivello.web.dashboard.overview import apart
from tests.crawling import CONTACT, CRIVELLO, kill
from tests.small_web import Answer, SmallWeb, links, rules, words
from tests.test_steering import Running, crawling, slow_site
from tests.test_web_browser import FAINT_TEXT, axe_violations, opened, overflow

pytestmark = pytest.mark.browser

SCRIPT = "<script>alert(1)</script>"
ENOUGH = 60_000
# A crawl of this number of slow pages does not end before it is told to.
MANY = 3_000


def site() -> dict[str, object]:
    """A site with what a dashboard shows: rules, errors, redirects, hostile texts."""
    return {
        "/robots.txt": rules("User-agent: *", "Crawl-delay: 0.01", "Disallow: /secret", f"# {SCRIPT}"),
        "/": f'{links("/bees", "/gone", "/secret")}<a href="/bees?{SCRIPT}">{escape(SCRIPT)}</a>',
        "/bees": f"<title>Bees {SCRIPT}</title><p>{words(40, 'bee')}</p>",
        "/gone": Answer("gone", status=410),
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SmallWeb, Collection, str]]:
    """A crawl that is over, its index, and a server."""
    folder = tmp_path_factory.mktemp("dashboard") / "c"
    with SmallWeb({"a.test": site()}) as web:  # type: ignore[dict-item]
        web.crawl(folder, "a.test")
        with Collection.write(folder) as writer:
            writer.index(progress=False)
            writer.rank(progress=False)
        collection = Collection(folder)
        with Server(collection) as server:
            yield web, collection, server.url


@contextmanager
def watched(
    browser: Browser, folder: Path, web: SmallWeb, *seeds: str, **how: bool
) -> Iterator[tuple[Page, Running]]:
    """A running crawl, and its dashboard served by a reader of the collection."""
    with (
        crawling(web, folder, *seeds) as running,
        Server(Collection(folder)) as server,
        opened(browser, **how) as page,
    ):
        page.set_default_timeout(ENOUGH)
        page.goto(f"{server.url}/crawl")
        yield page, running
        page.close()


def state(page: Page) -> str:
    return page.locator(".state b").inner_text()


def pages(page: Page) -> int:
    tile = page.locator(".tiles div", has=page.get_by_text("Pages", exact=True))
    return int(tile.locator("dd").first.inner_text().replace(",", ""))


def expect_told(page: Page, said: str) -> None:
    expect(page.locator("#told li, #told ~ ol li").first).to_contain_text(said, timeout=ENOUGH)


def reload_until(page: Page, said: str) -> None:
    """What is not live shows when the page is loaded again."""
    for _ in range(60):
        if page.get_by_text(said).count():
            return
        page.wait_for_timeout(250)
        page.reload()
    raise AssertionError(f"it does not say {said!r}: {page.locator('main').inner_text()}")


def test_the_page_is_live_and_its_plots_can_be_read(browser: Browser, tmp_path: Path) -> None:
    with (
        SmallWeb({"a.test": slow_site(pages=MANY)}) as web,
        watched(browser, tmp_path / "c", web, "a.test") as (page, _),
    ):
        expect(page.locator(".state b")).to_have_text("Crawling")
        before = pages(page)
        page.wait_for_function(
            "before => +document.querySelectorAll('.tiles dd')[2].textContent > before", arg=before
        )
        plot = page.get_by_role("img", name=re.compile("Pages per second: .* now, at most"))
        expect(plot.locator(".line")).to_have_count(1)
        plot.hover()
        output = page.locator("[data-plot=pages] output")
        expect(output).to_have_text(re.compile(r"\d+:\d+:\d+.*: [\d.,]+/s"))
        # All plots point to the same moment, and keys move it.
        assert page.locator(".cross[visibility=visible]").count() == 4
        page.mouse.move(0, 0)
        expect(page.locator(".cross[visibility=visible]")).to_have_count(0)
        plot.focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".cross[visibility=visible]")).to_have_count(4)
        page.keyboard.press("Tab")
        expect(page.locator(".cross[visibility=visible]")).to_have_count(0)
        page.get_by_role("button", name="Whole crawl").click()
        expect(page.get_by_role("button", name="Whole crawl")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("[data-plot=pages] text").last).to_contain_text("of crawling")
        expect(page).to_have_title(re.compile(r"^[\d.,]+ pages/s · c$"))


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_pause_resume_and_stop(browser: Browser, tmp_path: Path, scripts: bool) -> None:
    with (
        SmallWeb({"a.test": slow_site(pages=MANY)}) as web,
        watched(browser, tmp_path / "c", web, "a.test", scripts=scripts) as (page, running),
    ):

        def press(name: str) -> None:
            button = page.get_by_role("button", name=name)
            if scripts:
                button.click()
                return
            with page.expect_navigation():  # a page cannot be reloaded while another one comes
                button.click()

        def becomes(word: str) -> None:
            for _ in range(40):
                if not scripts:
                    page.reload()
                if state(page) == word:
                    return
                page.wait_for_timeout(250)
            raise AssertionError(f"it is {state(page)}, not {word}")

        press("Pause")
        becomes("Paused")
        expect(page.get_by_role("button", name="Pause")).to_be_hidden()
        asked = len(web.log)
        page.wait_for_timeout(600)
        assert len(web.log) == asked
        press("Resume")
        becomes("Crawling")
        press("Stop")
        becomes("Stopped")
        assert running.end().report.is_stopped
        expect_told(page, "done: stopped")
        assert len(web.log) < MANY


def test_every_form_reaches_the_crawl(browser: Browser, tmp_path: Path) -> None:
    sites = {
        "a.test": slow_site(pages=MANY),
        "b.test": {"/": links("/x", text=words(9)), "/x": words(30, "x")},
    }
    with (
        SmallWeb(sites) as web,  # type: ignore[arg-type]
        watched(browser, tmp_path / "c", web, "a.test") as (page, running),
    ):
        page.get_by_label("Add seeds").fill(web.url("b.test"))
        page.get_by_role("button", name="Add seeds").click()
        expect_told(page, f"done: {web.url('b.test')} was added")
        running.wait_for(lambda: "/x" in web.paths("b.test"))
        page.get_by_label("Follow links").select_option("domain")
        page.get_by_role("button", name="Change scope").click()
        expect_told(page, "done: the scope is domain")
        page.get_by_label("Seconds between requests").fill("0.05")
        page.get_by_role("button", name="Change delay").click()
        expect_told(page, "done: the delay is 0.05 s")
        page.get_by_label("Visit a page again").fill(web.url("b.test", "/x"))
        page.get_by_role("button", name="Refresh").click()
        expect_told(page, "is visited again")
        running.wait_for(lambda: web.paths("b.test").count("/x") > 1)
        # In a pause, when no request is on its way.
        page.get_by_role("button", name="Pause").click()
        expect_told(page, "done: paused")
        asked = web.paths("a.test")
        page.get_by_label("Fetch nothing from a host").fill("a.test")
        page.get_by_role("button", name="Block host").click()
        expect_told(page, "done: a.test is blocked")
        page.get_by_role("button", name="Resume").click()
        crawled = running.end()
        events = [each["detail"] for each in crawled.decisions() if each["event"] == "steered"]
        assert len(events) == 7 and all(event.endswith("127.0.0.1 on the dashboard said") for event in events)
        refused = [row.url for row in crawled.rows() if row.detail == "its host is blocked"]
        assert len(refused) > MANY // 2 and web.paths("a.test") == asked


def test_a_blocked_host_can_be_let_in_again(browser: Browser, tmp_path: Path) -> None:
    with (
        SmallWeb({"a.test": slow_site(pages=MANY)}) as web,
        watched(browser, tmp_path / "c", web, "a.test") as (page, running),
    ):
        page.get_by_role("button", name="Pause").click()
        expect(page.locator(".state b")).to_have_text("Paused")
        page.get_by_label("Fetch nothing from a host").fill("a.test")
        page.get_by_role("button", name="Block host").click()
        expect_told(page, "done: a.test is blocked")
        asked = len(web.log)
        page.reload()
        expect(page.get_by_role("list", name="Blocked hosts")).to_contain_text("a.test")
        page.get_by_role("button", name="Unblock").click()
        expect_told(page, "done: a.test is not blocked any more")
        assert len(web.log) == asked
        page.get_by_role("button", name="Resume").click()
        running.wait_for(lambda: len(web.log) > asked + 10)


def test_a_host_and_a_url_are_steered_from_their_pages(browser: Browser, tmp_path: Path) -> None:
    sites = {"a.test": slow_site(pages=MANY), "b.test": {"/": links("/x"), "/x": words(30, "x")}}
    with (
        SmallWeb(sites) as web,  # type: ignore[arg-type]
        watched(browser, tmp_path / "c", web, "a.test", "b.test") as (page, running),
    ):
        here = page.url

        running.wait_for(lambda: "/x" in web.paths("b.test"))
        # The page of a stored URL.
        running.wait_for(lambda: Collection(tmp_path / "c").page(web.url("b.test", "/x")))
        page.goto(f"{here}/url?url={web.url('b.test', '/x')}")
        page.get_by_role("button", name="Visit it again").click()
        reload_until(page, f"done: {web.url('b.test', '/x')} is visited again")
        running.wait_for(lambda: web.paths("b.test").count("/x") == 2)
        page.get_by_role("link", name=web.url("b.test")[:-1], exact=True).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(web.url("b.test")[:-1])
        page.get_by_role("button", name="Refresh its pages").click()
        reload_until(page, f"done: 2 pages of {web.url('b.test')[:-1]} are visited again")
        running.wait_for(lambda: web.paths("b.test").count("/x") == 3 and web.paths("b.test").count("/") == 2)
        page.get_by_role("button", name="Block").click()
        reload_until(page, f"done: b.test:{web.port} is blocked")
        expect(page.locator(".pairs").first).to_contain_text("nothing is fetched from it")
        page.get_by_role("button", name="Unblock").click()
        reload_until(page, f"done: b.test:{web.port} is not blocked any more")
        expect(page.get_by_role("button", name="Block", exact=True)).to_be_visible()
        running.tell("stop")
        steered = [each["detail"] for each in running.end().decisions() if each["event"] == "steered"]
        assert len(steered) == 5, steered


def test_what_is_refused_is_said(browser: Browser, tmp_path: Path) -> None:
    with (
        SmallWeb({"a.test": slow_site(pages=MANY)}) as web,
        # The refused seed is answered with 400, which the console tells.
        watched(browser, tmp_path / "c", web, "a.test", complain=False) as (page, _),
    ):
        page.get_by_label("Visit a page again").fill(web.url("a.test", "/never"))
        page.get_by_role("button", name="Refresh").click()
        expect_told(page, "refused: ")
        before = len(CommandLog(tmp_path / "c").read())
        page.get_by_label("Add seeds").fill("gopher://a.test/")
        page.get_by_role("button", name="Add seeds").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("gopher://a.test/")
        assert len(CommandLog(tmp_path / "c").read()) == before
        page.go_back()
        # What the browser itself refuses is not sent.
        page.get_by_label("Seconds between requests").fill("soon")
        page.get_by_role("button", name="Change delay").click()
        assert page.get_by_label("Seconds between requests").evaluate("field => field.matches(':invalid')")
        assert len(CommandLog(tmp_path / "c").read()) == before


def test_the_theme_is_switched(browser: Browser, finished: tuple[SmallWeb, Collection, str]) -> None:
    _, _, url = finished
    with opened(browser) as page:
        page.goto(f"{url}/crawl")
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        for name in ("light", "dark"):
            page.get_by_role("button", name="Theme").click()
            expect(page.get_by_role("button", name="Theme")).to_have_accessible_name(f"Theme: {name}")
        dark = page.evaluate(paper)
        assert dark != light
        page.reload()
        assert page.evaluate(paper) == dark


def test_a_host_has_its_rules_its_rest_and_its_pages(
    browser: Browser, finished: tuple[SmallWeb, Collection, str]
) -> None:
    web, _, url = finished
    with opened(browser) as page:
        page.goto(f"{url}/crawl")
        page.get_by_label("A host:").fill(web.url("a.test"))
        page.locator("form", has=page.get_by_label("A host:")).get_by_role("button").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(web.url("a.test")[:-1])
        expect(page.locator(".robots")).to_contain_text("Disallow: /secret")
        expect(page.locator(".robots")).to_contain_text(SCRIPT)
        expect(page.locator("main")).to_contain_text("status 200")
        expect(page.locator("main")).to_contain_text("its robots.txt asks for 0.01 s")
        expect(page.get_by_role("row")).to_have_count(6)
        expect(page.get_by_role("row", name=re.compile("gone"))).to_contain_text("410")
        expect(page.get_by_role("row", name=re.compile("secret"))).to_contain_text("refused by robots.txt")
        page.get_by_role("button", name="Refresh its pages").click()
        expect(page.locator("#told ~ ol li").first).to_contain_text("waits to be read")
        page.get_by_role("button", name="Block").click()
        expect(page.locator("#told ~ ol li").first).to_contain_text("Block a.test")


def test_a_url_has_its_story_versions_links_and_ranks(
    browser: Browser, finished: tuple[SmallWeb, Collection, str]
) -> None:
    web, _, url = finished
    with opened(browser) as page:
        page.goto(f"{url}/crawl")
        page.get_by_label("A URL:").fill(web.url("a.test", "/bees"))
        page.locator("form", has=page.get_by_label("A URL:")).get_by_role("button").click()
        expect(page.locator(".verdict")).to_have_text("It was fetched.")
        story = page.locator(".timeline")
        expect(story).to_contain_text("first on")
        expect(story).to_contain_text("it is in the index")
        expect(story).to_contain_text("indegree")
        expect(page.get_by_role("link", name=web.url("a.test"), exact=True).first).to_be_visible()
        page.get_by_label("For a query").fill("bee3")
        page.locator("form", has=page.get_by_label("For a query")).get_by_role("button").click()
        expect(page.get_by_role("status")).to_contain_text("It is number 1 of")
        page.get_by_label("For a query").fill("zebra")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("It does not match zebra")
        page.get_by_role("link", name=web.url("a.test"), exact=True).first.click()
        # What strangers wrote is text here.
        expect(page.locator(".links").last).to_contain_text(SCRIPT)
        page.get_by_role("button", name="Visit it again").click()
        expect(page.locator("#told ~ ol li").first).to_contain_text("Refresh http://a.test")


def test_the_token_is_asked_for_once(browser: Browser, finished: tuple[SmallWeb, Collection, str]) -> None:
    _, collection, _ = finished
    guarded = Collection(collection.folder)
    serve = msgspec.structs.replace(guarded.settings.serve, dashboard_token="open sesame")
    guarded.settings = msgspec.structs.replace(guarded.settings, serve=serve)
    with Server(guarded) as server, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}/crawl")
        page.get_by_label("Token", exact=True).fill("close sesame")
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the token.")
        page.get_by_label("Token", exact=True).fill("open sesame")
        page.keyboard.press("Enter")
        expect(page.locator(".state b")).to_have_text("Ended")
        page.reload()
        expect(page.locator(".state b")).to_have_text("Ended")
        page.close()


def test_a_form_of_another_site_does_nothing(
    browser: Browser, finished: tuple[SmallWeb, Collection, str]
) -> None:
    """What a browser really sends from another origin, with a secret that leaked."""
    web, collection, url = finished
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{url}/crawl")
        secret = page.locator("input[name=form]").first.get_attribute("value")
        before = CommandLog(collection.folder).read()
        form = (
            f'<form method=post action="{url}/crawl/act"><input name=form value="{secret}">'
            "<input name=kind value=block><input name=value value=victim.example><button>Go</button></form>"
        )
        web.hosts["a.test"]["/evil"] = form  # type: ignore[index]
        page.goto(f"http://127.3.0.1:{web.port}/")  # another origin, whose pages we choose
        page.set_content(form)
        page.get_by_role("button", name="Go").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("another site")
        assert CommandLog(collection.folder).read() == before
        page.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_can_be_read(
    browser: Browser, finished: tuple[SmallWeb, Collection, str], dark: bool
) -> None:
    web, _, url = finished
    paths = [
        "/crawl",
        f"/crawl/host?host={web.url('a.test')}",
        f"/crawl/url?url={web.url('a.test', '/bees')}",
    ]
    with opened(browser, dark=dark) as page:
        for path in paths:
            page.goto(f"{url}{path}")
            for width in (360, 820, 1440):
                page.set_viewport_size({"width": width, "height": 800})
                assert overflow(page) <= 0, (path, width)
            assert page.evaluate(FAINT_TEXT) == [], path
            unlabelled = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
            assert page.evaluate(f"{unlabelled}.filter(field => field.labels.length !== 1).length") == 0
            page.keyboard.press("Tab")
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(browser: Browser, tmp_path: Path, dark: bool) -> None:
    """While a crawl runs: with plots, errors, hosts that rest, a blocked host, and commands of every answer."""
    slow = slow_site(pages=MANY) | site()
    slow["/"] = links("/gone", "/bees", "/secret", *slow)
    with (
        SmallWeb({"a.test": slow, "b.test": {"/": words(9)}}) as web,  # type: ignore[dict-item]
        watched(browser, tmp_path / "c", web, "a.test", "b.test", dark=dark) as (page, running),
    ):
        running.tell("block", "blocked.example")
        assert not running.tell("refresh", web.url("a.test", "/never")).is_done
        running.wait_for(lambda: "/gone" in web.paths("a.test"))
        # The list of blocked hosts is the page's, and the settings are those of the crawl's last second.
        reload_until(page, "Unblock")
        expect(page.locator(".blocked")).to_contain_text("blocked.example")
        expect(page.locator("[data-plots]")).to_be_visible(timeout=ENOUGH)
        expect(page.locator(".errors")).to_contain_text("status 410", timeout=ENOUGH)
        assert axe_violations(page, dark=dark) == [], "overview"
        for path in (
            f"host?host={web.url('a.test')}",
            f"url?url={web.url('a.test', '/bees')}&q=bee3",
            f"url?url={web.url('a.test', '/never')}",
        ):
            page.goto(page.url.partition("/crawl")[0] + f"/crawl/{path}")
            assert axe_violations(page, dark=dark) == [], path
        running.tell("stop")


def test_a_server_that_is_gone_is_noticed(
    browser: Browser, finished: tuple[SmallWeb, Collection, str]
) -> None:
    _, collection, _ = finished
    with browser.new_context() as context:
        page = context.new_page()
        with Server(Collection(collection.folder)) as server:
            page.goto(f"{server.url}/crawl")
            expect(page.locator("[data-lost]")).to_be_hidden()
            page.wait_for_timeout(300)
        expect(page.get_by_text("The server does not answer")).to_be_visible(timeout=ENOUGH)
        page.close()


def test_up_goes_on_when_it_is_told_something(browser: Browser, tmp_path: Path) -> None:
    """The crawl of ``crivello up`` is over, and the dashboard gives it more to do."""
    with SmallWeb({"a.test": {"/": words(9)}, "b.test": {"/": words(9, "b")}}) as web:
        hosts = web.write_hosts_file(tmp_path / "hosts")
        process = subprocess.Popen(
            [str(CRIVELLO), "up", web.url("a.test"), "--into", str(tmp_path / "c"), "--port", "0", "--delay", "0",
             "--hosts-file", str(hosts), *CONTACT],
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            found = next(filter(None, (re.search(r"at (http://\S+)/crawl", line) for line in process.stderr)))
            with opened(browser) as page:
                page.goto(f"{found[1]}/crawl")
                expect(page.locator(".state b")).to_have_text("Idle", timeout=ENOUGH)
                page.get_by_label("Add seeds").fill(web.url("b.test"))
                page.get_by_role("button", name="Add seeds").click()
                expect_told(page, "was added")
                expect(page.locator(".state b")).to_have_text("Idle", timeout=ENOUGH)
                assert web.paths("b.test") == ["/"]
                hits = httpx.get(f"{found[1]}/api/search", params={"q": "b3"}).json()
                assert hits["matches"] == 1, "what it crawled is not indexed"
                page.get_by_role("button", name="Resume").click()
                expect_told(page, "done: the crawl goes on")
                page.close()
            os.killpg(process.pid, signal.SIGINT)
            said = process.communicate(timeout=20)[1]
            assert "Traceback" not in said and "crawled as the dashboard said: 1 new page" in said
            assert not (tmp_path / "c" / "live.json").exists()
        finally:
            kill(process)  # type: ignore[arg-type]


def test_the_history_has_no_rates_over_a_moment() -> None:
    def seconds(*samples: float) -> list[float]:
        return [sample["seconds"] for sample in apart([{"seconds": second} for second in samples])]

    assert seconds() == []
    assert seconds(2.0, 7.0, 14.0, 14.01) == [2.0, 7.0, 14.01]
    assert seconds(0.1) == [0.1]
    many = seconds(*(float(second) for second in range(10_001)))
    assert many[-1] == 10_000.0 and 250 < len(many) <= 301
