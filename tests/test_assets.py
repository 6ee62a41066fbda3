"""Icons and style sheets of pages: fetched beside the pages, and shown with results and stored copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, expect

from crivello import Collection
from crivello.store import Outcome
from crivello.web import Server
from tests.small_web import Answer, Page, SmallWeb, links, redirect, rules

# A picture of one pixel, as browsers draw it.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c6310"
    "68700000017400d1d811a11a0000000049454e44ae426082"
)
CSS = """@import url("http://cdn.test/more.css"); /* @import "no.css"; */ @import 'other.css' screen;
p { color: rgb(1, 2, 3); background: url(http://cdn.test/pixel.png) } a::before { content: "\\2192 " }"""
HEAD = '<link rel="stylesheet" href="/s/main.css"><link rel="shortcut icon" href="/s/icon.png">'


def style(body: str = "p { color: red }") -> Answer:
    return Answer(body, kind="text/css")


def image(body: bytes = PIXEL) -> Answer:
    return Answer(body, kind="image/png")


def site(**more: Page) -> dict[str, Page]:
    """Two pages in a folder with the same assets, which are outside of it."""
    return {
        "/d/": links("/d/2", text="the lamp of the first page", head=HEAD),
        "/d/2": links("/d/", text="the lamp of the second page", head=HEAD),
        "/s/main.css": style(CSS),
        "/s/other.css": style("a { color: rgb(4, 5, 6) }"),
        "/s/icon.png": image(),
        **more,
    }


def outcomes(collection: Collection) -> dict[str, tuple[Outcome, int | None]]:
    return {
        row.url.partition(".test")[2].partition("/")[2]: (row.outcome, row.status)
        for row in collection.pages()
    }


def test_assets_are_fetched_once_and_are_no_pages(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site()}) as web:
        crawled = web.crawl(tmp_path / "c", web.url("a.test", "/d/"), scope="prefix")
        collection, home = crawled.collection, web.url("a.test", "/")
        assert sorted(web.paths("a.test")) == ["/d/", "/d/2", "/s/icon.png", "/s/main.css", "/s/other.css"]
        assert outcomes(collection) == {
            "d/": (Outcome.FETCHED, 200),
            "d/2": (Outcome.FETCHED, 200),
            "s/main.css": (Outcome.ASSET, 200),
            "s/other.css": (Outcome.ASSET, 200),
            "s/icon.png": (Outcome.ASSET, 200),
        }
        sheet, icon = crawled.row(f"{home}s/main.css"), crawled.row(f"{home}s/icon.png")
        assert (sheet.content_type, sheet.digest, sheet.depth) == ("text/css", None, 1)
        assert collection.record(icon).body == PIXEL
        assert collection.links(f"{home}d/") == [(f"{home}d/2", "/d/2")]
        assert crawled.report.outcomes[Outcome.ASSET] == 3 and crawled.report.links == 2
        story = collection.why(f"{home}s/main.css")
        assert story.asset_of == f"style sheet of {home}d/" and story.linking_pages == 0
        assert f"found: as the style sheet of {home}d/" in str(story)
        assert "not in the index: it is no page" in str(story) and "outside" not in str(story)
        imported = collection.why(f"{home}s/other.css")
        assert imported.asset_of == f"style sheet of {home}s/main.css"
        # A second run has nothing to do.
        before = len(web.log)
        collection.close()
        web.crawl(tmp_path / "c", scope="prefix")
        assert len(web.log) == before
    with Collection.write(tmp_path / "c") as writer:
        writer.index(progress=False)
        writer.rank(progress=False)
        assert len(writer.search("lamp")) == 2 and not len(writer.search("rgb"))
        assert writer.graph().nodes == 2
        assert [str(finding) for finding in writer.check(progress=False)] == []


@pytest.mark.parametrize(
    ("assets", "paths"), [("icons", ["/d/", "/d/2", "/s/icon.png"]), ("none", ["/d/", "/d/2"])]
)
def test_the_setting_says_which(tmp_path: Path, assets: str, paths: list[str]) -> None:
    with SmallWeb({"a.test": site()}) as web:
        web.crawl(tmp_path / "c", web.url("a.test", "/d/"), assets=assets)
        assert sorted(web.paths("a.test")) == paths


def test_assets_count_against_no_limit_of_pages(tmp_path: Path) -> None:
    sheets = {f"/{number}.css": style() for number in range(60)}
    heads = [
        "".join(f'<link rel=stylesheet href="/{number}.css">' for number in range(at, at + 15))
        for at in range(0, 60, 15)
    ]
    pages: dict[str, Page] = {
        f"/{at}": links(*(f"/{n}" for n in range(4)), text=f"page {at}", head=head)
        for at, head in enumerate(heads)
    }
    with SmallWeb({"a.test": {**pages, **sheets}}) as web:
        crawled = web.crawl(
            tmp_path / "c", web.url("a.test", "/0"), max_pages=4, max_per_host=4, max_per_domain=4
        )
        # The limit of pages was reached by pages; what was left is fetched by the next run.
        assert len(crawled.fetched()) == 4
        crawled.collection.close()
        crawled = web.crawl(tmp_path / "c", max_pages=4, max_per_host=4, max_per_domain=4)
        found = outcomes(crawled.collection)
        assert len(crawled.fetched()) == 4
        assert sum(outcome is Outcome.ASSET for outcome, _ in found.values()) == 50
        refused = [row for row in crawled.rows() if row.outcome is Outcome.LIMIT]
        assert {row.detail for row in refused} == {"50 assets are fetched from a host"} and len(refused) == 10


def test_what_stands_in_the_way_of_an_asset(tmp_path: Path) -> None:
    head = "".join(
        f'<link rel=stylesheet href="{href}">'
        for href in (
            "/forbidden.css",
            "/large.css",
            "/moved.css",
            "/away.css",
            "/gone.css",
            "//b.test:{port}/cdn.css",
            "/out/excluded.css",
            "/folder/",
            "/2",
        )
    )
    pages: dict[str, Page] = {
        "/robots.txt": rules("User-agent: *", "Disallow: /forbidden"),
        "/large.css": style("p{}" * 200_000),
        "/moved.css": redirect("/new.css"),
        "/away.css": redirect("http://b.test/x.css"),
        "/new.css": style(),
        "/2": links(text="a page that is also called a style sheet"),
        "/folder/": links(text="never linked to"),
        "/hidden": links(
            head='<meta name=robots content=nofollow><link rel=stylesheet href="/h.css">', text="x"
        ),
    }
    with SmallWeb({"a.test": pages, "b.test": {}}) as web:
        pages["/"] = links("/2", "/hidden", head=head.replace("{port}", str(web.port)), text="home")
        crawled = web.crawl(tmp_path / "c", "a.test", exclude="/out/")
        found = outcomes(crawled.collection)
        assert web.paths("b.test") == []
        copy = crawled.collection.cached(web.url("a.test", "/moved.css"))
        assert copy is not None and copy.url == web.url("a.test", "/new.css")
        assert "redirect of" in crawled.collection.why(web.url("a.test", "/new.css")).asset_of
        assert crawled.row(web.url("a.test", "/away.css")).detail == "it leads to a host that is out of scope"
    assert found == {
        "": (Outcome.FETCHED, 200),
        "2": (Outcome.FETCHED, 200),
        "hidden": (Outcome.FETCHED, 200),
        "forbidden.css": (Outcome.ROBOTS, None),
        "large.css": (Outcome.TOO_LARGE, None),
        "moved.css": (Outcome.ASSET, 302),
        "new.css": (Outcome.ASSET, 200),
        "away.css": (Outcome.ASSET, 302),
        "gone.css": (Outcome.ASSET, 404),
    }


def test_an_asset_of_another_host_in_scope_brings_no_pages_of_it(tmp_path: Path) -> None:
    other: dict[str, Page] = {
        "/robots.txt": rules("Sitemap: http://static.a.test/sitemap.xml"),
        "/s.css": style(),
        "/": links(text="a home that nobody links to"),
    }
    own: dict[str, Page] = {}
    with SmallWeb({"www.a.test": own, "static.a.test": other}) as web:
        head = f'<link rel=stylesheet href="{web.url("static.a.test", "/s.css")}">'
        own["/"] = links(text="home", head=head)
        web.crawl(tmp_path / "c", "www.a.test", scope="domain", sitemaps=True)
        assert web.paths("static.a.test") == ["/s.css"]


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[SmallWeb, str]]:
    """A crawled and indexed site, and its search page."""
    more: dict[str, Page] = {
        "/favicon.ico": Answer(b"old", kind="image/x-icon"),
        "/d/2": links(
            "/favicon.ico",
            text="the lamp of the second page",
            head=f'<base href="/s/">{HEAD.replace("/s/", "")}',
        ),
    }
    with SmallWeb(
        {
            "a.test": site(**more),
            "b.test": {"/": links("/favicon.ico", text="a lamp elsewhere"), "/favicon.ico": image()},
        }
    ) as web:
        web.crawl(tmp_path / "c", web.url("a.test", "/d/"), "b.test").collection.close()
        with Collection.write(tmp_path / "c") as writer:
            writer.index(progress=False)
        collection = Collection(tmp_path / "c")
        with Server(collection) as server:
            yield web, server.url


def test_the_icon_is_the_one_that_a_page_declares(shown: tuple[SmallWeb, str]) -> None:
    web, address = shown
    asked = len(web.log)
    with httpx.Client(base_url=address) as client:
        icons = [
            client.get("/favicon", params={"host": f"{host}:{web.port}"})
            for host in ("a.test", "b.test", "c.test")
        ]
    assert [icon.headers["Content-Type"] for icon in icons] == ["image/png", "image/png", "image/svg+xml"]
    assert icons[0].content == icons[1].content == PIXEL
    assert icons[0].headers["Cache-Control"] == "public, max-age=86400"
    assert icons[2].headers["Cache-Control"] == "public, max-age=600"
    assert len(web.log) == asked


def test_a_copy_has_the_style_of_its_page_and_loads_nothing(
    browser: Browser, shown: tuple[SmallWeb, str]
) -> None:
    web, address = shown
    asked = len(web.log)
    page = browser.new_page()
    requested: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{address}/search?q=lamp")
    expect(page.locator(".results > li")).to_have_count(2)
    widths = page.evaluate(
        "Promise.all([...document.querySelectorAll('.results img')].map((one) => one.decode().then(() => one.naturalWidth)))"
    )
    assert widths == [1, 1]
    for path in ("/d/", "/d/2"):
        page.goto(f"{address}/cached?{urlencode({'url': web.url('a.test', path)})}")
        copy = page.frame_locator("iframe").locator("p")
        expect(copy).to_have_css("color", "rgb(1, 2, 3)")
        expect(page.frame_locator("iframe").locator("a")).to_have_css("color", "rgb(4, 5, 6)")
        expect(copy).to_have_css("background-image", 'url("data:,")')
    assert all(url.startswith((address, "data:")) for url in requested)
    assert not [text for text in complaints if "main.css" in text or "cdn.test" in text]
    assert len(web.log) == asked
    page.close()
