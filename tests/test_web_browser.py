"""The search page as people meet it, in a real Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from crivello.web import Server
from tests.memory_engine import MemoryEngine, html_of
from tests.memory_engine import Page as Document

pytestmark = pytest.mark.browser

FAINT_TEXT = Path(__file__).with_name("faint_text.js").read_text()
SCRIPT = "<script>alert(1)</script>"
LONG_WORD = "donaudampfschifffahrtsgesellschaftskapitän" * 6
DOCUMENTS = [
    Document(f"https://sky.example/wind/{number}", f"Wind {number}", f"The solar wind of day {number}")
    for number in range(25)
]
HOSTILE = [
    Document("https://evil.example/", SCRIPT, f"hostile {SCRIPT} text"),
    Document("javascript:alert(2)", "A script for an address", "hostile address"),
    Document(f"https://long.example/{LONG_WORD}", LONG_WORD, f"hostile {LONG_WORD}"),
]


LAMPS = [
    Document(
        f"https://{'coast' if number % 3 else 'sea'}.example/lamp/{number}",
        f"Lamp {number}",
        f"The lamp of night {number // 2}",
        language,
        kind,
        date(2020 + number % 4, 5, 6),
    )
    for number, (language, kind) in enumerate([("en", "html"), ("it", "html"), ("en", "pdf")] * 8)
]
# What a page could do if it were let: run, send, load, leave, and read what is not its own.
GREEDY = f"""<!doctype html><meta charset=koi8-r><meta http-equiv=refresh content="0;url=https://evil.example/">
<title>x</title>{SCRIPT}<img src=x onerror=alert(3)><img src=https://evil.example/pixel>
<link rel=stylesheet href=https://evil.example/style><style>p {{ color: rgb(1, 2, 3) }}</style>
<iframe src=https://evil.example/frame></iframe><form action=https://evil.example/><button>Send</button></form>
<a href=https://evil.example/ target=_top>Leave</a><a href=https://evil.example/>Go</a><p>Ветер с моря</p>"""
COPIES = [
    replace(LAMPS[0], body=html_of(LAMPS[0])),
    Document("https://evil.example/copy", "", "copy", body=GREEDY.encode("koi8-r"), encoding="KOI8-R"),
    Document("https://sea.example/t.pdf", "Tides", "copy", body=b"%PDF-1.7", media_type="application/pdf"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    engine = MemoryEngine([*DOCUMENTS, *HOSTILE, *COPIES, *LAMPS[1:]])
    with Server(engine) as server:
        yield server.url


@contextmanager
def opened(
    browser: Browser, *, dark: bool = False, width: int = 1200, scripts: bool = True
) -> Iterator[Page]:
    """A page that must neither open a dialog nor complain on the console, where breaches of the CSP show."""
    complaints: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
    )
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", dismiss)
    try:
        yield page
    finally:
        context.close()
    assert complaints == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with opened(browser) as page:
        yield page


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def overflow(page: Page) -> int:
    root = "document.documentElement"
    return int(page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_search_then_next_page(browser: Browser, url: str, scripts: bool) -> None:
    with opened(browser, scripts=scripts) as page:
        page.goto(url)
        expect(page.get_by_role("searchbox", name="Search almanac")).to_be_focused()
        page.keyboard.type('"solar wind"')
        page.keyboard.press("Enter")
        expect(page.get_by_text("25 pages, ")).to_be_visible()
        expect(page.locator("mark").first).to_have_text("solar wind")
        expect(page.get_by_role("link", name="Wind 0")).to_be_visible()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_role("link", name="Wind 10")).to_be_visible()
        expect(page.get_by_role("searchbox")).to_have_value('"solar wind"')
        page.get_by_role("link", name="Page 3").click()
        expect(page.locator(".results li")).to_have_count(5)
        expect(page.get_by_role("link", name="Next")).to_have_count(0)


def test_no_matches_lead_on_by_a_link(page: Page, url: str) -> None:
    page.goto(f'{url}/search?q="wind solar"')
    expect(page.get_by_role("heading", name='No page matches "wind solar"')).to_be_visible()
    page.get_by_role("link", name="without the quotes").click()
    expect(page.get_by_text("25 pages, ")).to_be_visible()


def test_crawled_scripts_are_text(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=hostile")
    expect(page.get_by_role("link", name=SCRIPT)).to_be_visible()
    expect(page.locator(".snippet").first).to_have_text(f"hostile {SCRIPT} text")
    expect(page.get_by_role("heading", name="A script for an address")).to_be_visible()
    expect(page.get_by_role("link", name="A script for an address")).to_have_count(0)


def test_facets_narrow_down_and_chips_take_back(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    expect(page.get_by_text("24 pages, ")).to_be_visible()
    facets = page.get_by_role("navigation", name="Narrow the results down")
    facets.get_by_role("link", name="coast.example 16").click()
    facets.get_by_role("link", name="Italian 8").click()
    expect(page.get_by_text("8 pages, ")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("lamp site:coast.example lang:it")
    chips = page.get_by_role("list", name="Filters in use")
    expect(chips.get_by_role("link")).to_have_count(2)
    chips.get_by_role("link", name="coast.example").click()
    expect(page.get_by_role("searchbox")).to_have_value("lamp lang:it")


def test_facets_are_folded_on_a_phone(browser: Browser, url: str) -> None:
    with opened(browser, width=360) as page:
        page.goto(f"{url}/search?q=lamp")
        year = page.get_by_role("link", name="2022 6")
        expect(year).to_be_hidden()
        page.get_by_text("Narrow down").click()
        year.click()
        expect(page.get_by_text("6 pages, ")).to_be_visible()


def test_the_keyboard_goes_past_the_facets(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.get_by_role("button", name="Search").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the results")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == "Lamp 0"


def test_a_result_leads_to_its_copy(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.get_by_role("link", name="Cached").click()
    expect(page.get_by_role("heading", name="Lamp 0")).to_be_visible()
    expect(page.frame_locator("iframe").get_by_text("The lamp of night 0")).to_be_visible()
    expect(page.get_by_role("link", name="Open the live page")).to_have_attribute("href", LAMPS[0].url)


@pytest.mark.parametrize("address", ["/cached?url=", "/cached/raw?url="])
def test_a_copy_is_shown_and_can_do_nothing(browser: Browser, url: str, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    left: list[str] = []

    def note(route: Route) -> None:
        left.append(route.request.url)
        route.abort()

    # What the policy forbids never gets as far as this.
    page.route("https://evil.example/**", note)
    page.on("dialog", lambda dialog: left.append(dialog.message))
    page.goto(f"{url}{address}https://evil.example/copy", wait_until="networkidle")
    copy = page.frame_locator("iframe") if address == "/cached?url=" else page
    wind = copy.get_by_text("Ветер с моря")
    expect(wind).to_have_css("color", "rgb(1, 2, 3)")
    copy.get_by_role("button", name="Send").click()
    if address == "/cached?url=":
        copy.get_by_role("link", name="Leave").click()
    page.wait_for_timeout(200)
    expect(wind).to_be_visible()
    if address == "/cached?url=":
        copy.get_by_role("link", name="Go").click()
        page.wait_for_timeout(200)
    context.close()
    assert left == []


def test_a_copy_that_is_no_page_is_downloaded(page: Page, url: str) -> None:
    page.goto(f"{url}/cached?url=https://sea.example/t.pdf")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the copy").click()
    assert download.value.suggested_filename == "t.pdf"
    assert download.value.path().read_bytes() == b"%PDF-1.7"


def test_letters_move_through_the_results(page: Page, url: str) -> None:
    page.route("https://sky.example/**", lambda route: route.fulfill(body="arrived"))
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert focused(page) == "Wind 1"
    page.keyboard.press("Enter")
    page.wait_for_url("https://sky.example/wind/1")


def test_arrows_move_from_the_box_to_the_results_and_back(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.get_by_role("searchbox").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Wind 1"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "q"


def test_keys_stay_out_of_the_way_of_typing(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("/")
    page.keyboard.type("j/k")
    expect(page.get_by_role("searchbox")).to_have_value("j/k")


def test_the_arrows_still_scroll(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("ArrowDown")
    # Asked again and again from here: Playwright's own way of waiting is eval, which the page forbids.
    deadline = time.monotonic() + 10
    while page.evaluate("scrollY") == 0:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def test_dark_mode_turns_the_light_around(browser: Browser, url: str) -> None:
    lightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    with opened(browser) as page:
        page.goto(url)
        assert min(page.evaluate(lightness)) > 200
    with opened(browser, dark=True) as page:
        page.goto(url)
        assert max(page.evaluate(lightness)) < 50


def test_a_narrow_phone_never_scrolls_sideways(browser: Browser, url: str) -> None:
    addresses = [
        "/",
        "/search?q=wind&page=2",
        "/search?q=hostile",
        f"/search?q={LONG_WORD}",
        f"/search?q=lamp site:{LONG_WORD}",
        f'/search?q="{LONG_WORD}',
        "/search?q=lamp",
        f"/cached?url={COPIES[0].url}",
        "/cached?url=https://sea.example/t.pdf",
    ]
    with opened(browser, width=360) as page:
        for address in addresses:
            page.goto(url + address)
            for folded in page.locator("summary:visible").all():
                folded.click()
            assert overflow(page) == 0, address


def test_counts_follow_the_crawl_until_it_ends(page: Page) -> None:
    engine = MemoryEngine(DOCUMENTS[:2], state="crawling")
    page.clock.install()
    with Server(engine) as server:
        page.goto(server.url)
        expect(page.get_by_text("Still crawling: 2 pages so far.")).to_be_visible()
        engine.pages = DOCUMENTS
        page.clock.fast_forward(5_000)
        expect(page.get_by_text("Still crawling: 25 pages so far.")).to_be_visible()
        engine.state = "ready"
        page.clock.fast_forward(5_000)
        expect(page.get_by_text("Still crawling")).to_be_hidden()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(browser: Browser, url: str, dark: bool) -> None:
    addresses = ["/", '/search?q="solar wind"', "/search?q=nil -one", "/search?q=lamp lang:en", "/search?q=(lamp",
                 "/search?q=lapm", "/cached?url=https://sea.example/t.pdf"]  # fmt: skip
    with opened(browser, dark=dark) as page:
        for address in addresses:
            page.goto(url + address)
            assert page.evaluate(FAINT_TEXT) == [], address
