"""Parsing: URLs against the web platform tests, real pages, and whatever bytes hypothesis comes up with."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import canonical_urls, parse_html, parse_text
from crivello.errors import InvalidArgument

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parent.parent / "../shared/data"))
URL = "http://example.com/2024/05/"
UTF_8 = "text/plain; charset=utf-8"


def data(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no real data: {path} is absent; name its folder in CRIVELLO_DATA")
    return path


def canonical_form(href: str) -> str:
    """Without fragment and credentials, and with escapes in upper case."""
    href = re.sub(r"%[0-9a-fA-F]{2}", lambda escape: escape[0].upper(), href)
    address = href.partition("#")[0]
    parts = urlsplit(address)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    # An empty query is dropped by urlunsplit, but it is part of the address.
    return bare + "?" if address.endswith("?") and not bare.endswith("?") else bare


def test_canonical_urls_agree_with_the_web_platform_tests() -> None:
    cases = [case for case in json.loads(data("url/urltestdata.json").read_text()) if isinstance(case, dict)]
    compared, wrong = 0, []
    for case in cases:
        base = case.get("base")
        href = case.get("href", "")
        if not (case.get("failure") or href.startswith(("http:", "https:"))):
            continue
        try:
            [found] = canonical_urls([case["input"]], base)
        except InvalidArgument:
            found = None
        compared += 1
        expected = None if case.get("failure") else canonical_form(href)
        if found != expected:
            wrong.append((case["input"], base, expected, found))
    assert compared > 500
    assert wrong == []


def test_canonical_urls_of_real_addresses_are_themselves() -> None:
    urls = data("url/wiki-urls-10000").read_text().split()
    once = canonical_urls(urls)
    assert None not in once
    assert canonical_urls([url for url in once if url]) == once


def test_canonical_urls_refuses_a_base_that_is_none() -> None:
    with pytest.raises(InvalidArgument, match="absolute"):
        canonical_urls(["x"], "not/absolute")


def test_every_real_page_has_text() -> None:
    pages = sorted(data("pages").iterdir())
    parsed = {page.name: parse_html(page.read_bytes(), f"https://{page.name}/") for page in pages}
    empty = [name for name, page in parsed.items() if not page.text]
    assert len(empty) <= len(pages) // 20, empty
    assert sum(bool(page.title) for page in parsed.values()) >= len(pages) * 9 // 10
    assert sum(page.language is not None for page in parsed.values()) >= len(pages) * 9 // 10
    assert not [name for name, page in parsed.items() if "\ufffd" in page.title]
    assert len({page.digest for page in parsed.values()}) == len(pages)


def test_a_page_comes_over_whole() -> None:
    body = (
        "<html lang=it><title>Il crivello</title><meta name=robots content=noindex><link rel=canonical href=/c>"
        "<h1>Città</h1><p>Testo <a href=../06/#x>prossimo</a>"
    )
    page = parse_html(body.encode("latin-1"), URL, "text/html; charset=ISO-8859-1")
    assert (page.title, page.headings, page.text) == ("Il crivello", ["Città"], "Città\nTesto prossimo")
    assert (page.links, page.anchors, page.same_shape) == (
        ["http://example.com/2024/06/"],
        ["prossimo"],
        [True],
    )
    assert (page.language, page.charset, page.canonical) == ("it", "windows-1252", "http://example.com/c")
    assert (page.noindex, page.nofollow) == (True, False)
    assert len(page.digest) == 32 and int(page.digest, 16)
    assert page.simhash is None
    longer = parse_html(f"<nav>Home</nav><p>{' '.join(map(str, range(50)))}".encode(), URL).simhash
    assert longer is not None and 0 < longer < 2**64
    with pytest.raises(AttributeError):
        page.title = "another"  # type: ignore[misc]


def test_converted_text_has_the_digest_of_its_words() -> None:
    text = parse_text(b"The same\n\nwords")
    page = parse_html(b"<p>the same</p><p>words</p>", URL)
    assert (text.digest, text.simhash) == (page.digest, page.simhash)
    assert text.text == "The same\nwords"
    assert text.links == []


@given(st.binary(max_size=400), st.text(max_size=40), st.none() | st.text(max_size=40))
def test_any_bytes_are_a_page(body: bytes, url: str, content_type: str | None) -> None:
    page = parse_html(body, url, content_type)
    assert len(page.links) == len(page.anchors) == len(page.same_shape)


@given(st.text(max_size=200))
def test_any_text_is_a_page(text: str) -> None:
    page = parse_text(text.encode(), UTF_8)
    assert parse_text(page.text.encode(), UTF_8).text == page.text


def test_fifty_megabytes_of_nested_tags_are_a_page() -> None:
    assert parse_html(b"<div><b>x" * (50_000_000 // 9), URL).text.startswith("x\nx")
