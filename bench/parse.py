"""Parsing pages: text, links, language, digest and SimHash, compared with selectolax, which extracts text and
links only.

The pages are those of the sample web, with enough paragraphs that none is tiny.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from bench import Measurement, seconds
from crivello import _core
from crivello.lab.web import SampleWeb


def measure() -> Iterator[Measurement]:
    with SampleWeb() as web:
        pages = [
            (url, web.resources[url].body) for url in sorted(web.pages) if not url.endswith((".pdf", ".txt"))
        ]
    size = sum(len(body) for _, body in pages) / 10**6

    def ours() -> None:
        for url, body in pages:
            parsed = _core.parse_html(body, url)
            assert parsed.text and parsed.links is not None

    def theirs() -> None:
        for url, body in pages:
            tree = LexborHTMLParser(body)
            text = tree.body.text(separator=" ") if tree.body else ""
            links = [urljoin(url, node.attributes.get("href") or "") for node in tree.css("a[href]")]
            assert text is not None and links is not None

    yield Measurement(
        "pages to text, links, language, digest, SimHash",
        size / seconds(ours),
        "selectolax (text and links)",
        size / seconds(theirs),
        "MB/s",
    )
    base = pages[0][0]
    links = [f"../{number}/./page.html?x=1#part" for number in range(20_000)]
    yield Measurement(
        "relative links to canonical URLs",
        len(links) / seconds(lambda: _core.canonical_urls(links, base)),
        "urllib.parse.urljoin",
        len(links) / seconds(lambda: [urljoin(base, link) for link in links]),
        "URLs/s",
    )
