"""What the page of results and the API tell, beside the pages that they found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import httpx
import pytest

from crivello.errors import QuerySyntaxError
from tests.memory_engine import MemoryEngine, Page, asking, text_of

WIND = [
    Page(f"https://sky.example/wind/{number}", f"Wind {number}", f"solar wind {number}")
    for number in range(42)
]


@pytest.fixture(scope="module")
def varied() -> Iterator[httpx.Client]:
    """Pages of which something is known."""
    pages = [
        Page("https://sky.example/1", "One", "a comet tail", "en", "html", date(2023, 4, 5)),
        Page("https://sky.example/2", "Two", "a comet tail of a comet", "en", "html", date(2024, 4, 5)),
        Page("https://sky.example/3", "Three", "comet tail at last", "en", "html", date(2023, 4, 5)),
        Page("https://sky.example/4", "Four", "a comet tail"),
        Page("https://mare.example/5", "Cinque", "comet tail, coda", "it", "pdf", date(2024, 6, 7)),
    ]
    with asking(MemoryEngine(pages, a_site=2)) as client:
        yield client


def test_a_result_tells_what_is_known_of_it(varied: httpx.Client) -> None:
    page = varied.get("/search", params={"q": "comet OR tail"}).text
    assert '<time datetime="2023-04-05">5 Apr 2023</time>' in page
    assert (
        "<span>Italian</span>" in page and "<span>PDF</span>" in page and "<span>Web page</span>" not in page
    )
    assert "<span>1 similar page</span>" in page
    assert "1 more from <bdi>sky.example</bdi>" in page
    narrower = "/search?q=%28comet+OR+tail%29+site%3Asky.example"
    assert f'href="{narrower}"' in page
    assert "4 pages" in varied.get(narrower).text


def test_facets_lead_to_fewer_pages_and_chips_back(varied: httpx.Client) -> None:
    page = varied.get("/search", params={"q": "tail"}).text
    assert "5 pages" in page
    assert text_of(page[page.index("<nav") : page.index("</nav>")]).endswith(
        "Site sky.example 4 mare.example 1 Language English 3 Italian 1 "
        "Type Web page 3 PDF 1 Year 2024 2 2023 2"
    )
    address = re.search(r'href="([^"]+)" rel="nofollow"><bdi>2023<', page)
    assert address
    narrow = varied.get(address[1].replace("&amp;", "&")).text
    assert "2 pages" in narrow
    assert re.search(r'href="/search\?q=tail" [^>]+><bdi>2023</bdi>', narrow)


def test_a_facet_of_one_value_is_no_choice() -> None:
    with asking(MemoryEngine(WIND)) as client:
        assert 'class="facets"' not in client.get("/search?q=wind").text


def test_what_was_meant_is_shown_where_nothing_matches(varied: httpx.Client) -> None:
    page = varied.get("/search?q=comte+site:sky.example").text
    told = "No page matches comte site:sky.example ; showing results for comet site:sky.example ."
    assert told in text_of(page) and "4 pages" in page
    insisting = re.search(r'href="([^"]+)">Search only for', page)
    assert insisting and re.search(r'href="/search\?q=comet" [^>]+><bdi>sky.example', page)
    insisted = varied.get(insisting[1].replace("&amp;", "&")).text
    assert "Did you mean comet site:sky.example ?" in text_of(insisted) and "No page matches" in insisted
    assert "4 pages" not in insisted


def test_pages_of_what_was_meant_follow_it() -> None:
    with asking(MemoryEngine(WIND)) as client:
        page = client.get("/search?q=wnid").text
    assert 'href="/search?q=wind&amp;page=2"' in page


def test_the_api_tells_what_was_meant(varied: httpx.Client) -> None:
    answer = varied.get("/api/search?q=comte").json()
    assert (answer["query"], answer["corrected"], answer["matches"]) == ("comte", "comet", 5)
    insisted = varied.get("/api/search?q=comte&correct=0").json()
    assert (insisted["suggestion"], insisted["matches"]) == ("comet", 0) and "corrected" not in insisted


def test_the_api_knows_its_parameters(varied: httpx.Client) -> None:
    for address, problem, hint in [
        ("/api/search?q=a&tpo=3", "'tpo' is not a parameter", "did you mean top?"),
        ("/api/search?q=a&z=3", "'z' is not a parameter", "there are q, top, offset, facets, correct"),
        ("/api/status?verbose=1", "'verbose' is not a parameter", "there are none here"),
        (
            "/api/search?q=a&correct=2",
            "correct is '2', which is neither 0 nor 1",
            "write correct=1 for yes, correct=0 for no",
        ),
    ]:
        answer = varied.get(address)
        assert (answer.status_code, answer.json()) == (400, {"error": problem, "hint": hint})
    assert varied.get("/search?q=comet&utm_source=a&tpo=3").status_code == 200


def test_results_say_when_they_are_not_the_whole_truth() -> None:
    with asking(MemoryEngine(WIND, countable=30, partial=True)) as client:
        page = client.get("/search?q=wind").text
    assert "More than 30 pages, " in page
    assert "The search stopped after the time limit; there may be better answers." in page


def test_paging_ends_with_the_pages_that_are_shown() -> None:
    pages = [Page(f"https://{number % 6}.example/{number}", "", f"wind {number}") for number in range(40)]
    with asking(MemoryEngine(pages, a_site=2)) as client:
        assert 'aria-label="Page 2"' in client.get("/search?q=wind").text
        last = client.get("/search?q=wind&page=2").text
        past = client.get("/search?q=wind&page=3").text
    assert last.count("<h2 dir") == 2 and 'rel="next"' not in last and "That was all" not in last
    assert "That was all" in past and 'rel="next"' not in past


def test_the_character_where_a_query_went_wrong_is_marked() -> None:
    with asking(MemoryEngine(WIND)) as client:
        page = client.get("/search", params={"q": "solar (wind"}).text
    assert "<code>solar <span>(</span>wind</code>" in page
    with asking(MemoryEngine(WIND, failure=QuerySyntaxError("a word is missing", 5))) as other:
        assert "<code>solar<span> </span></code>" in other.get("/search?q=solar").text


def test_api_tells_what_the_page_shows(varied: httpx.Client) -> None:
    answer = varied.get("/api/search?q=tail+type:pdf&facets=1").json()
    assert (answer["exact"], answer["partial"], answer["suggestion"]) == (True, False, None)
    [hit] = answer["hits"]
    known = {"site": "mare.example", "language": "it", "kind": "pdf", "date": "2024-06-07"}
    assert {name: hit[name] for name in known} == known
    assert (hit["id"], hit["similar"], hit["more_from_site"]) == (hit["url"], 0, 0)
    assert answer["facets"]["language"] == [{"value": "it", "count": 1, "query": "tail type:pdf lang:it"}]


def test_a_page_of_results_is_light() -> None:
    days = [date(2010 + number % 12, 1 + number % 11, 3) for number in range(60)]
    pages = [
        Page(f"https://{number % 15}.example/{number}", f"Wind {number}", f"wind {number} " * 12, language, kind,
             days[number], b"kept")
        for number, (language, kind) in enumerate([("en", "pdf"), ("it", "html"), ("de", "text")] * 20)
    ]  # fmt: skip
    with asking(MemoryEngine(pages)) as client:
        page = client.get("/search?q=wind")
        files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
        weight = {address: client.get(address).num_bytes_downloaded for address in files}
    assert page.text.count("Cached") == 10 and "9 more</summary>" in page.text
    assert page.num_bytes_downloaded + sum(weight.values()) < 10_000
