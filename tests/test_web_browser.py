"""The search page as people meet it, in a real Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from crivello.web import Server
from tests.memory_engine import MemoryEngine
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


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server(MemoryEngine([*DOCUMENTS, *HOSTILE])) as server:
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


@pytest.mark.parametrize(
    "address", ["/", "/search?q=wind&page=2", "/search?q=hostile", f"/search?q={LONG_WORD}"]
)
def test_a_narrow_phone_never_scrolls_sideways(browser: Browser, url: str, address: str) -> None:
    with opened(browser, width=360) as page:
        page.goto(url + address)
        assert overflow(page) == 0


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
@pytest.mark.parametrize("address", ["/", '/search?q="solar wind"', "/search?q=nil -one"])
def test_text_has_the_contrast_of_wcag_aa(browser: Browser, url: str, address: str, dark: bool) -> None:
    with opened(browser, dark=dark) as page:
        page.goto(url + address)
        assert page.evaluate(FAINT_TEXT) == []
