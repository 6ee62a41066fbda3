"""A subset of Elasticsearch's HTTP API under ``/elastic/``, for its official clients.

The index is the collection, and the ``_id`` of a document its URL or, if it has none, its id. There are ``_search``, ``_count``, ``_bulk`` (index, create and delete), ``_doc`` (get), ``_refresh``, and
whether an index exists. Everything else is refused with 400 and a sentence that names it. Writing takes a token with the
scope ``crawl``; the collection is opened for writing for the duration of a request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crivello.errors import CollectionInUse, CrivelloError, InvalidArgument
from crivello.index.given import documents_of
from crivello.search.operators import Everything, Operator
from crivello.search.results import Hit, Results
from crivello.web.api.bodies import read_body
from crivello.web.api.elastic_query import UnsupportedQuery, operator_of
from crivello.web.api.gate import missing_scope

if TYPE_CHECKING:
    from crivello.collection import Collection

PREFIX = "/elastic"
MOST_BYTES = 64 * 2**20
"""The longest body of a bulk request."""
_MOST_QUERY_BYTES = 2**20
_MOST_HITS = 1_000
_DEEPEST = 10_000
# The client checks the product, and that the major version is not older than its own.
_LIKE = "9.0.0"
_PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
_JSON = "application/vnd.elasticsearch+json;compatible-with=9"
_FACETS = {"site": "site", "language": "language", "type": "type", "year": "year"}
_SEARCHED = (
    "query", "from", "size", "highlight", "aggs", "aggregations", "_source", "track_total_hits", "track_scores",
    "explain", "timeout", "sort",
)  # fmt: skip
# Every match is a hit here: nothing is folded, mixed by site or corrected.
_PLAIN: dict[str, Any] = {"collapse": -1, "per_site": 0}


class Elastic:
    """The door as routes, over a collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._writing = threading.Lock()

    @property
    def routes(self) -> list[Route]:
        both, writing = ["GET", "POST"], ["POST", "PUT"]
        return [
            Route(f"{PREFIX}/", self._called(self._info)),
            Route(f"{PREFIX}/_search", self._called(self._search), methods=both),
            Route(f"{PREFIX}/_count", self._called(self._count), methods=both),
            Route(f"{PREFIX}/_bulk", self._called(self._bulk), methods=writing),
            Route(f"{PREFIX}/_refresh", self._called(self._refresh), methods=both),
            Route(f"{PREFIX}/{{index}}/_search", self._called(self._search), methods=both),
            Route(f"{PREFIX}/{{index}}/_count", self._called(self._count), methods=both),
            Route(f"{PREFIX}/{{index}}/_bulk", self._called(self._bulk), methods=writing),
            Route(f"{PREFIX}/{{index}}/_refresh", self._called(self._refresh), methods=both),
            Route(f"{PREFIX}/{{index}}/_doc/{{id:path}}", self._called(self._get)),
            Route(f"{PREFIX}/{{index}}", self._called(self._exists), methods=["HEAD"]),
            Route(
                f"{PREFIX}/{{path:path}}",
                self._called(self._unknown),
                methods=["GET", "POST", "PUT", "DELETE"],
            ),
        ]

    def _called(self, answer: Callable[[Request, bytes], Response]) -> Any:
        """An endpoint that reads the body, answers in a thread, and tells errors as Elasticsearch does."""
        most = MOST_BYTES if answer == self._bulk else _MOST_QUERY_BYTES

        async def endpoint(request: Request) -> Response:
            try:
                body = await read_body(request, most)
                return await run_in_threadpool(answer, request, body)
            except HTTPException as error:
                kind = (
                    "index_not_found_exception"
                    if isinstance(error, _NoIndex)
                    else "content_too_long_exception"
                )
                return _error(error.status_code, kind, error.detail)
            except CollectionInUse as error:
                # A status that the official clients retry.
                return _error(HTTPStatus.TOO_MANY_REQUESTS, "es_rejected_execution_exception", str(error))
            except InvalidArgument as error:
                kind = (
                    "parsing_exception"
                    if isinstance(error, UnsupportedQuery)
                    else "illegal_argument_exception"
                )
                return _error(HTTPStatus.BAD_REQUEST, kind, str(error))
            except CrivelloError as error:
                return _error(HTTPStatus.INTERNAL_SERVER_ERROR, "exception", str(error))

        return endpoint

    def _info(self, _request: Request, _body: bytes) -> Response:
        return _answer(
            {
                "name": "crivello",
                "cluster_name": self._collection.name,
                "cluster_uuid": "crivello",
                "version": {
                    "number": _LIKE,
                    "build_flavor": "default",
                    "build_type": f"crivello {version('crivello')}",
                    "lucene_version": "none",
                    "minimum_wire_compatibility_version": _LIKE,
                    "minimum_index_compatibility_version": _LIKE,
                },
                "tagline": "You Know, for Search: a subset, by Crivello",
            }
        )

    def _search(self, request: Request, body: bytes) -> Response:
        self._check_index(request)
        given = _body_of(request, body)
        for name in given:
            if name not in _SEARCHED:
                raise UnsupportedQuery(
                    f"[_search] does not support [{name}]; there are {', '.join(_SEARCHED)}"
                )
        if given.get("sort") not in (None, [], "_score", ["_score"], [{"_score": {"order": "desc"}}]):
            raise UnsupportedQuery("[sort] by _score is supported, and nothing else")
        began = time.perf_counter_ns()
        query = operator_of(given["query"]) if given.get("query") is not None else Everything()
        size, start = _whole(given, "size", 10, _MOST_HITS), _whole(given, "from", 0, _DEEPEST)
        aggregations = _aggregations(given)
        results = self._collection.search(
            query, top=size, offset=start, facets=bool(aggregations), correct=False, **_PLAIN
        )
        index = self._collection.name
        chosen, marked = _source_fields(given.get("_source", True)), _highlights(given)
        hits = [_hit(index, hit, chosen, marked) for hit in results]
        relation = "eq" if results.exact else "gte"
        answer: dict[str, Any] = {
            "took": (time.perf_counter_ns() - began) // 1_000_000,
            "timed_out": results.partial,
            "_shards": _SHARDS,
            "hits": {
                "total": {"value": results.matches, "relation": relation},
                "max_score": results[0].score if results and not start else None,
                "hits": hits,
            },
        }
        if aggregations:
            answer["aggregations"] = {
                name: _buckets(results, field, size) for name, (field, size) in aggregations.items()
            }
        return _answer(answer)

    def _count(self, request: Request, body: bytes) -> Response:
        self._check_index(request)
        given = _body_of(request, body)
        for name in given:
            if name != "query":
                raise UnsupportedQuery(f"[_count] does not support [{name}]; there is query")
        query: Operator = operator_of(given["query"]) if given.get("query") is not None else Everything()
        return _answer({"count": self._collection.count(query), "_shards": _SHARDS})

    def _bulk(self, request: Request, body: bytes) -> Response:
        refusal = missing_scope(request, "crawl")
        if refusal is not None:
            said = msgspec.json.decode(bytes(refusal.body))
            return _error(refusal.status_code, "security_exception", f"{said['detail']}: {said['hint']}")
        began = time.perf_counter_ns()
        default = request.path_params.get("index", "")
        actions = [_Action.read(*pair, default) for pair in _pairs(body)]
        with self._writing:
            items = self._done(actions)
        return _answer(
            {
                "took": (time.perf_counter_ns() - began) // 1_000_000,
                "errors": any("error" in item[verb] for item in items for verb in item),
                "items": items,
            }
        )

    def _done(self, actions: list[_Action]) -> list[dict[str, Any]]:
        """Carries out what can be, in one commit of documents and one of deletions, and says what became of each."""
        from crivello.collection import Collection

        own = self._collection.name
        for action in actions:
            if action.index != own:
                action.failure = (
                    404,
                    "index_not_found_exception",
                    f"no such index [{action.index}]; there is [{own}]",
                )
        last: dict[str, _Action] = {}
        for action in actions:
            if action.failure is None:
                # Within a request the last word about a document counts.
                last.pop(action.key, None)
                last[action.key] = action
        added = [action.document for action in last.values() if action.document is not None]
        deleted = [action.key for action in last.values() if action.document is None]
        if added or deleted:
            with Collection.write(self._collection.folder, settings=self._collection.settings) as writer:
                gone = writer.delete(deleted).deleted if deleted else 0
                replaced = writer.add(added, progress=False).replaced if added else 0
            # The index counts, and does not say which: one word for all deletions, and one for all additions.
            for action in last.values():
                action.was_there = bool(gone if action.document is None else replaced)
        self._collection.refresh()
        return [action.item() for action in actions]

    def _get(self, request: Request, _body: bytes) -> Response:
        self._check_index(request)
        identity = request.path_params["id"]
        row = self._collection.page(identity) if "://" in identity else None
        shared = {"_index": self._collection.name, "_id": identity}
        if row is None:
            return _answer({**shared, "found": False}, HTTPStatus.NOT_FOUND)
        source = {
            "url": row.url,
            "title": row.title,
            "language": row.language,
            "body": self._collection.text(row),
        }
        return _answer({**shared, "_version": 1, "found": True, "_source": source})

    def _refresh(self, request: Request, _body: bytes) -> Response:
        """Nothing to do: what was added is found as soon as its request is answered."""
        self._check_index(request)
        return _answer({"_shards": _SHARDS})

    def _exists(self, request: Request, _body: bytes) -> Response:
        is_here = request.path_params["index"] == self._collection.name
        return Response(
            status_code=HTTPStatus.OK if is_here else HTTPStatus.NOT_FOUND,
            headers={**_PRODUCT, "Content-Type": _JSON},
        )

    def _unknown(self, request: Request, _body: bytes) -> Response:
        path = request.path_params["path"]
        return _error(
            HTTPStatus.BAD_REQUEST,
            "illegal_argument_exception",
            f"{request.method} /{path} is not supported here: Crivello has _search, _count, _bulk, _doc (get), "
            "_refresh and whether an index exists",
        )

    def _check_index(self, request: Request) -> None:
        index = request.path_params.get("index", self._collection.name)
        if index not in (self._collection.name, "_all", "*"):
            raise _NoIndex(index, self._collection.name)


_SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}


class _NoIndex(HTTPException):
    def __init__(self, index: str, own: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, f"no such index [{index}]; there is [{own}]")


class _Action:
    """A line of a bulk request, with its document, and what became of it."""

    def __init__(self, verb: str, index: str, key: str, document: Any) -> None:
        self.verb, self.index, self.key, self.document = verb, index, key, document
        self.failure: tuple[int, str, str] | None = None
        self.was_there = False

    @classmethod
    def read(cls, line: Mapping[str, Any], source: Mapping[str, Any] | None, default: str) -> _Action:
        [(verb, about)] = line.items()
        about = about if isinstance(about, Mapping) else {}
        index, identity = str(about.get("_index", default)), str(about.get("_id", ""))
        action = cls(verb, index, identity, None)
        if verb == "update":
            action.failure = (
                400,
                "illegal_argument_exception",
                "[update] is not supported: index the whole document",
            )
        elif verb == "delete":
            if not identity:
                action.failure = (400, "action_request_validation_exception", "[delete] needs an _id")
        else:
            try:
                given = {**(source or {}), **({"id": identity} if identity else {})}
                [action.document] = documents_of(given)
                action.key = str(given.get("url") or identity) or action.document.url
            except InvalidArgument as error:
                action.failure = (400, "document_parsing_exception", str(error))
        return action

    def item(self) -> dict[str, Any]:
        """What became of it, as an item of the answer."""
        said: dict[str, Any] = {"_index": self.index, "_id": self.key}
        if self.failure is not None:
            status, kind, reason = self.failure
            return {self.verb: {**said, "status": status, "error": {"type": kind, "reason": reason}}}
        if self.verb == "delete":
            status, result = (
                (HTTPStatus.OK, "deleted") if self.was_there else (HTTPStatus.NOT_FOUND, "not_found")
            )
        else:
            status, result = (HTTPStatus.OK, "updated") if self.was_there else (HTTPStatus.CREATED, "created")
        return {self.verb: {**said, "status": status, "result": result, "_shards": _SHARDS}}


def _pairs(body: bytes) -> Iterable[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """The actions of a bulk request, each with its document."""
    lines = iter(enumerate((line for line in body.split(b"\n") if line.strip()), start=1))
    for number, line in lines:
        action = _decoded(line, number)
        verb = next(iter(action), "")
        if len(action) != 1 or verb not in ("index", "create", "delete", "update"):
            raise InvalidArgument(
                f"Malformed action/metadata line [{number}], expected one of [create, delete, index, update] "
                f"but found [{verb}]"
            )
        if verb == "delete":
            yield action, None
            continue
        follows = next(lines, None)
        if follows is None:
            raise InvalidArgument(f"line {number} has no document after it")
        yield action, _decoded(follows[1], follows[0])


def _decoded(line: bytes, number: int) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"line {number} is not a JSON object: {error}") from None


def _body_of(request: Request, body: bytes) -> dict[str, Any]:
    for name in request.query_params:
        if name not in (
            "pretty",
            "human",
            "error_trace",
            "ignore_unavailable",
            "allow_no_indices",
            "rest_total_hits_as_int",
        ):
            raise UnsupportedQuery(f"the parameter [{name}] is not supported; put the search into the body")
    return _decoded(body, 1) if body.strip() else {}


def _whole(given: Mapping[str, Any], name: str, default: int, most: int) -> int:
    number = given.get(name, default)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise InvalidArgument(f"[{name}] is a whole number from 0 to {most:,}, not {number!r}")
    return number


def _aggregations(given: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """The aggregations by terms: the facet and the number of buckets of each."""
    found = {}
    for name, body in (given.get("aggs") or given.get("aggregations") or {}).items():
        terms = body.get("terms") if isinstance(body, Mapping) and set(body) == {"terms"} else None
        if not isinstance(terms, Mapping) or not set(terms) <= {"field", "size"}:
            raise UnsupportedQuery(
                f"the aggregation [{name}] is not supported: only terms, with field and size, is"
            )
        field = str(terms.get("field", "")).removesuffix(".keyword")
        if field not in _FACETS:
            raise UnsupportedQuery(
                f"an aggregation by [{field}] is not supported: only by {', '.join(_FACETS)}"
            )
        found[name] = (field, _whole(terms, "size", 10, 10))
    return found


def _buckets(results: Results, field: str, size: int) -> dict[str, Any]:
    values = (results.facets or {}).get(field, ())
    return {
        "doc_count_error_upper_bound": 0,
        "sum_other_doc_count": sum(value.count for value in values[size:]),
        "buckets": [{"key": value.value, "doc_count": value.count} for value in values[:size]],
    }


def _highlights(given: Mapping[str, Any]) -> tuple[list[str], str, str] | None:
    """The fields to highlight, and what is put around a match."""
    said = given.get("highlight")
    if said is None:
        return None
    known = ("fields", "pre_tags", "post_tags", "number_of_fragments", "fragment_size", "type", "encoder")
    for name in said:
        if name not in known:
            raise UnsupportedQuery(f"[highlight] does not support [{name}]; there are {', '.join(known)}")
    fields = said.get("fields") or {}
    named = list(fields) if isinstance(fields, Mapping) else [name for one in fields for name in one]
    for name in named:
        if name not in ("body", "text", "content", "*"):
            raise UnsupportedQuery(f"[highlight] of [{name}] is not supported: the body is highlighted")
    return named, *(
        (said.get(f"{side}_tags") or [tag])[0] for side, tag in (("pre", "<em>"), ("post", "</em>"))
    )


def _source_fields(said: Any) -> Callable[[str], bool]:
    match said:
        case bool():
            return lambda _: said
        case str():
            return lambda name: name == said
        case list():
            return lambda name: name in said
        case {"includes": list(names)} | {"include": list(names)}:
            return lambda name: name in names
        case {"excludes": list(names)} | {"exclude": list(names)}:
            return lambda name: name not in names
        case _:
            raise UnsupportedQuery("[_source] is true, false, or a list of fields")


def _hit(
    index: str, hit: Hit, chosen: Callable[[str], bool], marked: tuple[list[str], str, str] | None
) -> dict[str, Any]:
    fields = {
        "id": hit.id,
        "url": hit.url,
        "title": hit.title,
        "snippet": str(hit.snippet),
        "site": hit.site,
        "language": hit.language,
        "type": hit.kind,
        "date": hit.date.isoformat() if hit.date else None,
    }
    source = {name: value for name, value in fields.items() if chosen(name)}
    said: dict[str, Any] = {"_index": index, "_id": hit.url, "_score": hit.score, "_source": source}
    if marked is not None and any(is_match for _, is_match in hit.snippet.fragments):
        names, before, after = marked
        said["highlight"] = {
            "body" if name == "*" else name: [hit.snippet.marked(before, after)] for name in names
        }
    return said


def _answer(said: Any, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(said), status, headers={**_PRODUCT, "Content-Type": _JSON})


def _error(status: int, kind: str, reason: str) -> Response:
    cause = {"type": kind, "reason": reason}
    return _answer({"error": {"root_cause": [cause], **cause}, "status": int(status)}, status)
