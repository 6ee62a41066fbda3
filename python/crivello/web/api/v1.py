"""Version 1 of the HTTP API: its operations, each defined once for the validation and for the description."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from importlib.metadata import version
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from crivello.web.api.definitions import LONGEST_URL, Operation, Parameter

if TYPE_CHECKING:
    from crivello.collection import Collection

MOST_HITS = 1_000
DEEPEST_OFFSET = 10_000
MOST_PAGES = 10_000_000
_CHUNK = 2**16
_A_URL = "https://www.example.org/"

_TOP = Parameter("top", "how many, at most", "10", kind="number", default=10, least=1, most=MOST_HITS)
_URL = Parameter("url", "the URL of a page", _A_URL, kind="url", required=True, most=LONGEST_URL)
_SITE = Parameter(
    "site", "only pages of this domain and its subdomains", "example.org", kind="text", most=253
)
_SINCE = Parameter(
    "since",
    "only pages visited since: 2026-05-01, 2026-05-01T12:30, or 2d for two days ago",
    "2d",
    kind="moment",
    most=40,
)


def _search(collection: Collection, given: Mapping[str, Any]) -> Any:
    query, options = given["q"], {name: value for name, value in given.items() if name != "q"}
    return collection.search(query, **options).to_dict()


def _similar(collection: Collection, given: Mapping[str, Any]) -> Any:
    _found(collection, given["url"])
    return collection.similar(given["url"], top=given["top"]).to_dict()


def _complete(collection: Collection, given: Mapping[str, Any]) -> Any:
    return {"prefix": given["q"], "completions": collection.complete(given["q"], top=given["top"])}


def _pages(collection: Collection, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    collection.refresh()
    pages = collection.pages(
        site=given["site"] or None, prefix=given["prefix"] or None, since=given["since"] or None
    )
    rows = (row for row in pages if not given["outcome"] or str(row.outcome) == given["outcome"])
    return (row.to_dict() for row in islice(rows, given["top"]))


def _page(collection: Collection, given: Mapping[str, Any]) -> Any:
    collection.refresh()
    row = collection.page(given["url"], at=given["at"] or None)
    if row is None:
        raise _nothing(given["url"])
    answer: dict[str, Any] = {"page": row.to_dict()}
    if given["text"]:
        answer["text"] = collection.text(row)
    if given["links"]:
        answer["links"] = [{"url": url, "anchor": anchor} for url, anchor in collection.links(row)]
    answer["versions"] = [version.to_dict() for version in collection.versions(row.url)]
    return answer


def _why(collection: Collection, given: Mapping[str, Any]) -> Any:
    collection.refresh()
    story = collection.why(given["url"])
    return {**story.to_dict(), "sentences": [line.strip() for line in str(story).splitlines()[1:]]}


def _status(collection: Collection, _given: Mapping[str, Any]) -> Any:
    return collection.summary().to_dict()


def _rank(collection: Collection, given: Mapping[str, Any]) -> Any:
    if not given["url"]:
        ranked = collection.ranking(top=given["top"])
        return {"pages": [{"url": url, "rank": rank} for url, rank in ranked]}
    from crivello.graph.update import standings

    url = _found(collection, given["url"])
    return {"url": url, "ranks": [standing.to_dict() for standing in standings(collection, url)]}


def _found(collection: Collection, url: str) -> str:
    """The canonical URL of a page of the collection."""
    collection.refresh()
    row = collection.page(url)
    if row is None:
        raise _nothing(url)
    return row.url


def _nothing(url: str) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"{url} is not in the collection; /api/v1/why says why")


OPERATIONS = (
    Operation(
        "/api/v1/search",
        "search",
        "The best pages for a query",
        "The query is in the language of docs/search.md. If it has no match, its spelling correction is searched.",
        "Results",
        _search,
        (
            Parameter("q", "the query", "solar+wind", required=True),
            _TOP,
            Parameter(
                "offset",
                "how many hits to pass over",
                "10",
                kind="number",
                default=0,
                most=DEEPEST_OFFSET,
            ),
            Parameter(
                "facets",
                "1: count the matches by site, language, type and year",
                "1",
                kind="switch",
                default=False,
            ),
            Parameter("explain", "1: explain the score of each hit", "1", kind="switch", default=False),
            Parameter(
                "correct", "0: never search the spelling correction instead", "0", kind="switch", default=True
            ),
        ),
    ),
    Operation(
        "/api/v1/complete",
        "complete",
        "Completions of a query that is being typed",
        "The most useful first. For browsers, /complete has the same as OpenSearch suggestions.",
        "Completions",
        _complete,
        (
            Parameter("q", "what was typed so far", "sol", required=True, most=200),
            Parameter("top", "how many, at most", "8", kind="number", default=8, least=1, most=20),
        ),
    ),
    Operation(
        "/api/v1/similar",
        "similar",
        "The pages most like a page",
        "By its characteristic words; the page itself is not among them.",
        "Results",
        _similar,
        (_URL, _TOP),
        may_be_missing=True,
    ),
    Operation(
        "/api/v1/pages",
        "pages",
        "The newest version of each URL, as JSON lines",
        "Streamed: one JSON object a line, in the order of the visits, or by host with site or prefix.",
        "Row",
        _pages,
        (
            _SITE,
            Parameter(
                "prefix", "only URLs that begin so", "https://example.org/docs/", kind="url", most=LONGEST_URL
            ),
            _SINCE,
            Parameter("outcome", "only those that ended so", "fetched", most=40),
            Parameter(
                "top",
                "how many, at most",
                "100",
                kind="number",
                default=MOST_PAGES,
                least=1,
                most=MOST_PAGES,
            ),
        ),
        streamed=True,
    ),
    Operation(
        "/api/v1/page",
        "page",
        "A page: its row, text, links and versions",
        "The newest version, or the one at a time. The bytes as received are at /cached/raw.",
        "Page",
        _page,
        (
            _URL,
            Parameter("at", "the version at a time, written as since of pages", "2d", kind="moment", most=40),
            Parameter("text", "0: without its text", "0", kind="switch", default=True),
            Parameter("links", "1: with its links", "1", kind="switch", default=False),
        ),
        may_be_missing=True,
    ),
    Operation(
        "/api/v1/why",
        "why",
        "The history of a URL",
        "Where it was discovered, when it was tried, what refused it, what became of it. Also of a URL that is not "
        "in the collection.",
        "Story",
        _why,
        (_URL,),
    ),
    Operation(
        "/api/v1/rank",
        "rank",
        "The pages with the highest static rank, or where one page stands",
        "As `crivello rank` last computed it from the links.",
        "Rank",
        _rank,
        (
            Parameter("url", "a page: where it stands in each measure", _A_URL, kind="url", most=LONGEST_URL),
            _TOP,
        ),
        may_be_missing=True,
    ),
    Operation(
        "/api/v1/status",
        "status",
        "The state of the collection in a few numbers",
        "Never cached.",
        "Status",
        _status,
        cached=False,
    ),
)


class Api:
    """The operations over a collection, as routes."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._release = version("crivello")

    @property
    def routes(self) -> list[Route]:
        return [Route(operation.path, self._endpoint(operation)) for operation in OPERATIONS]

    def _endpoint(self, operation: Operation) -> Any:
        async def endpoint(request: Request) -> Response:
            given = operation.read(request.query_params)
            return await run_in_threadpool(self._answer, operation, given, request)

        return endpoint

    def _answer(self, operation: Operation, given: Mapping[str, Any], request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        if operation.cached:
            tag = self._tag(operation, given)
            headers = {"Cache-Control": "no-cache", "ETag": tag}
            if _is_known(request.headers.get("if-none-match", ""), tag):
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        answer = operation.answer(self._collection, given)
        if operation.streamed:
            # The first line is computed here, so that a wrong argument is an error rather than a cut response.
            return StreamingResponse(_lines(_begun(answer)), headers=headers, media_type=operation.media_type)
        return Response(msgspec.json.encode(answer), headers=headers, media_type=operation.media_type)

    def _tag(self, operation: Operation, given: Mapping[str, Any]) -> str:
        """The ETag of an answer: equal as long as the commit, the question and the release are.

        It is weak, since the time that an answer took is part of it, and since gzip changes its bytes.
        """
        told = (self._release, self._collection.version, operation.name, *sorted(given.items()))
        return f'W/"{hashlib.sha256(repr(told).encode()).hexdigest()[:24]}"'


def _is_known(asked: str, tag: str) -> bool:
    return asked.strip() == "*" or tag in (one.strip() for one in asked.split(","))


def _begun(lines: Iterable[Any]) -> Iterator[Any]:
    left = iter(lines)
    return chain(list(islice(left, 1)), left)


def _lines(objects: Iterator[Any]) -> Iterator[bytes]:
    """JSON lines, in chunks: each goes through a thread."""
    chunk = bytearray()
    for one in objects:
        chunk += msgspec.json.encode(one) + b"\n"
        if len(chunk) >= _CHUNK:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)
