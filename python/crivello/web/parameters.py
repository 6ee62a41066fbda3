"""What people and programs put in an address, checked."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from crivello.errors import InvalidArgument

LONGEST_QUERY = 1_000


def query_of(parameters: QueryParams) -> str:
    """The query, without the white space around it; empty when there is none."""
    query = parameters.get("q", "").strip()
    if len(query) > LONGEST_QUERY:
        raise InvalidArgument(
            f"the query has {len(query):,} characters, and {LONGEST_QUERY:,} is the most a query can have",
            hint="keep the words that matter most",
        )
    return query


def yes_or_no(parameters: QueryParams, name: str) -> bool:
    """Whether ``name`` is 1 rather than 0, which it is when it is left out."""
    text = parameters.get(name, "0")
    if text not in ("0", "1"):
        raise InvalidArgument(
            f"{name} is {text[:40]!r}, which is neither 0 nor 1", hint=f"write {name}=1 for yes"
        )
    return text == "1"


def whole_number(parameters: QueryParams, name: str, *, default: int, least: int, most: int | None) -> int:
    """The number under ``name``; above ``most``, when there is one, it is refused."""
    text = parameters.get(name, str(default))
    allowed = f"{least:,} or more" if most is None else f"between {least:,} and {most:,}"
    # A number of twenty digits is as good as any greater one, and int() refuses very long ones.
    number = int(text[:20]) if text.isascii() and text.isdigit() else None
    if number is None or number < least or (most is not None and number > most):
        raise InvalidArgument(
            f"{name} is {text[:40]!r}, which is not a whole number {allowed}",
            hint=f"leave {name} out to get {default}",
        )
    return number
