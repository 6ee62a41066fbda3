"""The search page and the API, asked over loopback."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import QueryText
from crivello.errors import CorruptFile, CrivelloError
from crivello.web import Server, serve
from crivello.web.address import breadcrumb, followable
from crivello.web.paging import Paging
from crivello.web.rephrase import suggestions
from tests.memory_engine import MemoryEngine, Page, asking, text_of

PAGES = [
    Page(f"https://sky.example/wind/{number}", f"Wind {number}", f"The solar wind of day {number} & more")
    for number in range(42)
]
HOSTILE = Page(
    "javascript:alert(1)", "<script>alert(1)</script>", "hostile <img src=x onerror=alert(1)> text"
)
ADDRESSES = ["/", "/search?q=wind", "/search?q=nil", "/nowhere", "/api/search?q=wind", "/api/nowhere",
             "/api/status", "/health", "/opensearch.xml", "/robots.txt", "/static/style.css", "/complete?q=w",
             "/why-result?q=wind&url=https://sky.example/wind/0", "/favicon?host=a.example"]  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with asking(MemoryEngine([*PAGES, HOSTILE])) as client:
        yield client


def test_start_page_shows_the_collection_and_the_language(client: httpx.Client) -> None:
    page = client.get("/").text
    assert "<h1" in page and "almanac" in page
    assert "43 pages" in page and "14 Nov 2025, 09:30 UTC" in page
    assert re.search(r'href="/search\?q=[^"]+" dir="auto">wind</a>', page)


def test_start_page_of_an_empty_collection_says_how_to_crawl() -> None:
    with asking(MemoryEngine([], name="my pages", state="empty")) as client:
        page = client.get("/").text
    assert "crivello crawl https://example.org/ --into &#39;my pages&#39;" in page
    assert 'role="search"' not in page


def test_results_show_title_breadcrumb_and_marked_snippet(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": '"solar wind"'}).text
    assert re.search(r"42 pages, [\d.]+ ms", page)
    assert '<a href="https://sky.example/wind/0" rel="noopener noreferrer nofollow">Wind 0</a>' in page
    assert "sky.example wind › 0 Wind 0" in text_of(page)
    assert "The <mark>solar wind</mark> of day 0 &amp; more" in page
    assert page.count('class="site"') == page.count("<h2 dir") == 10


def test_a_page_without_a_title_is_named_by_its_url() -> None:
    with asking(MemoryEngine([Page("https://a.example/x", " ", "wind")])) as client:
        assert ">https://a.example/x</a>" in client.get("/search?q=wind").text


def test_paging_reaches_every_result_once(client: httpx.Client) -> None:
    seen: list[str] = []
    address: str | None = "/search?q=wind"
    while address:
        page = client.get(address).text
        seen += re.findall(r'<a href="(https://sky[^"]+)"', page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = following[1].replace("&amp;", "&") if following else None
    assert seen == [page.url for page in PAGES]


def test_a_page_past_the_last_leads_to_the_last(client: httpx.Client) -> None:
    for number in ["6", "101", "9" * 5000]:
        response = client.get("/search", params={"q": "wind", "page": number})
        assert (response.status_code, response.headers["location"]) == (303, "/search?q=wind&page=5")


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", "", "²"])
def test_what_is_not_a_page_number_is_refused(client: httpx.Client, number: str) -> None:
    response = client.get("/search", params={"q": "wind", "page": number})
    assert response.status_code == 400
    assert "not a whole number 1 or more" in response.text


@pytest.mark.parametrize("address", ["/search", "/search?q=", "/search?q=+%20"])
def test_an_empty_query_leads_to_the_start_page(client: httpx.Client, address: str) -> None:
    response = client.get(address)
    assert (response.status_code, response.headers["location"]) == (303, "/")


def test_a_query_may_have_a_thousand_characters(client: httpx.Client) -> None:
    assert client.get("/search", params={"q": "x" * 1000}).status_code == 200
    response = client.get("/search", params={"q": "x" * 1001})
    assert response.status_code == 400
    assert "1,001 characters" in response.text


def test_no_matches_offer_easier_queries(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": '"lunar wind" -day'}).text
    assert "No page matches" in page and "fewer words" in page
    assert 'href="/search?q=lunar+wind+-day"' in page
    assert 'href="/search?q=lunar+wind"' in page


def test_a_query_that_does_not_parse_is_searched_by_its_words() -> None:
    engine = MemoryEngine(PAGES)
    with asking(engine) as client:
        response = client.get("/search", params={"q": '"solar (wind'})
    assert response.status_code == 200
    assert engine.asked == ['"solar (wind', "solar wind"]
    assert "The quotes are not closed (character 1); searched instead: solar wind" in text_of(response.text)
    assert "42 pages" in response.text


def test_a_query_of_signs_alone_finds_nothing_and_says_why(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": "(("}).text
    assert "A parenthesis is not closed" in page and "No page matches" in page


def test_crawled_text_is_shown_never_run(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": "hostile"}).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page and "<img src=x" not in page
    assert 'href="javascript:' not in page


def test_the_query_is_shown_never_run(client: httpx.Client) -> None:
    page = client.get("/search", params={"q": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page


def test_a_failure_of_the_engine_is_a_sentence() -> None:
    failure = CorruptFile("index/terms: the checksum is wrong", "index/terms", 12)
    with asking(MemoryEngine(PAGES, failure=failure)) as client:
        page = client.get("/search?q=wind")
        answer = client.get("/api/search?q=wind")
    assert page.status_code == 500
    assert "Index/terms: the checksum is wrong." in page.text
    assert answer.status_code == 500
    assert answer.json() == {"error": "index/terms: the checksum is wrong", "hint": None}


def test_a_bug_is_a_page_too_and_protected() -> None:
    with asking(MemoryEngine(PAGES, failure=ZeroDivisionError("secret detail"))) as client:
        response = client.get("/search?q=wind")
    assert response.status_code == 500
    assert "Something went wrong" in response.text and "secret detail" not in response.text
    assert "Content-Security-Policy" in response.headers


def test_api_gives_the_results_as_json(client: httpx.Client) -> None:
    for asked, facets in [("", False), ("&facets=0", False), ("&facets=1", True)]:
        answer = client.get(f"/api/search?q=wind&top=2&offset=3{asked}").json()
        expected = MemoryEngine(PAGES).search("wind", top=2, offset=3, facets=facets).to_dict()
        assert {**answer, "microseconds": 0} == {**expected, "microseconds": 0}
        assert ("facets" in answer) == facets


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "q=",
        "q=a&top=0",
        "q=a&top=1001",
        "q=a&offset=-1",
        "q=a&offset=x",
        "q=a&facets=yes",
        "q=%22a",
        f"q={'a' * 1001}",
    ],
)
def test_api_refuses_in_json(client: httpx.Client, asked: str) -> None:
    response = client.get(f"/api/search?{asked}")
    assert response.status_code == 400
    assert set(response.json()) == {"error", "hint"}


def test_status_and_health(client: httpx.Client) -> None:
    assert client.get("/api/status").json() == {
        "state": "ready",
        "pages": 43,
        "hosts": 1,
        "terms": 54,
        "updated": "2025-11-14T09:30:00+00:00",
    }
    assert client.get("/health").json()["status"] == "ok"


def test_what_is_not_there_is_404(client: httpx.Client) -> None:
    assert client.get("/nowhere").status_code == client.get("/static/../app.py").status_code == 404
    assert client.get("/api/nowhere").json()["error"] == "there is nothing at this address"
    assert client.post("/search").status_code == 405


def test_opensearch_points_back_at_this_server(client: httpx.Client) -> None:
    response = client.get("/opensearch.xml")
    space = "{http://a9.com/-/spec/opensearch/1.1/}"
    found = ElementTree.fromstring(response.text).findall(f"{space}Url")
    templates = {url.attrib["type"]: url.attrib["template"] for url in found}
    base = str(client.base_url).rstrip("/")
    assert templates["text/html"] == base + "/search?q={searchTerms}"
    assert templates["application/x-suggestions+json"] == base + "/complete?q={searchTerms}"


def test_robots_may_not_search(client: httpx.Client) -> None:
    rules = client.get("/robots.txt").text
    assert "Disallow: /search" in rules and "Disallow: /cached" in rules


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_response_is_protected(client: httpx.Client, address: str) -> None:
    headers = client.get(address).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_no_page_has_a_script_or_a_style_of_its_own(client: httpx.Client) -> None:
    for address in ["/", "/search?q=wind", "/search?q=nil", "/nowhere", ADDRESSES[-2]]:
        page = client.get(address).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script>", page)


def test_static_files_are_kept_by_version_and_checked_without(client: httpx.Client) -> None:
    versioned = re.search(r'href="(/static/style\.css\?v=\w+)"', client.get("/").text)
    assert versioned
    assert "immutable" in client.get(versioned[1]).headers["Cache-Control"]
    plain = client.get("/static/style.css")
    assert plain.headers["Cache-Control"] == "public, no-cache"
    again = client.get("/static/style.css", headers={"If-None-Match": plain.headers["ETag"]})
    assert again.status_code == 304


def test_a_taken_port_is_one_clear_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CrivelloError, match=f"127.0.0.1:{port}: the port is taken") as caught:
            serve(MemoryEngine([]), port=port)
    assert caught.value.hint == "name another port with --port"


def test_other_refused_addresses_are_sentences_too() -> None:
    for host, port, reason in [
        ("127.0.0.1", 70_000, "ports go from 0 to 65535"),
        ("no-such-host.invalid", 0, "does not resolve"),
        ("192.0.2.1", 0, "does not have that address"),
    ]:
        with pytest.raises(CrivelloError, match=reason):
            Server(MemoryEngine([]), host, port)


def test_a_stopped_server_frees_its_port() -> None:
    with Server(MemoryEngine(PAGES)) as first:
        port = int(first.url.rpartition(":")[2])
    with Server(MemoryEngine(PAGES), port=port) as second:
        assert httpx.get(f"{second.url}/health").is_success
        second.stop()


def test_ctrl_c_ends_serve_cleanly() -> None:
    program = (
        "from crivello.web import serve; from tests.memory_engine import MemoryEngine;"
        "serve(MemoryEngine([]), port=0, on_ready=lambda url: print(url, flush=True)); print('ended')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert httpx.get(process.stdout.readline().strip()).is_success
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(timeout=20)
    assert (process.returncode, rest, complaints) == (0, "ended\n", "")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('"solar wind" AND moon', "solar wind moon"),
        ("moon AND (water OR ice*) NOT cheese", "moon water ice"),
        ('jaguar -car -"big cat"', "jaguar"),
        ("title:aurora", "aurora"),
        ("moon (site:a.example -lang:it after:never ice)", "moon ice"),
        ("well-known c++", "well-known c++"),
        ("हिन्दी खोज", "हिन्दी खोज"),
        ('-(" AND', ""),
    ],
)
def test_plain_words(query: str, words: str) -> None:
    assert QueryText(query).plain_words() == words


@given(st.text(alphabet='ab "()-*:ANDORNOTtype', max_size=40))
def test_suggestions_are_new_and_never_empty(query: str) -> None:
    offered = [suggestion.query for suggestion in suggestions(query)]
    assert len(set(offered)) == len(offered)
    assert all(offered) and " ".join(query.split()) not in offered


@pytest.mark.parametrize(
    ("url", "crumbs"),
    [
        ("https://a.example/", ["a.example"]),
        ("http://a.example:81/b%20c/d?e=f", ["a.example:81", "b c", "d?e=f"]),
        ("https://bank.example@evil.example/x", ["evil.example", "x"]),
        ("https://a.example/%E2%80%AEgpj.exe", ["a.example", "%E2%80%AEgpj.exe"]),
        ("urn:isbn:1", ["urn:isbn:1"]),
    ],
)
def test_breadcrumb(url: str, crumbs: list[str]) -> None:
    assert breadcrumb(url) == crumbs


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", " javascript:x", "java\nscript:x",
     "//a.example/", "/x", "http://", "https://[::1", "https://evil.example\\@bank.example/", ""],
)  # fmt: skip
def test_only_web_addresses_are_links(url: str) -> None:
    assert followable(url) is None


@given(st.text(max_size=60), st.sampled_from(["", "https://", "http://a.example/", "https://["]))
def test_any_address_can_be_shown(rest: str, start: str) -> None:
    assert "".join(breadcrumb(start + rest)).isprintable()


@given(st.integers(1, 100), st.integers(1, 100))
def test_paging_offers_a_window_around_the_page(one: int, other: int) -> None:
    page, last = min(one, other), max(one, other)
    numbers = Paging(page, last).numbers
    assert page in numbers and numbers[0] >= 1 and numbers[-1] <= last
    assert len(numbers) == min(7, last)
