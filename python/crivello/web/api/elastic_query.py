"""Elasticsearch's query DSL as operators of Crivello.

What has no counterpart is refused by name, rather than answered differently. Fields of words are the zones of a page;
``site``, ``language``, ``type`` and ``date`` are filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from crivello.errors import InvalidArgument
from crivello.search.operators import (
    After,
    And,
    Before,
    Boost,
    Everything,
    Group,
    In,
    Lang,
    Not,
    Operator,
    Or,
    Phrase,
    Prefix,
    Site,
    Term,
    Type,
)

ZONES = {
    "title": "title",
    "body": "body",
    "text": "body",
    "content": "body",
    "headings": "headings",
    "anchors": "anchors",
    "url": "url",
}
"""The fields of words, and the zone of each; ``_all`` and ``*`` are all zones."""
KEYWORDS: dict[str, Callable[[str], Operator]] = {"site": Site, "language": Lang, "type": Type}
DATE = "date"
_MOST_CLAUSES = 200
_DEEPEST = 20
_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


class UnsupportedQuery(InvalidArgument):
    """A query of the DSL that is not in the subset."""


def operator_of(query: Any, depth: int = 0) -> Operator:
    """The operator that means what a query of the DSL means."""
    if depth > _DEEPEST:
        raise UnsupportedQuery(f"the query has more than {_DEEPEST} levels")
    kind, body = _single(query, "a query")
    match kind:
        case "match_all":
            return Everything()
        case "match":
            return _match(body)
        case "match_phrase":
            return _phrase(body)
        case "multi_match":
            return _multi_match(body)
        case "prefix":
            field, value, _ = _field(body, "prefix", "value")
            return _in(field, Prefix(value))
        case "term":
            field, value, _ = _field(body, "term", "value", ("boost",))
            return _keyword(field, value)
        case "terms":
            return _terms(body)
        case "range":
            return _range(body)
        case "bool":
            return _bool(body, depth)
        case _:
            known = "match_all, match, match_phrase, multi_match, prefix, term, terms, range and bool"
            raise UnsupportedQuery(f"the query [{kind}] is not supported; there are {known}")


def _match(body: Any) -> Operator:
    field, value, options = _field(body, "match", "query", ("operator", "boost"))
    words = _words(value)
    if not words:
        raise UnsupportedQuery(f"[match] on [{field}] has no words")
    every = str(options.get("operator", "or")).lower()
    if every not in ("and", "or"):
        raise UnsupportedQuery(f"[operator] is 'and' or 'or', not {every!r}")
    parts: list[Operator] = [Term(word) for word in words]
    combined = parts[0] if len(parts) == 1 else And(*parts) if every == "and" else Or(*parts)
    return _boosted(_in(field, combined), options)


def _phrase(body: Any) -> Operator:
    field, value, options = _field(body, "match_phrase", "query", ("boost",))
    words = _words(value)
    if not words:
        raise UnsupportedQuery(f"[match_phrase] on [{field}] has no words")
    return _boosted(_in(field, Term(words[0]) if len(words) == 1 else Phrase(*words)), options)


def _multi_match(body: Any) -> Operator:
    body = _object(body, "multi_match")
    _refuse(body, "multi_match", ("query", "fields", "operator", "type", "boost"))
    if body.get("type", "best_fields") not in ("best_fields", "most_fields", "phrase"):
        raise UnsupportedQuery(f"[multi_match] of type [{body['type']}] is not supported")
    kind = _phrase if body.get("type") == "phrase" else _match
    options = {
        "query": body.get("query", ""),
        **({"operator": body["operator"]} if "operator" in body else {}),
    }
    if kind is _phrase:
        options.pop("operator", None)
    parts = []
    for named in body.get("fields") or ["_all"]:
        field, _, factor = str(named).partition("^")
        part = kind({field: options})
        parts.append(Boost(part, _number(factor)) if factor else part)
    return _boosted(parts[0] if len(parts) == 1 else Or(*parts), body)


def _terms(body: Any) -> Operator:
    body = _object(body, "terms")
    _refuse(body, "terms", (*KEYWORDS, DATE, *(f"{name}.keyword" for name in KEYWORDS), "boost"))
    fields = [name for name in body if name != "boost"]
    if len(fields) != 1 or not isinstance(body[fields[0]], list) or not body[fields[0]]:
        raise UnsupportedQuery("[terms] takes one field with a list of values")
    parts = [_keyword(fields[0], value) for value in body[fields[0]][:_MOST_CLAUSES]]
    return parts[0] if len(parts) == 1 else Or(*parts)


def _keyword(field: str, value: Any) -> Operator:
    name = field.removesuffix(".keyword")
    if name not in KEYWORDS:
        raise UnsupportedQuery(
            f"[term] on [{field}] is not supported: it is for {', '.join(KEYWORDS)}; words are for [match]"
        )
    return KEYWORDS[name](str(value))


def _range(body: Any) -> Operator:
    field, limits = _single(body, "[range]")
    if field != DATE:
        raise UnsupportedQuery(f"[range] on [{field}] is not supported: it is for [{DATE}]")
    limits = _object(limits, "range")
    _refuse(limits, "range", ("gte", "gt", "lte", "lt", "format", "boost"))
    parts: list[Operator] = []
    for name, value in limits.items():
        match name:
            case "gte":
                parts.append(After(_day(value)))
            case "gt":
                parts.append(After(_day(value) + timedelta(days=1)))
            case "lt":
                parts.append(Before(_day(value)))
            case "lte":
                parts.append(Before(_day(value) + timedelta(days=1)))
            case _:
                pass
    if not parts:
        raise UnsupportedQuery("[range] needs one of gte, gt, lte and lt")
    return parts[0] if len(parts) == 1 else And(*parts)


def _bool(body: Any, depth: int) -> Operator:
    body = _object(body, "bool")
    _refuse(body, "bool", ("must", "filter", "should", "must_not", "minimum_should_match", "boost"))
    must, filters, should, excluded = (
        [operator_of(one, depth + 1) for one in _clauses(body.get(name))]
        for name in ("must", "filter", "should", "must_not")
    )
    least = body.get("minimum_should_match", 0 if must or filters else 1)
    if least not in (0, 1, "0", "1"):
        raise UnsupportedQuery("[minimum_should_match] of 0 and 1 are supported")
    # Words in a filter select, and must not score: as little as a boost can say.
    required = [*must, *(one if _scores_nothing(one) else Boost(one, 1e-6) for one in filters)]
    if should and int(least):
        required.append(should[0] if len(should) == 1 else Or(*should))
        should = []
    if not (required or should or excluded):
        return Everything()
    if should and not required:
        required = [Everything()]
    if required or should:
        return _boosted(Group(required, should, excluded), body)
    return Not(excluded[0] if len(excluded) == 1 else Or(*excluded))


def _scores_nothing(what: Operator) -> bool:
    match what:
        case Site() | Lang() | Type() | Before() | After() | Everything():
            return True
        case And(parts) | Or(parts):
            return all(map(_scores_nothing, parts))
        case _:
            return False


def _clauses(given: Any) -> list[Any]:
    clauses = [] if given is None else given if isinstance(given, list) else [given]
    if len(clauses) > _MOST_CLAUSES:
        raise UnsupportedQuery(f"[bool] has {len(clauses):,} clauses, and {_MOST_CLAUSES} are the most")
    return clauses


def _in(field: str, what: Operator) -> Operator:
    if field in ("_all", "*"):
        return what
    if field not in ZONES:
        known = ", ".join(ZONES)
        raise UnsupportedQuery(f"there is no field [{field}] of words; there are {known} and _all")
    return In(ZONES[field], what)


def _field(
    body: Any, kind: str, value: str, known: tuple[str, ...] = ()
) -> tuple[str, str, Mapping[str, Any]]:
    """The field, the text and the options of a query such as ``{"title": {"query": "lens"}}``."""
    field, said = _single(body, f"[{kind}]")
    options = said if isinstance(said, Mapping) else {value: said}
    _refuse(options, kind, (value, *known))
    if not isinstance(options.get(value), str | int | float):
        raise UnsupportedQuery(f"[{kind}] on [{field}] needs a text")
    return field, str(options[value]), options


def _words(text: str) -> list[str]:
    """The words of a text, whatever signs and operators of our own language it has."""
    return [word for word in text.split() if any(map(str.isalnum, word))][:_MOST_CLAUSES]


def _boosted(what: Operator, options: Mapping[str, Any]) -> Operator:
    factor = options.get("boost", 1)
    return what if factor == 1 else Boost(what, _number(factor))


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise UnsupportedQuery(f"{given!r} is not a boost") from None


def _day(given: Any) -> date:
    text = str(given).partition("T")[0]
    if not _DAY.fullmatch(text):
        raise UnsupportedQuery(
            f"{given!r} is not a day such as 2024-05-01; date math and other formats are not supported"
        )
    return After(text).day


def _single(given: Any, what: str) -> tuple[str, Any]:
    if not isinstance(given, Mapping) or len(given) != 1:
        raise UnsupportedQuery(f"{what} is an object with one name")
    [(name, body)] = given.items()
    return str(name), body


def _object(given: Any, kind: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UnsupportedQuery(f"[{kind}] is an object")
    return {str(name): value for name, value in given.items()}


def _refuse(given: Mapping[str, Any], kind: str, known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise UnsupportedQuery(f"[{kind}] does not support [{name}]; there are {', '.join(known)}")
