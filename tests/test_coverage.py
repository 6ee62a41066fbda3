"""Coverage: a crawl fetches exactly the pages that a slow exhaustive one finds, none less and none more.

``CRIVELLO_TEST_SITES`` names real sites, as URLs between blanks, that are compared as well. They are small enough
that one request after the other is no burden to anybody.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import pytest

from crivello import Collection
from crivello.lab.web import Feature, SampleWeb
from crivello.store import Outcome
from tests.crawling import run_crawl
from tests.reference_crawl import Answer, html_pages, links

SITES = os.environ.get("CRIVELLO_TEST_SITES", "").split()


def crawled_html(folder: Path) -> set[str]:
    return {
        row.url
        for row in Collection(folder).pages()
        if row.outcome is Outcome.FETCHED and row.status == 200 and row.content_type == "text/html"
    }


def test_the_sample_web_is_covered_exactly(tmp_path: Path) -> None:
    with SampleWeb(hosts=6, pages_per_host=20, slow=0.002) as web:

        def allowed(url: str) -> bool:
            return url not in web.forbidden and not web.is_trap(url)

        expected = html_pages(web.seeds[:-1], allowed)
        run_crawl(tmp_path / "c", web.seeds, "--delay", 0, "--scope", "host")
        found = {url for url in crawled_html(tmp_path / "c") if not web.is_trap(url)}
        assert web.features[Feature.BEHIND_BASE] in expected
    assert len(expected) > 100
    # The reference reads no feeds, and the crawl does.
    assert expected <= found
    assert {url.rsplit("/", 1)[1] for url in found - expected} == {"only-for-subscribers.html"}


@pytest.mark.parametrize("site", SITES)
def test_a_real_site_is_covered_exactly(site: str, tmp_path: Path) -> None:
    try:
        urllib.request.urlopen(site, timeout=5).close()
    except (urllib.error.URLError, OSError) as error:
        pytest.skip(f"{site} does not answer ({error}): name sites that do in CRIVELLO_TEST_SITES")
    expected = html_pages([site])
    run_crawl(tmp_path / "c", [site], "--delay", 0, "--scope", "host", timeout=280)
    found = crawled_html(tmp_path / "c")
    assert sorted(expected - found) == [], "not found by the crawl"
    assert sorted(found - expected) == [], "found by the crawl alone"
    assert len(found) > 100


def test_the_reference_follows_what_is_a_link() -> None:
    page = b"""<base href="http://a.test/b/"><link rel=next href=next.html><link rel=stylesheet href=style.css>
    <link rel=alternate type="application/atom+xml" href=feed><link rel=alternate hreflang=it href=it.html>
    <meta http-equiv=Refresh content="5; URL='soon.html'"><noscript><a href=plain.html>x</a></noscript>
    <map><area href=area.html></map><iframe src="frame.html"></iframe><a rel="nofollow me" href=no.html>no</a>
    <template><a href=unseen.html>x</a></template><a href="mailto:a@b.example">m</a><a href="/c?d=1&amp;e#f">x</a>"""
    answer = Answer(200, http_headers("text/html; charset=utf-8"), page)
    names = ["next.html", "it.html", "soon.html", "plain.html", "area.html", "frame.html"]
    assert links("http://a.test/", answer) == [
        *(f"http://a.test/b/{name}" for name in names),
        "http://a.test/c?d=1&e",
    ]
    assert links("http://a.test/x", Answer(301, http_headers(location="y"), b"")) == ["http://a.test/y"]
    forbidding = b'<meta name=robots content="noindex, nofollow"><a href=a>a</a>'
    assert links("http://a.test/", Answer(200, http_headers("text/html"), forbidding)) == []


def http_headers(content_type: str | None = None, location: str | None = None) -> Message:
    headers = Message()
    for name, value in (("Content-Type", content_type), ("Location", location)):
        if value is not None:
            headers[name] = value
    return headers
