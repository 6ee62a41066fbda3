"""Validation of query parameters."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from starlette.datastructures import QueryParams

from crivello.errors import InvalidArgument

LONGEST_QUERY = 1_000


def query_of(parameters: QueryParams) -> str:
    """The query, stripped of white space; empty if there is none."""
    query = parameters.get("q", "").strip()
    if len(query) > LONGEST_QUERY:
        raise InvalidArgument(
            f"the query has {len(query):,} characters, and {LONGEST_QUERY:,} is the most a query can have",
            hint="keep the words that matter most",
        )
    return query


def refuse_unknown(parameters: QueryParams, known: Collection[str]) -> None:
    """Fails for an unknown parameter: a program that misspelt one would never notice."""
    for name in parameters:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            there_are = f"there are {', '.join(known)}" if known else "there are none here"
            raise InvalidArgument(
                f"{name[:40]!r} is not a parameter", hint=f"did you mean {near[0]}?" if near else there_are
            )


def yes_or_no(parameters: QueryParams, name: str, *, default: bool = False) -> bool:
    """Whether ``name`` is 1 rather than 0."""
    text = parameters.get(name, str(int(default)))
    if text not in ("0", "1"):
        raise InvalidArgument(
            f"{name} is {text[:40]!r}, which is neither 0 nor 1",
            hint=f"write {name}=1 for yes, {name}=0 for no",
        )
    return text == "1"


def whole_number(parameters: QueryParams, name: str, *, default: int, least: int, most: int | None) -> int:
    """The value of ``name`` as an integer from ``least`` to ``most``, if that is given."""
    text = parameters.get(name, str(default))
    allowed = f"{least:,} or more" if most is None else f"between {least:,} and {most:,}"
    # Twenty digits exceed every limit already, and int() rejects very long numbers.
    number = int(text[:20]) if text.isascii() and text.isdigit() else None
    if number is None or number < least or (most is not None and number > most):
        raise InvalidArgument(
            f"{name} is {text[:40]!r}, which is not a whole number {allowed}",
            hint=f"leave {name} out to get {default}",
        )
    return number
