"""Stored copies of pages: out of the archive, and shown without harm."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests.memory_engine import MemoryEngine, Page, asking
from tests.small_web import Answer, SmallWeb, links

PDF = b"%PDF-1.7 tides"
RUSSIAN = "Ветер с моря"
PAGES = [
    Page("https://sea.example/", "<b>Sea</b>", "sea", body=b"<script>alert(1)</script><p>sea"),
    Page("https://sea.example/koi", "Koi", "sea", body=RUSSIAN.encode("koi8-r"), encoding="KOI8-R"),
    Page("https://sea.example/x", "", "sea", body=b"<p>sea", media_type="application/xhtml+xml"),
    Page("https://sea.example/t", "", "sea", body=b"<p>sea", media_type="text/plain"),
    Page(
        "https://sea.example/%D1%82/a%2Fb%22.pdf?x=1",
        "",
        "sea",
        body=PDF,
        media_type="application/pdf",
        converted='<div id="page=1">tides</div>',
    ),
    Page("https://sea.example/picture", "", "sea", body=b"<svg/>", media_type="image/svg+xml"),
    Page("https://sea.example/odd", "", "sea", body=b"odd", media_type='x"/y;\r\nSet-Cookie: a'),
    Page("https://sea.example/gone", "Gone", "sea"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with asking(MemoryEngine(PAGES)) as client:
        yield client


def test_the_page_says_what_is_shown_and_since_when(client: httpx.Client) -> None:
    response = client.get("/cached", params={"url": "https://sea.example/"})
    page = response.text
    assert "&lt;b&gt;Sea&lt;/b&gt;" in page and "alert(1)" not in page
    assert "13 Nov 2025, 08:15 UTC" in page
    assert '<a href="https://sea.example/" rel="noopener noreferrer nofollow">Open the live page</a>' in page
    frame = re.search(r'<iframe src="([^"]+)" sandbox ', page)
    assert frame and PAGES[0].body.decode() in client.get(frame[1]).text
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert "frame-src 'self'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("", "text/html; charset=UTF-8"),
        ("koi", "text/html; charset=KOI8-R"),
        ("x", "text/html; charset=UTF-8"),
        ("t", "text/plain; charset=UTF-8"),
    ],
)
def test_a_copy_is_sent_as_it_was_in_a_sandbox(client: httpx.Client, path: str, content_type: str) -> None:
    response = client.get("/cached/raw", params={"url": f"https://sea.example/{path}"})
    assert response.headers["Content-Type"] == content_type
    policy = response.headers["Content-Security-Policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"} <= set(policy)
    assert "script" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert "Content-Disposition" not in response.headers


@pytest.mark.parametrize(
    ("place", "content_type", "name"),
    [
        (4, "application/pdf", "a-b-.pdf"),
        (5, "image/svg+xml", "picture"),
        (6, "application/octet-stream", "odd"),
    ],
)
def test_what_is_no_text_is_a_download(
    client: httpx.Client, place: int, content_type: str, name: str
) -> None:
    address = {"url": PAGES[place].url}
    page = client.get("/cached", params=address).text
    assert ("<iframe" in page) == bool(PAGES[place].converted) and "Download the copy" in page
    response = client.get("/cached/raw", params=address)
    assert response.content == PAGES[place].body
    assert response.headers["Content-Type"] == content_type
    assert response.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{name}"
    assert response.headers["Content-Security-Policy"].startswith("sandbox; ")


@pytest.mark.parametrize("path", ["", "koi", "x", "t", "%D1%82/a%2Fb%22.pdf?x=1"])
def test_what_is_shown_can_do_no_more_than_the_copy(client: httpx.Client, path: str) -> None:
    response = client.get("/cached/view", params={"url": f"https://sea.example/{path}"})
    assert response.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'; ")
    assert "script-src" not in response.headers["Content-Security-Policy"]
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["X-Robots-Tag"] == "noindex"


def test_a_copy_has_a_style_and_a_document_its_text(client: httpx.Client) -> None:
    shown = [client.get("/cached/view", params={"url": page.url}).text for page in PAGES]
    assert RUSSIAN in shown[1] and ":where(body)" in shown[1]
    assert "<pre>&lt;p&gt;sea</pre>" in shown[3]
    assert shown[4].startswith('<div id="page=1">tides</div>')
    assert "has no text to show" in shown[5]


@pytest.mark.parametrize("sheet", ["", "<link rel=stylesheet href=/gone.css>"])
def test_rules_in_a_page_are_no_style_if_its_sheets_are_missing(sheet: str) -> None:
    body = f"<title>x</title>{sheet}<style>@media print {{ nav {{ display: none }} }}</style><p>sea".encode()
    with asking(MemoryEngine([Page("https://sea.example/", "", "sea", body=body)])) as client:
        shown = client.get("/cached/view", params={"url": "https://sea.example/"}).text
    assert shown.startswith(body.decode()) and ("max-width:48rem" in shown) == bool(sheet)


def test_a_picture_that_is_not_stored_is_told_in_words() -> None:
    body = b"""<style>p{}</style><IMG class=a src="/a.png" alt='A "wave" &lt;b&gt;'><img src=/b.png><img alt=c src='data:image/png;base64,'>"""
    with asking(MemoryEngine([Page("https://sea.example/", "", "sea", body=body)])) as client:
        shown = client.get("/cached/view?url=https://sea.example/").text
    assert shown == (
        "<style>p{}</style><span>A &quot;wave&quot; &lt;b&gt;</span><img alt=c src='data:image/png;base64,'>"
    )


def test_a_copy_has_the_style_sheets_that_are_stored() -> None:
    links_ = "<LINK href='../a.css' rel=stylesheet media=print><link rel=stylesheet href=/gone.css><p>sea"
    pages = [
        Page("https://sea.example/x/y", "", "sea", body=links_.encode()),
        Page("https://sea.example/a.css", "", "", body=b"p{}</style><p>", media_type="text/css"),
        Page("https://sea.example/gone.css", "", "", body=b"no style", media_type="text/html"),
    ]
    with asking(MemoryEngine(pages)) as client:
        shown = client.get("/cached/view?url=https://sea.example/x/y").text
    assert shown == links_.replace(
        "<LINK href='../a.css' rel=stylesheet media=print>", '<style media="print">p{}<\\/style><p></style>'
    )


@pytest.mark.parametrize("route", ["/cached", "/cached/raw", "/cached/view"])
def test_a_page_without_a_copy_is_404_in_a_sentence(client: httpx.Client, route: str) -> None:
    for url in ["https://sea.example/gone", "https://elsewhere.example/", "javascript:alert(1)", "\x00"]:
        response = client.get(route, params={"url": url})
        assert response.status_code == 404
        assert "There is no copy of this page here." in response.text
    assert client.get(route).status_code == 400


def test_only_results_with_a_copy_lead_to_it() -> None:
    found = MemoryEngine([PAGES[0], Page("https://sea.example/gone", "Gone", "no copy of this sea")])
    with asking(found) as client:
        page = client.get("/search?q=sea").text
    assert re.findall(r'href="(/cached[^"]+)"', page) == ["/cached?url=https%3A%2F%2Fsea.example%2F"]


def test_a_collection_gives_its_copies_back(tmp_path: Path) -> None:
    latin = "<title>Été</title><p>Un été à la mer".encode("latin-1")
    pages: dict[str, str | Answer] = {
        "/": links("/latin", "/packed", "/t.pdf", "/hidden", "/nowhere"),
        "/latin": Answer(latin, kind="text/html; charset=iso-8859-1"),
        "/packed": Answer(gzip.compress(b"<p>packed"), headers={"Content-Encoding": "gzip"}),
        "/t.pdf": Answer(PDF, kind="Application/PDF"),
        "/hidden": links(head='<meta name="robots" content="noindex">', text="do not tell"),
    }
    before = datetime.now(UTC)
    with SmallWeb({"a.test": pages}) as web:
        collection = web.crawl(tmp_path / "c", "a.test").collection
        asked = len(web.log)

        copy = collection.cached(web.url("a.test", "/latin#part"))
        assert copy is not None
        assert (copy.url, copy.body, copy.title) == (web.url("a.test", "/latin"), latin, "Été")
        assert (copy.media_type, copy.encoding) == ("text/html", "windows-1252")
        assert before.timestamp() - 1 < copy.fetched.timestamp() <= datetime.now(UTC).timestamp()
        packed = collection.cached(web.url("a.test", "/packed"))
        assert packed is not None and packed.body == b"<p>packed"
        pdf = collection.cached(web.url("a.test", "/t.pdf"))
        assert pdf is None or (pdf.media_type, pdf.encoding, pdf.body) == ("application/pdf", None, PDF)
        for path in ["/hidden", "/nowhere", "/never-seen"]:
            assert collection.cached(web.url("a.test", path)) is None
        assert collection.cached("not a URL") is None
        urls = [web.url("a.test", "/latin"), web.url("a.test", "/never-seen")]
        assert collection.have_copies(urls) == [True, False]
        assert len(web.log) == asked
