"""What the page of results and the API tell, beside the pages that they found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from crivello import Collection
from crivello.errors import CorruptFile, QuerySyntaxError
from crivello.search.results import Explanation
from crivello.store.sites import site_name
from crivello.web.dates import in_words
from crivello.web.reasons import reasons_of
from tests import documents
from tests.memory_engine import MemoryEngine, Page, asking, text_of
from tests.small_web import Answer, SmallWeb, links

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
        Page(
            "https://mare.example/5",
            "Cinque",
            "comet tail, coda",
            "it",
            "pdf",
            date(2024, 6, 7),
            extent="12 pages",
        ),
    ]
    with asking(MemoryEngine(pages, a_site=2)) as client:
        yield client


def test_a_result_tells_what_is_known_of_it(varied: httpx.Client) -> None:
    page = varied.get("/search", params={"q": "comet OR tail"}).text
    assert '<time datetime="2023-04-05" title="5 Apr 2023">5 Apr 2023</time>' in page
    assert "<span>Italian</span>" in page and "<span>English</span>" not in page
    assert '<span class="badge">PDF</span> <span>12 pages</span>' in page and "Web page</span>" not in page
    assert "All 4 from <bdi>sky.example</bdi>" in page and "from <bdi>mare.example" not in page
    narrower = "/search?q=%28comet+OR+tail%29+site%3Asky.example"
    assert f'href="{narrower}"' in page
    assert "4 pages" in varied.get(narrower).text


def test_facets_lead_to_fewer_pages_and_chips_back(varied: httpx.Client) -> None:
    page = varied.get("/search", params={"q": "tail"}).text
    assert "5 pages" in page
    assert text_of(page[page.index("<nav") : page.index("</nav>")]).endswith(
        "Site sky.example 4 mare.example 1 Language English 3 Italian 1 "
        "Type Web page 3 PDF 1 Year 2024 2 2023 2 Dates From To Apply"
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
    assert "4 pages, " not in insisted


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
    assert page.num_bytes_downloaded + sum(weight.values()) < 12_000


def test_style_script_and_shell_are_light() -> None:
    with asking(MemoryEngine(WIND)) as client:
        shell = client.get("/").text
        files = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', shell))
        weight = len(shell) + sum(len(client.get(address).content) for address in files)
    assert len(files) == 4 and weight < 30_000


def test_pages_of_a_site_stand_together(varied: httpx.Client) -> None:
    page = varied.get("/search?q=tail").text
    [_, one, other] = page.split('<div class="site">')
    assert re.findall(r"<h(\d) dir[^>]+><a[^>]+>(\w+)<", one) == [("2", "One"), ("3", "Two")]
    assert 'aria-label="Also from sky.example"' in one and "Cinque" in other
    assert "<b>sky.example</b>" in one and "<details><summary>" not in one
    narrow = varied.get("/search?q=tail+site:sky.example").text
    assert narrow.count('<div class="site">') == narrow.count("<h2 dir") == 2


def test_many_pages_of_a_site_are_folded_under_its_name() -> None:
    pages = [Page(f"https://sky.example/{n or ''}", f"Sky {n}", f"wind {n}") for n in range(5)]
    with asking(MemoryEngine([*pages, Page("https://sea.example/x", "Sea", "wind")])) as client:
        page = client.get("/search?q=wind").text
    assert "<b><bdi>Sky 0</bdi></b>" in page and "<b>sea.example</b>" in page
    folded = page[page.index("<summary>2 more from <bdi>sky.example") : page.index("</details></li>")]
    assert re.findall(r"<h3 dir[^>]+><a[^>]+>(.*?)<", folded) == ["Sky 3", "Sky 4"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The Quiet Review", "The Quiet Review"),
        ("Home | Sea  and Sky", "Sea and Sky"),
        ("Python: the language", "Python"),
        ("Welcome", ""),
        ("Index of /doc", ""),
        ("A sentence about everything that this site has", ""),
        ("evil\u202egro.knab", ""),
        ("", ""),
    ],
)
def test_what_a_site_calls_itself(title: str, name: str) -> None:
    assert site_name(title) == name


def test_a_value_that_nearly_all_have_is_no_choice() -> None:
    pages = [Page(f"https://a.example/{n}", "", f"wind {n}", "en", "html") for n in range(19)]
    with asking(MemoryEngine([*pages, Page("https://a.example/it", "", "wind", "it", "html")])) as client:
        page = client.get("/search?q=wind").text
    facets = text_of(page[page.index("<nav") : page.index("</nav>")])
    assert facets.endswith("Language Italian 1")


def test_the_form_for_dates_leads_to_a_filter(varied: httpx.Client) -> None:
    asked = varied.get("/search", params={"q": "tail", "from": "2023-01-01", "to": "2023-12-31"})
    assert asked.headers["location"] == "/search?q=tail+after%3A2023-01-01+before%3A2024-01-01"
    page = varied.get(asked.headers["location"]).text
    assert "2 pages" in page and 'name="from" value="2023-01-01"' in page
    assert 'name="to" value="2023-12-31"' in page
    again = varied.get("/search", params={"q": "tail after:2023-01-01 lang:en", "to": "2020-02-29"})
    assert again.headers["location"] == "/search?q=tail+lang%3Aen+before%3A2020-03-01"
    bare = varied.get("/search", params={"q": "after:2023-01-01", "from": "", "to": ""})
    assert bare.headers["location"] == "/search?q=%2A"
    wrong = varied.get("/search", params={"q": "tail", "from": "May"})
    assert wrong.status_code == 400 and "which is not a day" in wrong.text


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (date(2026, 3, 2), "today"),
        (date(2026, 3, 1), "yesterday"),
        (date(2026, 2, 20), "10 days ago"),
        (date(2026, 1, 5), "5 Jan"),
        (date(2025, 12, 31), "31 Dec 2025"),
        (date(2026, 3, 3), "3 Mar"),
    ],
)
def test_days_as_people_say_them(day: date, words: str) -> None:
    assert in_words(day, today=date(2026, 3, 2)) == words


def test_why_a_result_is_there_is_a_table(varied: httpx.Client) -> None:
    page = varied.get("/search?q=comet+tail").text
    address = re.search(r'href="(/why-result[^"]+sky.example%2F2)"', page)
    assert address
    why = varied.get(address[1].replace("&amp;", "&")).text
    rows = re.findall(r"<tr>(.*?)</tr>", why, re.DOTALL)[1:]
    assert [text_of(row) for row in rows] == [
        "comet twice in the text, of 6 words 3 pages have it 2.00",
        "tail once in the text, of 6 words 3 pages have it 1.00",
    ]
    assert "3.00" in why and 'aria-label="67 %"' in why
    missing = varied.get("/why-result?q=nil&url=https://sky.example/2")
    assert missing.status_code == 404 and "This page does not match the query." in missing.text
    assert varied.get("/why-result?q=comet").status_code == 400


def test_the_score_of_a_collection_is_told_in_words() -> None:
    words = Explanation(
        "lav", 2.0, "x = 1 (1 in title of 3 words: 1; 4 in body of 1200 words: 2); idf 1 for 1 documents"
    )
    near = Explanation("proximity", 1.0, "weighs 0.5", (Explanation("body", 1.0, "close"),))
    rank = Explanation("static rank by pagerank", -1.0, "0.5 · ln(1 + 3)")
    added = Explanation("added by Recency", 3.0, "")
    score = Explanation("score", 2.0, "", (words, near, rank))
    told = reasons_of(Explanation("reranked by Recency", 5.0, "", (score, added)))
    assert [(one.what, one.why, round(one.share)) for one in told] == [
        ("Added by Recency", [], 50),
        (
            "lav",
            ["once in the title, of 3 words", "4 times in the text, of 1,200 words", "no other page has it"],
            33,
        ),
        ("The words are near each other", ["close together in the text"], 17),
        ("Links", ["what the links to the page are worth, by pagerank"], 0),
    ]


def test_near_copies_are_listed(varied: httpx.Client) -> None:
    page = varied.get("/search?q=comet").text
    address = re.search(r'href="(/near-copies[^"]+)"[^>]*>1 near copy<', page)
    assert address
    copies = varied.get(address[1].replace("&amp;", "&")).text
    assert re.findall(r"<h2 dir[^>]+><a[^>]+>(\w+)<", copies) == ["Four"]
    assert "No other result" in varied.get("/near-copies?q=comet&url=https://sky.example/2").text


def test_completions_are_opensearch_suggestions(varied: httpx.Client) -> None:
    response = varied.get("/complete?q=t")
    assert response.headers["Content-Type"] == "application/x-suggestions+json"
    assert response.json() == ["t", ["two", "three"]]
    assert varied.get("/complete").json() == ["", []]
    assert varied.get("/complete", params={"q": "t" * 300}).json()[1] == []


def test_every_example_of_the_start_page_finds_something() -> None:
    titles = ["Comet tails", "Solar wind — Sky", "Lunar tides", "Deep ocean", "Home page", "Index", "123"]
    kinds = [("en", "html", date(2023, 4, 5)), ("en", "html", date(2024, 4, 5)), ("it", "pdf", None)]
    pages = [
        Page(f"https://{place % 3}.example/{place}", title, f"{title} {place}", *kinds[place % 3])
        for place, title in enumerate(titles * 2)
    ]
    with asking(MemoryEngine(pages)) as client:
        home = client.get("/").text
        offered = [address.replace("&amp;", "&") for address in re.findall(r'<a href="(/search[^"]+)"', home)]
        assert "Solar wind" not in home and "/search?q=%22comet+tails%22" in offered
        assert any("site%3A" in one for one in offered) and "/search?q=type%3Apdf" in offered
        for address in offered:
            assert 'class="results"' in client.get(address).text, address
        lost = client.get("/nowhere").text
    assert "Queries that find something here" in lost and "comet tails" in lost


def test_the_sites_of_the_start_page_have_their_icons() -> None:
    pages = [
        Page(f"http://{site}/{place}", "Comet tails", "x")
        for place, site in enumerate(["a.example:81", "b.example"])
    ]
    with asking(MemoryEngine(pages)) as client:
        icons = re.findall(r'src="(/favicon[^"]+)"', client.get("/").text)
    assert sorted(icons) == ["/favicon?host=a.example%3A81", "/favicon?host=b.example"]


def test_the_start_page_comes_up_when_no_search_works() -> None:
    with asking(MemoryEngine(WIND, failure=CorruptFile("index/terms: damaged", "index/terms", 1))) as client:
        page = client.get("/")
    assert page.status_code == 200 and 'role="search"' in page.text and "What you can type" not in page.text


def test_each_word_of_a_query_without_matches_says_what_it_finds(varied: httpx.Client) -> None:
    page = text_of(varied.get("/search?q=tail+zzz&correct=0").text)
    assert "Each word by itself tail 5 pages zzz no page" in page


def test_failures_lead_on(varied: httpx.Client) -> None:
    page = varied.get("/cached?url=https://elsewhere.example/x").text
    assert (
        '<a href="https://elsewhere.example/x" rel="noopener noreferrer nofollow">Open the live page</a>'
        in page
    )
    assert "javascript:" not in varied.get("/cached?url=javascript:alert(1)").text


def test_a_site_has_the_icon_that_was_crawled_or_a_letter() -> None:
    icon = Page("http://a.example:81/favicon.ico", "", "", body=b"icon", media_type="image/png")
    page = Page("http://b.example/favicon.ico", "", "", body=b"<p>", media_type="text/html")
    with asking(MemoryEngine([icon, page])) as client:
        stored = client.get("/favicon?host=a.example:81")
        tile = client.get("/favicon?host=www.b.example")
        assert client.get("/favicon?host=b.example:8080").text == tile.text
        address = client.get("/favicon?host=127.0.0.17:8080")
        refused = [client.get("/favicon", params={"host": host}) for host in ["", "a/b", "<b>", "a" * 300]]
    assert (stored.content, stored.headers["Content-Type"]) == (b"icon", "image/png")
    assert stored.headers["Content-Security-Policy"].startswith("sandbox;")
    assert ElementTree.fromstring(tile.text)[1].text == "B"
    assert ElementTree.fromstring(address.text)[1].text == "17"
    assert [response.status_code for response in refused] == [400] * 4


LINKED = ["/t.pdf", "/t.docx", "/t.pptx", "/t.xlsx", "/bad.pptx", "/favicon.ico", "/1", "/2", "/3"]


def test_a_collection_knows_its_documents_sites_and_copies(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/": links(*LINKED, head="<title>Home - Lamps</title>"),
        "/favicon.ico": Answer(b"icon", kind="image/x-icon"),
        "/t.pdf": Answer(documents.pdf(), kind="application/pdf"),
        "/bad.pptx": Answer(b"PK", kind=f"{documents.OFFICE}presentationml.presentation"),
        **{f"/{n}": links(text=f"lamp {' '.join(map(str, range(1000, 1300)))} end{n}") for n in (1, 2)},
        "/3": links(text="another story of a lamp, and of nobody who counts anything at all by night"),
    }
    for name, kind in {"docx": "wordprocessing", "pptx": "presentation", "xlsx": "spreadsheet"}.items():
        suffix = "sheet" if name == "xlsx" else "presentation" if name == "pptx" else "document"
        body = getattr(documents, name)()
        pages[f"/t.{name}"] = Answer(body, kind=f"{documents.OFFICE}{kind}ml.{suffix}")
    with SmallWeb({"a.test": pages}) as web:
        collection = web.crawl(tmp_path / "c", "a.test").collection
        paths = ["/t.pdf", "/t.docx", "/t.pptx", "/t.xlsx", "/bad.pptx", "/", "/nowhere"]
        extents = collection.extents([web.url("a.test", path) for path in paths])
        copy = collection.cached(web.url("a.test", "/t.pdf"))
        icon = collection.cached(web.url("a.test", "/favicon.ico"))
        assert icon and (icon.media_type, icon.body) == ("image/x-icon", b"icon")
        assert collection.site_names([web.url("a.test", "/1"), "http://b.test/", "http://["]) == [
            "Lamps",
            "",
            "",
        ]
        collection.close()
        with Collection.write(tmp_path / "c") as writer:
            writer.index(progress=False)
        hits = Collection(tmp_path / "c").search("lamp").hits
        [first] = [hit for hit in hits if hit.similar]
        near = Collection(tmp_path / "c").near_copies("lamp", first.url)
    assert extents == ["2 pages", "", "1 slide", "1 sheet", "", "", ""]
    assert copy and '<div id="page=2">' in copy.converted
    assert first.similar == len(near) == 1
    assert {first.url, *(hit.url for hit in near)} == {web.url("a.test", "/1"), web.url("a.test", "/2")}
