"""The page of a host, and the page of a URL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from crivello import _core
from crivello._core import Layout
from crivello._times import shown
from crivello.cli.units import counted, duration, volume
from crivello.collection import Collection
from crivello.crawl.crawler import canonical_seeds
from crivello.crawl.decisions import Decision, decisions_naming
from crivello.crawl.now import read_now
from crivello.crawl.revisits import next_visit
from crivello.crawl.steering import commands_of, without_port
from crivello.crawl.story import tell, verdict
from crivello.crawl.why import Story, origin, why
from crivello.errors import CrivelloError, InvalidArgument
from crivello.store import Row
from crivello.web.dashboard.access import collection_of, guarded, page
from crivello.web.parameters import query_of

_MOST_ROWS = 20_000
_SHOWN_ROWS = 50
_SHOWN_LINKS = 50
_SHOWN_DECISIONS = 10
_COMMANDS = 5
_ROBOTS_CHARACTERS = 20_000
_RANKED = 100

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class HostView:
    """What is known of a host."""

    host: str
    name: str
    is_blocked: bool
    facts: Pairs
    outcomes: Pairs
    rows: list[tuple[Row, str, str]]
    robots: str | None
    robots_said: str
    decisions: list[Decision]


@dataclass(frozen=True, slots=True)
class UrlView:
    """What is known of a URL."""

    url: str
    host: str
    state: str
    verdict: str
    timeline: Pairs
    versions: list[tuple[str, str, str, str]]
    links_in: list[str]
    links_in_said: str
    links_out: list[tuple[str, str]]
    links_out_said: str
    has_copy: bool
    query: str
    rank_said: str


@guarded
async def host_page(request: Request) -> Response:
    """What was fetched from a host, when it is visited next, its rules, its rest and why."""
    collection = collection_of(request)
    host = _origin_of(request.query_params.get("host", ""))
    view = await run_in_threadpool(_host_view, collection, host)
    told = await run_in_threadpool(commands_of, collection, _COMMANDS)
    return page(request, "dashboard/host.html", view=view, told=told)


@guarded
async def url_page(request: Request) -> Response:
    """The history of a URL, its versions, its links, and where it ranks."""
    collection = collection_of(request)
    [url] = canonical_seeds([request.query_params.get("url", "").strip()])
    view = await run_in_threadpool(_url_view, collection, url, query_of(request.query_params))
    told = await run_in_threadpool(commands_of, collection, _COMMANDS)
    return page(request, "dashboard/url.html", view=view, told=told)


def _origin_of(host: str) -> str:
    text = host.strip()
    [canonical] = _core.canonical_urls([text if "//" in text else f"https://{text}/"])
    if not text or canonical is None:
        raise InvalidArgument(f"{host!r} is not a host", hint="as in https://www.example.org")
    return origin(canonical)


def _host_view(collection: Collection, host: str) -> HostView:
    collection.refresh()
    now = read_now(collection)
    settings = collection.settings.crawl
    fetched, ready_at, robots, crawl_delay = _core.host_state(collection.folder, host, settings.user_agent)
    name = host.split("//")[1]
    blocked = (now["settings"]["block"] if now else settings.block).split()
    is_blocked = name in blocked or without_port(name) in blocked
    rows = list(islice(collection.pages(prefix=f"{host}/"), _MOST_ROWS))
    rows.sort(key=lambda row: -row.fetched_at)
    decisions = _decisions_of(collection, host)
    facts = [
        ("pages fetched", f"{fetched:,}"),
        ("URLs with an outcome", f"{len(rows):,}" if len(rows) < _MOST_ROWS else f"{_MOST_ROWS:,} or more"),
        ("next request", _next_request(ready_at, is_blocked)),
        ("rest", _rest(collection, now, host, crawl_delay)),
    ]
    if is_blocked:
        facts.append(("blocked", "nothing is fetched from it"))
    return HostView(
        host,
        name,
        is_blocked,
        facts,
        [
            (outcome, f"{count:,}")
            for outcome, count in Counter(str(row.outcome) for row in rows).most_common()
        ],
        [(row, shown(row.fetched_at), _next(collection, row)) for row in rows[:_SHOWN_ROWS]],
        robots[2].decode("utf-8", "replace")[:_ROBOTS_CHARACTERS]
        if robots and robots[1] // 100 == 2
        else None,
        f"read {shown(robots[0])} UTC, status {robots[1]}{_meaning(robots[1])}"
        if robots
        else "it was not read yet",
        decisions,
    )


def _meaning(status: int) -> str:
    """What the status of a robots.txt means for the host (RFC 9309)."""
    if status // 100 == 2:
        return ""
    if status // 100 in (3, 4) and status != 429:
        return ": there are no rules, everything may be fetched"
    return ": nothing is fetched until it answers"


def _decisions_of(collection: Collection, host: str) -> list[Decision]:
    """The newest decisions about a host itself: its rules, and whether it was given up or steered."""
    named = decisions_naming(collection, f"{host}/robots.txt", host, host.split("//")[1])
    return list(named)[::-1][:_SHOWN_DECISIONS]


def _next_request(ready_at: float, is_blocked: bool) -> str:
    if is_blocked:
        return "none, it is blocked"
    wait = ready_at - time.time()
    return f"not before {shown(ready_at)} UTC, in {duration(wait)}" if wait > 0 else "it may be visited now"


def _rest(collection: Collection, now: dict[str, Any] | None, host: str, crawl_delay: float | None) -> str:
    """How long the host rests between visits, and why."""
    for name, until, why_so in (now or {}).get("resting", []):
        if name == host and now is not None and until > now["time"]:
            return f"{until - now['time']:.1f} s more: {why_so}"
    chosen = now["settings"] if now else None
    settings = collection.settings.crawl
    delay = chosen["delay"] if chosen else settings.delay
    if crawl_delay and crawl_delay >= (delay or 0):
        most = min(crawl_delay, settings.max_crawl_delay)
        return f"{most:g} s after each request: its robots.txt asks for {crawl_delay:g} s"
    if delay is not None:
        return f"{delay:g} s after each request: the delay that is set"
    if settings.politeness == "absolute":
        return "4 s after each request: politeness is absolute, and no delay is set"
    return f"{1 / settings.visit_share:g} times as long as its last visit took: politeness is relative"


def _next(collection: Collection, row: Row) -> str:
    try:
        visit = next_visit(collection, row.url)
    except CrivelloError:
        return ""
    return f"{shown(visit.time.timestamp())}" if visit else "not again"


def _url_view(collection: Collection, url: str, query: str) -> UrlView:
    collection.refresh()
    story = why(collection, url)
    links_in = _links_in(collection, story)
    links_out = collection.links(story.row) if story.row and story.row.length else []
    return UrlView(
        story.url,
        story.host,
        story.state,
        verdict(story),
        [(heading, text) for heading, text in tell(story) if heading != "verdict"],
        [
            (
                shown(row.fetched_at),
                str(row.outcome),
                str(row.status or ""),
                volume(row.length) if row.length else "",
            )
            for row in story.versions
        ],
        links_in,
        f"{counted(story.linking_pages, 'page')} of the crawl {'links' if story.linking_pages == 1 else 'link'} to it"
        + _first(len(links_in), story.linking_pages),
        links_out[:_SHOWN_LINKS],
        counted(len(links_out), "link") + _first(_SHOWN_LINKS, len(links_out)),
        bool(story.row and story.row.length and story.row.status == 200 and not story.row.noindex),
        query,
        _rank_for(collection, story.url, query) if query else "",
    )


def _first(shown_: int, all_: int) -> str:
    return f"; the first {shown_:,} of them" if 0 < shown_ < all_ else ""


def _links_in(collection: Collection, story: Story) -> list[str]:
    """Some of the pages that link to a URL."""
    committed = collection.length(Layout.LINKS)
    if not committed:
        return []
    pages = _core.pages_linking_to(
        collection.folder / Layout.LINKS, committed, _core.signature(story.url), _SHOWN_LINKS
    )
    return list(_urls(collection, pages))


def _urls(collection: Collection, pages: list[int]) -> Iterator[str]:
    for signature in pages:
        row = collection.table.by_signature(signature)
        if row is not None:
            yield row.url


def _rank_for(collection: Collection, url: str, query: str) -> str:
    results = collection.search(query, top=_RANKED, correct=False)
    for hit in results:
        if hit.url == url:
            return f"It is number {hit.rank} of {counted(results.matches, 'page')} for {query}."
    if collection.explain(query, url) is None:
        return f"It does not match {query}."
    return f"It matches {query}, and is not among the first {_RANKED}."
