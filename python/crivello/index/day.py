"""The date of a document as the index stores it: days since 1970-01-01, or 0 if unknown.

There is no day before the first: a date before 1970 is stored as 1970-01-02.
"""

from __future__ import annotations

from datetime import UTC, datetime

UNKNOWN = 0
_FIRST = 1
_SECONDS = 86_400


def day_of_date(date: str | float) -> int:
    """The day of a date, a datetime (UTC if it has no time zone) or a Unix time in seconds.

    Raises ``ValueError`` for anything else.
    """
    try:
        return _day(
            datetime.fromisoformat(date) if isinstance(date, str) else datetime.fromtimestamp(date, UTC)
        )
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"the date {date!r} is neither a date like 2024-05-01, nor a datetime, nor a Unix time in seconds"
        ) from None


def _day(when: datetime) -> int:
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    day = int(when.timestamp() // _SECONDS)
    return day if day >= 0 else _FIRST
