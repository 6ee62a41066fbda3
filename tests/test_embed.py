"""The search box on the page of another site, in a real Chromium, and the page of the API."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.doors import make, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("embed") / "small")


@contextmanager
def site() -> Iterator[ThreadingHTTPServer]:
    """Another site; its page has the box, and a policy that allows only what docs/api.md says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            search = self.server.search  # type: ignore[attr-defined]
            page = f"""<!doctype html><html lang=en><title>Docs</title><main><h1>Docs</h1>
            <script src="{search}/static/embed.js" data-label="Search the docs" data-filter="site:sea.example" defer>
            </script><p>Text below the box</p></main>""".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            policy = f"default-src 'none'; script-src {search}; connect-src {search}"
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def opened(browser: Browser, folder: Path, *, allowed: bool) -> Iterator[tuple[Page, list[str]]]:
    with site() as docs:
        origin = f"http://127.0.0.1:{docs.server_port}"
        with served(folder, cors=origin if allowed else "https://elsewhere.example") as search:
            docs.search = search  # type: ignore[attr-defined]
            page = browser.new_page()
            complaints: list[str] = []
            page.on(
                "console",
                lambda message: complaints.append(message.text) if message.type == "error" else None,
            )
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{origin}/favicon.ico")
            yield page, complaints
            page.close()


def test_the_box_searches_from_another_origin_by_keys_alone(browser: Browser, folder: Path) -> None:
    with opened(browser, folder, allowed=True) as (page, complaints):
        box = page.get_by_role("searchbox", name="Search the docs")
        expect(box).to_be_visible()
        box.focus()
        page.keyboard.type("lighthouse")
        expect(page.get_by_role("status")).to_have_text("2 pages")
        links = page.get_by_role("link")
        expect(links).to_have_count(2)
        assert {link.get_attribute("href") for link in links.all()} == {
            "https://sea.example/0",
            "https://sea.example/1",
        }
        assert page.locator("mark").first.text_content() == "lighthouse"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(links.nth(1)).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(links.nth(0)).to_be_focused()
        page.keyboard.press("Escape")
        expect(box).to_be_focused()
        expect(links).to_have_count(0)
        box.fill("lighthuose")
        expect(page.get_by_role("status")).to_contain_text("for ")
        box.fill("nil")
        expect(page.get_by_role("status")).to_have_text("No page matches.")
        box.fill('"open')
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("does not parse")
        assert [text for text in complaints if "400" not in text] == []


def test_the_box_says_so_where_it_is_not_allowed(browser: Browser, folder: Path) -> None:
    with opened(browser, folder, allowed=False) as (page, _):
        page.get_by_role("searchbox").fill("lighthouse")
        expect(page.get_by_role("status")).to_have_text("The search does not answer now.")


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_of_the_api_works_without_scripts(browser: Browser, folder: Path, width: int) -> None:
    with served(folder) as search:
        context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 900})
        page = context.new_page()
        page.goto(f"{search}/api")
        page.get_by_role("link", name="/api/v1/page", exact=True).click()
        expect(page.get_by_role("heading", name="GET /api/v1/page", exact=True)).to_be_in_viewport()
        page.locator("summary", has_text="Hit").click()
        expect(page.locator("#schema-Hit pre")).to_be_visible()
        context.close()
        measured = browser.new_page(viewport={"width": width, "height": 900})
        measured.goto(f"{search}/api")
        assert measured.evaluate("document.documentElement.scrollWidth <= innerWidth")
        measured.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_on_the_page_of_the_api(
    browser: Browser, folder: Path, scheme: Literal["light", "dark"]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    with served(folder) as search:
        page = browser.new_page(color_scheme=scheme)
        page.goto(f"{search}/api")
        page.evaluate(axe.AXE_SCRIPT)
        found = page.evaluate("axe.run()")["violations"]
        assert [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]] == []
        page.close()
