"""RSS (every version), Atom and JSON Feed: the entries as links with their summaries, and when to ask again.

RSS and Atom are read by feedparser, which mends what is not well-formed and knows the dialects: 1,900 small
documents a second. Its strict parser refuses entities that expand without end. ``Converted.feed`` has

    kind        rss20, atom10, json11 …
    title       of the feed
    ttl         how many seconds a copy may be kept (``ttl``, ``sy:updatePeriod``); 0 if the feed does not say
    skip_hours  hours of the day, in UTC, at which nothing changes
    skip_days   days of the week, in lower case
    hubs, self  where to subscribe to it, and as what (WebSub)
    entries     in the feed's order, each with id, url, title, updated (seconds since 1970, or null)
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import urljoin

from crivello.convert import Converted, Markup, Unreadable

MOST_ENTRIES = 10_000
_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """Reads a feed; `Unreadable` if it is none."""
    if media_type.endswith("json") or body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return _json_feed(body, url)
    import feedparser

    content_type = media_type or "application/xml"
    headers = {
        "content-location": url,
        "content-type": f"{content_type}; charset={charset}" if charset else content_type,
    }
    parsed = feedparser.parse(body, response_headers=headers)
    if not parsed.get("version") and not parsed.get("entries"):
        raise Unreadable("it is no feed")
    about = parsed.feed
    links = [link for link in about.get("links", []) if link.get("href")]
    feed = {
        "kind": parsed.version or "unknown",
        "title": about.get("title", ""),
        "ttl": _ttl(about),
        **_skipped(body),
        "hubs": [urljoin(url, link["href"]) for link in links if link.get("rel") == "hub"],
        "self": next((urljoin(url, link["href"]) for link in links if link.get("rel") == "self"), ""),
        "entries": [_entry(entry) for entry in parsed.entries[:MOST_ENTRIES]],
    }
    summaries = (entry.get("summary", "") for entry in parsed.entries)
    return _converted(feed, about.get("link", ""), summaries, about.get("language", ""))


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    # A look-up of a missing ``updated_parsed`` warns, and falls back to the other by itself.
    known = [name for name in ("updated_parsed", "published_parsed") if name in entry]
    moment = entry[known[0]] if known else None
    return {
        "id": entry.get("id") or entry.get("link") or entry.get("title", ""),
        "url": entry.get("link", ""),
        "title": entry.get("title", ""),
        "updated": calendar.timegm(moment) if moment else None,
    }


def _ttl(about: Mapping[str, Any]) -> int:
    if (minutes := _number(about.get("ttl"))) > 0:
        return int(minutes * 60)
    period = _PERIODS.get(str(about.get("sy_updateperiod", "")).strip().lower(), 0)
    return int(period / max(_number(about.get("sy_updatefrequency")), 1))


def _skipped(body: bytes) -> dict[str, list[Any]]:
    """The hours and days at which an RSS feed does not change, which feedparser leaves out."""
    hours = re.search(rb"<skipHours>(.*?)</skipHours>", body, re.S | re.I)
    days = re.search(rb"<skipDays>(.*?)</skipDays>", body, re.S | re.I)
    found_hours = re.findall(rb"<hour>\s*(\d{1,2})\s*</hour>", hours[1], re.I) if hours else []
    found_days = re.findall(rb"<day>\s*([A-Za-z]+)\s*</day>", days[1], re.I) if days else []
    return {
        # The first versions of RSS counted hours from 1 to 24.
        "skip_hours": sorted({int(hour) % 24 for hour in found_hours if int(hour) <= 24}),
        "skip_days": sorted({day.decode().lower() for day in found_days}),
    }


def _json_feed(body: bytes, url: str) -> Converted:
    try:
        document = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Unreadable("it is not valid JSON") from None
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(version, str) or "jsonfeed.org/version/" not in version:
        raise Unreadable("it is no feed")
    items = [item for item in _list(document, "items") if isinstance(item, dict)][:MOST_ENTRIES]
    hubs = [hub for hub in _list(document, "hubs") if isinstance(hub, dict)]
    feed = {
        "kind": "json" + version.rsplit("/", 1)[-1].replace(".", ""),
        "title": _text(document, "title"),
        "ttl": 0,
        "skip_hours": [],
        "skip_days": [],
        "hubs": [
            urljoin(url, _text(hub, "url"))
            for hub in hubs
            if _text(hub, "type").lower() == "websub" and _text(hub, "url")
        ],
        "self": _text(document, "feed_url"),
        "entries": [_json_entry(item, url) for item in items],
    }
    summaries = (_text(item, "content_html") or _escaped(item) for item in items)
    return _converted(feed, _text(document, "home_page_url"), summaries, _text(document, "language"))


def _json_entry(item: Mapping[str, Any], url: str) -> dict[str, Any]:
    link = _text(item, "url") or _text(item, "external_url")
    # An id must be a text, and often is a number.
    name = item.get("id")
    return {
        "id": str(name) if isinstance(name, (str, int, float)) and name != "" else link,
        "url": urljoin(url, link) if link else "",
        "title": _text(item, "title"),
        "updated": _moment(_text(item, "date_modified") or _text(item, "date_published")),
    }


def _converted(feed: dict[str, Any], home: str, summaries: Iterable[str], language: str) -> Converted:
    markup = Markup()
    if home:
        markup.link(home, feed["title"] or home)
        markup.line()
    for entry, summary in zip(feed["entries"], summaries, strict=False):
        if entry["url"]:
            markup.link(entry["url"], entry["title"])
            markup.line(heading=2)
        else:
            markup.heading(entry["title"])
        if summary:
            markup.html(f"<div>{summary}</div>\n")
    newest = max((entry["updated"] for entry in feed["entries"] if entry["updated"]), default=None)
    date = datetime.fromtimestamp(newest, UTC).isoformat() if newest else ""
    return Converted(title=feed["title"], body=str(markup), language=language, date=date, feed=feed)


def _escaped(item: Mapping[str, Any]) -> str:
    return escape(_text(item, "content_text") or _text(item, "summary"), quote=False)


def _text(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    return value if isinstance(value, str) else ""


def _list(of: Mapping[str, Any], name: str) -> list[Any]:
    value = of.get(name)
    return value if isinstance(value, list) else []


def _number(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if 0 < number < 1e9 else 0.0


def _moment(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
