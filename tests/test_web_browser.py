"""The search page as people meet it, in a real Chromium."""

from __future__ import annotations

import re
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
    Document(
        "https://sea.example/t.pdf",
        "Tides",
        "copy",
        body=b"%PDF-1.7",
        media_type="application/pdf",
        converted='<!doctype html><html lang="en"><title>Tides</title><div id="page=1"><h1>The tides of the year</h1></div>',
    ),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    engine = MemoryEngine([*DOCUMENTS, *HOSTILE, *COPIES, *LAMPS[1:]])
    with Server(engine) as server:
        yield server.url


def type_into_box(page: Page, text: str) -> None:
    """Types as one does on the home page, whose box gets the focus by itself, a moment after the page is loaded."""
    expect(page.get_by_label("Search almanac")).to_be_focused()
    page.keyboard.type(text)


@contextmanager
def opened(
    browser: Browser, *, dark: bool = False, width: int = 1200, scripts: bool = True, complain: bool = True
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
    assert complaints == [] or not complain


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with opened(browser) as page:
        yield page


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def axe_violations(page: Page, *, dark: bool) -> list[str]:
    """What axe-core has against a page; in the dark only its contrast, as nothing else depends on the colours."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    standard = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    # Given to the page by the debugger: its own policy forbids a script that is not from its server.
    page.evaluate(axe.AXE_SCRIPT)
    options = {"runOnly": ["color-contrast"] if dark else standard}
    found = page.evaluate("(options) => axe.run(options)", options)["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


def overflow(page: Page) -> int:
    root = "document.documentElement"
    return int(page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_search_then_next_page(browser: Browser, url: str, scripts: bool) -> None:
    with opened(browser, scripts=scripts) as page:
        page.goto(url)
        type_into_box(page, '"solar wind"')
        page.keyboard.press("Enter")
        expect(page.get_by_text("25 pages, ")).to_be_visible()
        expect(page.locator("mark").first).to_have_text("solar wind")
        expect(page.get_by_role("link", name="Wind 0")).to_be_visible()
        page.get_by_role("link", name="Next").click()
        expect(page.get_by_role("link", name="Wind 10")).to_be_visible()
        expect(page.get_by_label("Search almanac")).to_have_value('"solar wind"')
        page.get_by_role("link", name="Page 3").click()
        expect(page.locator(".results > li")).to_have_count(5)
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
    expect(page.get_by_role("combobox")).to_have_value("lamp site:coast.example lang:it")
    chips = page.get_by_role("list", name="Filters in use")
    expect(chips.get_by_role("link")).to_have_count(2)
    chips.get_by_role("link", name="coast.example").click()
    expect(page.get_by_role("combobox")).to_have_value("lamp lang:it")


def test_facets_are_folded_on_a_phone(browser: Browser, url: str) -> None:
    with opened(browser, width=360) as page:
        page.goto(f"{url}/search?q=lamp")
        year = page.get_by_role("link", name="2022 6")
        expect(year).to_be_hidden()
        page.get_by_text("Filters", exact=True).click()
        year.click()
        expect(page.get_by_text("6 pages, ")).to_be_visible()


def test_the_keyboard_goes_past_the_facets(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.get_by_role("button", name="Theme").focus()
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


@pytest.mark.parametrize("address", ["/cached?url=", "/cached/raw?url=", "/cached/view?url="])
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


def test_a_copy_that_is_no_page_shows_its_text_and_is_downloaded(page: Page, url: str) -> None:
    page.goto(f"{url}/cached?url=https://sea.example/t.pdf")
    expect(page.frame_locator("iframe").get_by_text("The tides of the year")).to_be_visible()
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
    page.get_by_role("combobox").focus()
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
    expect(page.get_by_role("combobox")).to_have_value("j/k")


def test_the_arrows_still_scroll(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("ArrowDown")
    # Asked again and again from here: Playwright's own way of waiting is eval, which the page forbids.
    deadline = time.monotonic() + 10
    while page.evaluate("scrollY") == 0:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def lightness(page: Page) -> list[int]:
    colour = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    return list(page.evaluate(colour))


def test_dark_mode_turns_the_light_around(browser: Browser, url: str) -> None:
    with opened(browser) as page:
        page.goto(url)
        assert min(lightness(page)) > 200
    with opened(browser, dark=True) as page:
        page.goto(url)
        assert max(lightness(page)) < 50


def test_the_theme_is_switched_and_kept(page: Page, url: str) -> None:
    page.goto(url)
    switch = page.get_by_role("button", name="Theme")
    expect(switch).to_have_accessible_name("Theme: automatic")
    switch.click()
    expect(switch).to_have_accessible_name("Theme: light")
    switch.press("Enter")
    expect(switch).to_have_accessible_name("Theme: dark")
    assert max(lightness(page)) < 50
    page.goto(f"{url}/search?q=wind")
    assert max(lightness(page)) < 50
    switch.click()
    expect(switch).to_have_accessible_name("Theme: automatic")
    page.reload()
    assert min(lightness(page)) > 200


def test_without_scripts_nothing_is_in_the_way(browser: Browser, url: str) -> None:
    with opened(browser, scripts=False) as page:
        page.goto(f"{url}/search?q=wind")
        expect(page.get_by_role("searchbox")).to_be_visible()
        for absent in (page.get_by_role("button", name="Theme"), page.get_by_role("button", name="Keys")):
            expect(absent).to_be_hidden()


def test_completions_by_keys_alone(page: Page, url: str) -> None:
    page.goto(url)
    box, options = page.get_by_role("combobox"), page.get_by_role("option")
    expect(box).to_have_attribute("aria-expanded", "false")
    type_into_box(page, "Lamp 1")
    expect(options).to_have_text(
        ["lamp 1", "lamp 10", "lamp 11", "lamp 12", "lamp 13", "lamp 14", "lamp 15", "lamp 16"]
    )
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("status")).to_have_text("8 completions")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", "completion-1")
    expect(box).to_have_value("lamp 10")
    assert focused(page) == "q"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_have_value("Lamp 1")
    expect(page.locator("[aria-activedescendant]")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    expect(box).to_have_value("lamp 16")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_value("Lamp 1")
    page.keyboard.type("2")
    expect(options).to_have_text(["lamp 12"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/search?q=lamp+12")


def test_a_completion_is_clicked(page: Page, url: str) -> None:
    page.goto(url)
    type_into_box(page, "tid")
    page.get_by_role("option", name="tides").click()
    page.wait_for_url(f"{url}/search?q=tides")


def test_completions_leave_with_the_focus(page: Page, url: str) -> None:
    page.goto(url)
    type_into_box(page, "lamp")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_a_server_without_completions_is_no_trouble(page: Page, url: str) -> None:
    page.route("**/complete?**", lambda route: route.fulfill(status=204))
    page.goto(url)
    type_into_box(page, "lamp")
    page.wait_for_timeout(300)
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_text("24 pages, ")).to_be_visible()


def test_the_keys_are_listed_and_turned_off(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.get_by_role("button", name="Keys").click()
    keys.get_by_label("Do not use single letters as keys").check()
    keys.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("/")
    assert focused(page) not in ("Wind 0", "q")


def test_letters_turn_the_pages(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=wind")
    page.keyboard.press("n")
    page.wait_for_url(f"{url}/search?q=wind&page=2")
    page.keyboard.press("p")
    page.wait_for_url(f"{url}/search?q=wind")


def test_why_and_back(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=solar")
    page.get_by_role("link", name="Why?").nth(1).click()
    expect(page.get_by_role("heading", name="Why this result")).to_be_visible()
    expect(page.get_by_role("rowheader", name="solar")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="solar").click()
    expect(page.get_by_text("25 pages, ")).to_be_visible()


def test_near_copies_are_one_click_away(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.get_by_role("link", name="1 near copy").first.click()
    expect(page.get_by_role("heading", name="Near copies")).to_be_visible()
    expect(page.get_by_role("link", name="Lamp 1", exact=True)).to_be_visible()


def test_a_range_of_dates_is_a_chip(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.get_by_role("textbox", name="From").fill("2021-02-01")
    page.get_by_role("textbox", name="To", exact=True).fill("2022-12-31")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("12 pages, ")).to_be_visible()
    chips = page.get_by_role("list", name="Filters in use").get_by_role("link")
    expect(chips).to_have_text([re.compile("^since 2021-02-01"), re.compile("^before 2023-01-01")])
    chips.first.click()
    expect(page.get_by_role("combobox")).to_have_value("lamp before:2023-01-01")


def test_an_example_of_the_start_page_is_clicked(page: Page, url: str) -> None:
    page.goto(url)
    page.locator(".language a").first.click()
    expect(page.locator(".results > li").first).to_be_visible()


def test_every_site_has_an_icon(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    drawn = "[...document.querySelectorAll('.results img')].map((image) => image.decode().then(() => image.naturalWidth))"
    widths = page.evaluate(f"Promise.all({drawn})")
    assert len(widths) == 2 and all(widths)


@pytest.mark.parametrize("width", [820, 1100, 1440, 1920])
def test_box_and_text_share_their_edge(browser: Browser, url: str, width: int) -> None:
    with opened(browser, width=width) as page:
        page.goto(f"{url}/search?q=lamp")
        left = {
            place: page.locator(place).first.bounding_box()
            for place in (".bar", ".results", ".tally", "footer p")
        }
        edges = [box["x"] for box in left.values() if box]
        assert len(edges) == 4
        text = edges if width > 1024 else edges[1:]
        assert max(text) - min(text) < 1
        right = width - (edges[1] + page.locator(".results").evaluate("(list) => list.offsetWidth"))
        assert right < 0.3 * width


def test_a_phone_has_no_hints_for_keys(browser: Browser, url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{url}/search?q=wind")
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    context.close()


def test_paper_has_the_results_alone(page: Page, url: str) -> None:
    page.goto(f"{url}/search?q=lamp")
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="Lamp 0", exact=True)).to_be_visible()
    for absent in (".top", ".facets", ".paging", "footer"):
        expect(page.locator(absent)).to_be_hidden()


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
        f"/cached?url=https://sea.example/{LONG_WORD}",
        f"/why-result?q=hostile&url={HOSTILE[2].url}",
        f"/near-copies?q=lamp&url={LAMPS[2].url}",
    ]
    with opened(browser, width=360, complain=False) as page:
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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(browser: Browser, url: str, dark: bool) -> None:
    addresses = ["/", "/search?q=lamp", "/search?q=lamp lang:en after:2021-01-01&page=2", "/search?q=lapm",
                 "/search?q=(lamp", "/search?q=nil -one", f"/cached?url={LAMPS[0].url}", "/nowhere",
                 "/cached?url=https://sea.example/t.pdf", "/cached?url=https://sea.example/none",
                 f"/why-result?q=lamp&url={LAMPS[0].url}", f"/near-copies?q=lamp&url={LAMPS[0].url}"]  # fmt: skip
    with opened(browser, dark=dark, complain=False) as page:
        for address in addresses:
            page.goto(url + address)
            assert axe_violations(page, dark=dark) == [], address
        page.goto(url)
        type_into_box(page, "lamp")
        expect(page.get_by_role("listbox")).to_be_visible()
        assert axe_violations(page, dark=dark) == [], "completions"
        page.goto(f"{url}/search?q=lamp")
        page.keyboard.press("?")
        assert axe_violations(page, dark=dark) == [], "keys"
