"""The documentation as a site: every page is in it, its links lead somewhere, and Crivello finds its pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from docs.generate import ROOT
from docs.site import COLLECTION, NAVIGATION, OUTSIDE, build, translated

import crivello

ADDRESS = "http://127.0.0.1:8000/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    return build(tmp_path_factory.mktemp("built") / "site")


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.forms: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        elif tag in ("script", "img") and "src" in said:
            self.loaded.append(said["src"])
        elif tag == "link" and said.get("rel") == "stylesheet":
            self.loaded.append(said["href"])
        elif tag == "form" and "action" in said:
            self.forms.append(said["action"])


def test_every_page_is_in_the_navigation() -> None:
    listed = [page for section in NAVIGATION.values() for page in section]
    there = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert sorted(listed) == sorted([*there, *OUTSIDE])


@pytest.mark.parametrize(
    ("folder", "text", "said"),
    [
        ("docs", "[a](index.md#b)", "[a](indexing.md#b)"),
        ("docs", "[a](../python/crivello/web/app.py) [b](../README.md)", "a [b](index.md)"),
        ("", "[a](docs/web.md) ![b](docs/images/search.png)", "[a](web.md) ![b](images/search.png)"),
        ("docs", "[a](https://a.example/)", "[a](https://a.example/)"),
    ],
)
def test_links_are_those_of_the_site(folder: str, text: str, said: str) -> None:
    assert translated(text, folder) == said


def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) == sum(map(len, NAVIGATION.values()))
    for page in pages:
        found = _Page(page.read_text())
        assert "/search" in found.forms
        base = urljoin(ADDRESS, page.relative_to(site).as_posix())
        for link in found.links + found.loaded:
            parts = urlsplit(urljoin(base, link))
            if f"{parts.scheme}://{parts.netloc}/" != ADDRESS:
                assert link not in found.loaded, f"{page}: {link}"
                continue
            target = site / unquote(parts.path).lstrip("/")
            assert (target / "index.html").exists() or target.is_file(), f"{page}: {link}"


def test_crivello_finds_the_pages(site: Path) -> None:
    docs = crivello.open(site / COLLECTION)
    assert docs.count("*") == sum(map(len, NAVIGATION.values()))
    best = [hit.url for hit in docs.search("systemd service unit reload workers", top=3)]
    assert f"{ADDRESS}operate/" in best
    [hit] = docs.search("title:dictionaries", top=1)
    assert re.search("dictionaries", hit.url)
