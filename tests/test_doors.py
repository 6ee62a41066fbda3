"""The doors that other programs know: SearXNG's form, feeds of a query, the sitemap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import feedparser
import httpx
import pytest

import crivello
from crivello.web.api.sitemap import Sitemap
from tests.doors import asking, make, served

_SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("doors") / "small")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with asking(folder) as client:
        yield client


def test_searxng(client: httpx.Client) -> None:
    response = client.get("/search", params={"q": "lens site:sea.example", "format": "json", "safesearch": 1})
    answer = response.json()
    assert response.headers["content-type"] == "application/json"
    assert (answer["query"], answer["number_of_results"]) == ("lens site:sea.example", 1)
    [result] = answer["results"]
    assert (result["url"], result["title"]) == ("https://sea.example/0", "The Fresnel lens")
    assert result["content"] == "A lighthouse lens bends the light of one flame"
    assert result["publishedDate"] == "2024-05-01T00:00:00"
    assert result["parsed_url"] == ["https", "sea.example", "/0", "", "", ""]
    assert answer["corrections"] == answer["answers"] == answer["unresponsive_engines"] == []


def test_searxng_pages_filters_and_corrections(client: httpx.Client) -> None:
    def found(**parameters: str | int) -> list[str]:
        said = client.get("/search", params={"format": "json", **parameters}).json()
        return [result["url"] for result in said["results"]]

    first, second = found(q="the"), found(q="the", pageno=2)
    assert len(first) == 10 and second and not {*first} & {*second}
    italian = "https://land.example/2"
    assert italian in found(q="lighthouse", language="it-IT") and italian not in found(
        q="lighthouse", language="en"
    )
    assert found(q="lighthouse", language="all") and not found(q="bees site:land.example", time_range="day")
    assert found(q='bees "honey') == found(q="bees honey")
    misspelt = client.get("/search?q=lighthuose&format=json").json()
    assert misspelt["corrections"] == ["lighthouse"] and misspelt["results"]
    posted = client.post("/search", data={"q": "bees", "format": "json"}).json()
    assert [result["url"] for result in posted["results"]] == found(q="bees")


@pytest.mark.parametrize(
    "parameters",
    [
        {"q": ""},
        {"q": "lens", "pageno": 0},
        {"q": "lens", "time_range": "soon"},
        {"q": "lens", "format": "csv"},
    ],
)
def test_wrong_requests_of_searxng_are_problems(client: httpx.Client, parameters: dict[str, str]) -> None:
    response = client.get("/search", params={"format": "json", **parameters})
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")


def test_a_long_body_is_refused(client: httpx.Client) -> None:
    response = client.post("/search", content=b"q=" + b"x" * 100_000)
    assert (response.status_code, response.json()["type"]) == (413, "/api#body-too-large")


def test_without_a_format_it_is_a_page(client: httpx.Client) -> None:
    for path in ("/", "/search?q=lens"):
        assert client.get(path).headers["content-type"].startswith("text/html")


def test_the_wrapper_of_langchain(folder: Path) -> None:
    """With the package where it is installed (250 MB); its request is the one below, as read in its source."""
    with served(folder) as url:
        try:
            from langchain_community.utilities import SearxSearchWrapper
        except ImportError:
            asked = {"language": "en", "format": "json", "q": "lens site:sea.example", "engines": "a,b"}
            found = json.loads(httpx.get(url, params=asked).text)["results"]
            assert [result["url"] for result in found[:5]] == ["https://sea.example/0"]
            assert {"content", "title", "url", "engines", "category"} <= found[0].keys()
        else:
            wrapper = SearxSearchWrapper(searx_host=url)
            [first] = wrapper.results("lens site:sea.example", num_results=5)
            assert (first["link"], first["title"]) == ("https://sea.example/0", "The Fresnel lens")
            assert first["snippet"] == wrapper.run("lens site:sea.example")


@pytest.mark.parametrize(
    "path", ["/search.rss?", "/search.atom?", "/search?format=rss&", "/search?format=atom&"]
)
def test_a_query_is_a_feed_with_the_newest_first(client: httpx.Client, path: str) -> None:
    response = client.get(f"{path}q=lighthouse+site:sea.example")
    feed = feedparser.parse(response.content, sanitize_html=False)
    assert not feed.bozo and feed.version == ("rss20" if "rss" in path else "atom10")
    assert feed.feed.title == "lighthouse site:sea.example · small"
    assert [entry.link for entry in feed.entries] == ["https://sea.example/0", "https://sea.example/1"]
    assert [date(*entry.updated_parsed[:3]).year if "updated" in entry else date(*entry.published_parsed[:3]).year
            for entry in feed.entries] == [2024, 2023]  # fmt: skip
    assert "<mark>lighthouse</mark>" in feed.entries[0].summary
    again = client.get(
        f"{path}q=lighthouse+site:sea.example", headers={"If-None-Match": response.headers["etag"]}
    )
    assert again.status_code == 304
    assert client.get(f"{path}q=").status_code == 400


def test_what_feeds_quote_is_escaped(client: httpx.Client) -> None:
    for form in ("rss", "atom"):
        [entry] = feedparser.parse(client.get(f"/search.{form}?q=hums").content, sanitize_html=False).entries
        assert entry.title == "Bees & honey"
        assert "&lt;<mark>hums</mark>&gt;" in entry.summary


def test_the_sitemap_has_every_page_that_can_be_found(folder: Path, client: httpx.Client) -> None:
    root = ElementTree.fromstring(client.get("/sitemap.xml").content)
    listed = [element.text for element in root.iter(f"{_SITEMAP}loc")]
    assert listed == [row.url for row in crivello.open(folder).pages() if row.indexable]
    assert len(listed) > 10 and all(element.text for element in root.iter(f"{_SITEMAP}lastmod"))
    assert "<url>" not in client.get("/sitemap.xml?site=nowhere.example").text
    assert client.get("/sitemap-2.xml").status_code == client.get("/sitemap-0.xml").status_code == 404
    assert client.get("/sitemap.xml?sites=a").status_code == 400


def test_a_large_sitemap_is_an_index(folder: Path) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    collection = crivello.open(folder)
    with TestClient(
        Starlette(routes=Sitemap(collection, urls_a_file=7).routes), "http://a.example"
    ) as client:
        root = ElementTree.fromstring(client.get("/sitemap.xml?since=1d").content)
        files = [element.text or "" for element in root.iter(f"{_SITEMAP}loc")]
        assert root.tag == f"{_SITEMAP}sitemapindex" and files[0] == "http://a.example/sitemap-1.xml?since=1d"
        listed = [
            element.text
            for file in files
            for element in ElementTree.fromstring(client.get(file).content).iter(f"{_SITEMAP}loc")
        ]
    assert listed == [row.url for row in collection.pages() if row.indexable]
