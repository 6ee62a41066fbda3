"""Dates as people say them, and the range of dates that a reader asks for."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from crivello._core import QueryText
from crivello.errors import InvalidArgument

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DAYS_IN_WORDS = 14
_FILTERS = ("after", "before")


def in_words(day: date, today: date | None = None) -> str:
    """The day as in "yesterday", "5 days ago", "6 May" of this year, "6 May 2024"."""
    today = today or datetime.now(UTC).date()
    ago = (today - day).days
    if ago == 0:
        return "today"
    if ago == 1:
        return "yesterday"
    if 1 < ago <= _DAYS_IN_WORDS:
        return f"{ago} days ago"
    return f"{day.day} {day:%b}" if day.year == today.year else f"{day.day} {day:%b %Y}"


def between(query: str, start: str, end: str) -> str:
    """The query for pages from one day to another, both included, in place of the dates that it had."""
    text = QueryText(query)
    dated = [one for one in text.filters if one.removable and one.name in _FILTERS and not one.negated]
    if dated:
        query = text.without(dated) or "*"
    first, last = _read("from", start), _read("to", end)
    clauses = [f"after:{first.isoformat()}"] if first else []
    if last and last < date.max:
        clauses.append(f"before:{date.fromordinal(last.toordinal() + 1).isoformat()}")
    return QueryText(query).narrowed(" ".join(clauses)) if clauses else query


def range_of(query: str) -> tuple[str, str]:
    """The first and the last day that a query asks for; empty where it is open."""
    days = {one.name: one.value for one in QueryText(query).filters if one.removable and not one.negated}
    end = date.fromisoformat(days["before"]) if _DAY.fullmatch(days.get("before", "")) else None
    last = date.fromordinal(end.toordinal() - 1).isoformat() if end and end > date.min else ""
    return days.get("after", "") if _DAY.fullmatch(days.get("after", "")) else "", last


def _read(name: str, text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(
            f"{name} is {text[:40]!r}, which is not a day", hint="write a day as 2026-05-31"
        ) from None
