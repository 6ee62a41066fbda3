"""From crawled pages to the search page in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from crivello import Collection, settings
from crivello.lab.web import SampleWeb
from crivello.web import Server

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("page") / "sample"
    chosen = settings.load(flags={"crawl": {"delay": 0.0}}, environment={})
    with SampleWeb(hosts=8, pages_per_host=12, slow=0.005) as web:
        with Collection.write(folder, settings=chosen, create=True) as collection:
            collection.crawl(web.seeds)
            collection.index()
            collection.rank()
        with Server(Collection(folder)) as server:
            yield server.url


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.goto(address)
    yield page
    page.close()
    assert complaints == []


def search(page: Page, query: str) -> None:
    page.get_by_role("combobox").fill(query)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?**")


def test_a_query_gives_marked_results_and_a_next_page(page: Page) -> None:
    search(page, "lighthouse keeper")
    expect(page.locator("mark").first).to_be_visible()
    assert page.locator("mark").first.inner_text().lower().startswith(("lighthouse", "keep"))
    first = (
        page.locator("article h2, article h3").all_inner_texts() or page.locator("main a").all_inner_texts()
    )
    page.get_by_role("link", name="Next").click()
    expect(page.locator("mark").first).to_be_visible()
    second = (
        page.locator("article h2, article h3").all_inner_texts() or page.locator("main a").all_inner_texts()
    )
    assert first != second


def test_a_query_without_matches_helps(page: Page) -> None:
    search(page, '"xyzzyx lighthouse"')
    expect(page.get_by_role("main")).to_contain_text("xyzzyx")
    expect(page.locator("mark")).to_have_count(0)
    without = page.get_by_role("main").get_by_role("link").first
    without.click()
    expect(page.locator("mark").first).to_be_visible()


def test_a_hostile_title_is_text(page: Page) -> None:
    search(page, "script alert")
    expect(page.get_by_role("link", name="<script>alert(1)</script>")).to_be_visible()
    assert page.evaluate("document.querySelectorAll('main script').length") == 0


def test_a_result_leads_to_the_copy_that_the_crawl_kept(page: Page) -> None:
    search(page, "lighthouse keeper")
    result = page.locator(".results > li").first
    title = result.get_by_role("heading").first.inner_text()
    result.get_by_role("link", name="Cached").first.click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.frame_locator("iframe").locator("body")).to_contain_text("keeper", ignore_case=True)


def test_a_query_is_completed_with_keys_alone(page: Page) -> None:
    page.get_by_role("combobox").focus()
    page.keyboard.type("lighth")
    options = page.get_by_role("option")
    expect(options.first).to_contain_text("lighth", ignore_case=True)
    page.keyboard.press("ArrowDown")
    chosen = options.first.inner_text()
    expect(page.get_by_role("combobox")).to_have_value(chosen)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?**")
    expect(page.get_by_role("combobox")).to_have_value(chosen)
    expect(page.locator(".results mark").first).to_be_visible()


def test_a_document_tells_its_type_and_length_and_shows_its_text(page: Page) -> None:
    search(page, "type:pdf")
    result = page.locator(".results > li").first
    expect(result.get_by_text("PDF", exact=True)).to_be_visible()
    expect(result.locator(".facts")).to_contain_text(re.compile(r"\b\d+ pages?\b"))
    result.get_by_role("link", name="Cached").click()
    expect(page.frame_locator("iframe").locator("p").first).to_be_visible()


def test_why_a_result_is_there(page: Page) -> None:
    search(page, "lighthouse keeper")
    page.get_by_role("link", name="Why?").first.click()
    expect(page.get_by_role("table", name="Where the points come from")).to_contain_text("in the text")
    expect(page.get_by_role("rowheader", name="Links")).to_be_visible()
