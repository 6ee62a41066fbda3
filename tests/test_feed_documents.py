"""Feeds as documents: what feedparser's own documents expect, and what a poll needs to know."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import feedparser
import pytest

from crivello.convert import read

_ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("CRIVELLO_DATA", _ROOT.parent / "shared" / "data")) / "feeds"
EXPECT = re.compile(rb"Expect:\s*(.*?)\s*\n")
DOCUMENTS = sorted(DATA.rglob("*.xml")) if DATA.is_dir() else []
# Documents that do not give what they expect, with the reason: there are none.
EXCEPTIONS: dict[str, str] = {}

RSS = b"""<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Lava &amp; ash</title><link>https://a.example/</link><ttl>90</ttl><language>en-gb</language>
<skipHours><hour>0</hour><hour>24</hour><hour>13</hour></skipHours><skipDays><day>Sunday</day></skipDays>
<atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="/feed.xml"/>
<item><guid isPermaLink="false">one</guid><title>It flows</title><link>/flows</link>
<pubDate>Thu, 01 Jan 1970 00:01:00 GMT</pubDate><description>&lt;p&gt;Slowly.&lt;/p&gt;</description></item>
<item><title>No address</title></item>
</channel></rss>"""


@pytest.mark.skipif(
    not DOCUMENTS, reason=f"there are no feeds in {DATA}: set CRIVELLO_DATA to the folder with the real data"
)
def test_every_document_gives_what_it_expects() -> None:
    for file in DOCUMENTS:
        body = file.read_bytes()
        expected = EXPECT.search(body)
        assert expected, file
        parsed = feedparser.parse(body)
        names = {"feed": {}, **parsed}
        holds = eval(expected[1].decode(), {"__builtins__": {"len": len}}, names)
        assert holds or file.name in EXCEPTIONS, f"{file}: {expected[1].decode()}"


@pytest.mark.skipif(
    not DOCUMENTS, reason=f"there are no feeds in {DATA}: set CRIVELLO_DATA to the folder with the real data"
)
def test_every_document_is_read() -> None:
    for file in DOCUMENTS:
        body = file.read_bytes()
        found = read(body, "https://a.example/feed.xml", "application/rss+xml")
        parsed = feedparser.parse(body)
        assert not found.failure and found.feed, file
        assert len(found.feed["entries"]) == len(parsed.entries), file
        assert [entry["title"] for entry in found.feed["entries"]] == [
            entry.get("title", "") for entry in parsed.entries
        ]


def test_a_feed_says_when_to_ask_again() -> None:
    found = read(RSS, "https://a.example/feed.xml", "application/rss+xml")
    assert found.title == "Lava & ash"
    assert found.language == "en-gb"
    assert found.feed is not None
    assert found.feed["ttl"] == 5400
    assert found.feed["skip_hours"] == [0, 13]
    assert found.feed["skip_days"] == ["sunday"]
    assert found.feed["hubs"] == ["https://hub.example/"]
    assert found.feed["self"] == "https://a.example/feed.xml"
    first, second = found.feed["entries"]
    assert first == {"id": "one", "url": "https://a.example/flows", "title": "It flows", "updated": 60}
    assert second == {"id": "No address", "url": "", "title": "No address", "updated": None}
    assert '<h2><a href="https://a.example/flows">It flows</a></h2>' in found.body
    assert "<p>Slowly.</p>" in found.body
    assert found.date == "1970-01-01T00:01:00+00:00"


def test_the_period_of_syndication_is_a_time_to_live() -> None:
    rdf = RSS.replace(
        b"<ttl>90</ttl>",
        b"<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
    )
    rdf = rdf.replace(b"xmlns:atom", b'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:atom')
    found = read(rdf, "https://a.example/feed.xml", "application/rss+xml")
    assert found.feed is not None and found.feed["ttl"] == 21_600


def test_a_json_feed_is_read() -> None:
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Lava",
        "home_page_url": "https://a.example/",
        "feed_url": "https://a.example/feed.json",
        "hubs": [{"type": "WebSub", "url": "https://hub.example/"}, {"type": "rssCloud", "url": "x"}, 7],
        "items": [
            {
                "id": 7,
                "url": "/flows",
                "title": "It flows",
                "content_text": "a < b",
                "date_published": "1970-01-01T00:01:00Z",
            },
            {"external_url": "https://b.example/", "content_html": "<p>Ash</p>"},
            "nonsense",
        ],
    }
    found = read(json.dumps(document).encode(), "https://a.example/feed.json", "application/feed+json")
    assert found.feed is not None
    assert (found.feed["kind"], found.feed["hubs"]) == ("json11", ["https://hub.example/"])
    assert found.feed["entries"] == [
        {"id": "7", "url": "https://a.example/flows", "title": "It flows", "updated": 60.0},
        {"id": "https://b.example/", "url": "https://b.example/", "title": "", "updated": None},
    ]
    assert "a &lt; b" in found.body and "<p>Ash</p>" in found.body


@pytest.mark.parametrize(
    ("body", "media_type", "reason"),
    [
        (b"{", "application/feed+json", "it is not valid JSON"),
        (b"[" * 100_000, "application/feed+json", "it is not valid JSON"),
        (b'{"version": 1}', "application/feed+json", "it is no feed"),
        (b"<html><p>words", "application/rss+xml", "it is no feed"),
        (b"", "application/rss+xml", "it is no feed"),
    ],
)
def test_what_is_no_feed_says_so(body: bytes, media_type: str, reason: str) -> None:
    assert read(body, "https://a.example/", media_type).failure == reason


def test_entities_do_not_expand_without_end() -> None:
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    body = f'<!DOCTYPE rss [<!ENTITY a0 "ha">{laughs}]><rss version="2.0"><channel><title>&a9;</title></channel></rss>'
    found = read(body.encode(), "https://a.example/", "application/rss+xml")
    assert len(found.title) < 1000
