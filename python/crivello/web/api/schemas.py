"""The JSON Schemas of what the API answers, by name."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}
_SWITCH = {"type": "boolean"}
_URL = {"type": "string", "description": "a URL; of a document without one its id"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


def _list(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def _object(
    fields: dict[str, dict[str, Any]], *, optional: tuple[str, ...] = (), description: str = ""
) -> dict[str, Any]:
    said = {"description": description} if description else {}
    required = [name for name in fields if name not in optional]
    return {
        "type": "object",
        **said,
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _named(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_MOMENT = {"type": "string", "format": "date-time"}
_DAY = {"type": "string", "format": "date"}
_FREE = {"type": "object", "additionalProperties": True}

SCHEMAS: dict[str, dict[str, Any]] = {
    "Hit": _object(
        {
            "rank": {"type": "integer", "minimum": 1},
            "score": _NUMBER,
            "url": _URL,
            "title": _TEXT,
            "snippet": {
                "type": "string",
                "description": "a passage as HTML: escaped, with the matches in <mark>",
            },
            "id": {"type": "string", "description": "the identifier given by its owner"},
            "site": _TEXT,
            "language": _TEXT,
            "kind": {"type": "string", "enum": ["", "html", "text", "pdf", "feed", "office", "other"]},
            "date": _or_null(_DAY),
            "similar": {**_COUNT, "description": "near-duplicates collapsed under it"},
            "more_from_site": {**_COUNT, "description": "further pages of its site, held back"},
            "explanation": _named("Explanation"),
        },
        optional=("explanation",),
    ),
    "Explanation": _object(
        {
            "label": _TEXT,
            "value": _NUMBER,
            "detail": _TEXT,
            "parts": _list(_named("Explanation")),
        },
        description="a part of a score: the sum of its parts",
    ),
    "FacetValue": _object(
        {"value": _TEXT, "count": _COUNT, "query": _TEXT},
        description="a value, its number of matches, and the query that selects them",
    ),
    "Results": _object(
        {
            "query": _TEXT,
            "matches": _COUNT,
            "exact": {"type": "boolean", "description": "false: there are more matches than these"},
            "partial": {"type": "boolean", "description": "true: the time limit ended the search"},
            "microseconds": _COUNT,
            "suggestion": _or_null(_TEXT),
            "hits": _list(_named("Hit")),
            "corrected": {
                **_TEXT,
                "description": "the query that was searched, since the other has no match",
            },
            "facets": {"type": "object", "additionalProperties": _list(_named("FacetValue"))},
            "rewritten": _TEXT,
            "missing_shards": _list(_COUNT),
        },
        optional=("corrected", "facets", "rewritten", "missing_shards"),
    ),
    "Status": _object(
        {
            "state": {"type": "string", "enum": ["crawling", "ready", "not indexed", "empty"]},
            "pages": _COUNT,
            "hosts": _COUNT,
            "terms": _COUNT,
            "updated": _or_null(_MOMENT),
        }
    ),
    "Completions": _object({"prefix": _TEXT, "completions": _list(_TEXT)}),
    "Row": _object(
        {
            "url": _TEXT,
            "status": _or_null(_COUNT),
            "depth": _COUNT,
            "content_type": _or_null(_TEXT),
            "digest": _or_null(_TEXT),
            "fetched_at": _MOMENT,
            "outcome": _TEXT,
            "title": _TEXT,
            "language": _or_null(_TEXT),
            "redirect": _or_null(_TEXT),
            "duplicate_of": _or_null(_TEXT),
            "near_duplicate_of": _or_null(_TEXT),
            "near_bits": _or_null(_COUNT),
            "canonical": _or_null(_TEXT),
            "address": _or_null(_TEXT),
            "attempts": _COUNT,
            "detail": _TEXT,
            "etag": _or_null(_TEXT),
            "last_modified": _or_null(_TEXT),
            "payload": _or_null(_TEXT),
        },
        description="a version of a URL: what a visit gave",
    ),
    "Link": _object({"url": _TEXT, "anchor": _TEXT}),
    "Page": _object(
        {
            "page": _named("Row"),
            "text": _TEXT,
            "links": _list(_named("Link")),
            "versions": _list(_named("Row")),
        },
        optional=("text", "links"),
    ),
    "Standing": _object(
        {
            "measure": _TEXT,
            "value": _NUMBER,
            "position": _COUNT,
            "pages": _COUNT,
            "percentile": _NUMBER,
        },
        description="where a page stands in a measure of the link graph",
    ),
    "Story": _object(
        {
            "given": _TEXT,
            "url": _TEXT,
            "cleaned": _list(_TEXT),
            "state": {"type": "string", "enum": ["done", "waits", "handed over", "left out", "unknown"]},
            "scope_refusal": _or_null(_TEXT),
            "limit_refusal": _or_null(_TEXT),
            "seed": _SWITCH,
            "asset_of": _TEXT,
            "depth": _or_null(_COUNT),
            "site_depth": _or_null(_COUNT),
            "found": {
                "oneOf": [
                    _object({"url": _TEXT, "anchor": _TEXT, "redirect": _SWITCH}),
                    {"type": "null"},
                ]
            },
            "linking_pages": _COUNT,
            "robots": _list(_FREE),
            "decisions": _list(_FREE),
            "page": {"oneOf": [_named("Row"), {"type": "null"}]},
            "redirected_from": _list(_TEXT),
            "copies": _list(_TEXT),
            "others": {"type": "object", "additionalProperties": _TEXT},
            "record": {
                "oneOf": [_object({"file": _TEXT, "offset": _COUNT, "length": _COUNT}), {"type": "null"}]
            },
            "indexed": _SWITCH,
            "index_reason": _TEXT,
            "ranks": _list(_named("Standing")),
            "versions": _list(_named("Row")),
            "next_visit": {"type": ["object", "null"], "additionalProperties": True},
            "sentences": {**_list(_TEXT), "description": "the same for people"},
        },
        description="the history of a URL",
    ),
    "Ranked": _object({"url": _TEXT, "rank": _NUMBER}),
    "Ranking": _object({"pages": _list(_named("Ranked"))}),
    "Standings": _object({"url": _TEXT, "ranks": _list(_named("Standing"))}),
    "Rank": {"oneOf": [_named("Ranking"), _named("Standings")]},
    "Problem": _object(
        {
            "type": {"type": "string", "format": "uri-reference"},
            "title": _TEXT,
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "what went wrong, in one sentence"},
            "hint": {"type": "string", "description": "what to try"},
            "position": {**_COUNT, "description": "of a query that does not parse: the character, from 0"},
        },
        optional=("hint", "position"),
        description="an error (RFC 9457)",
    ),
}
