"""When a document was written, as the index has it: days since 1970-01-01, and 0 where nobody knows.

There is no day before the first: what is older than 1970 counts as 1970-01-02.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

UNKNOWN = 0
_FIRST = 1
_SECONDS = 86_400
_FIRST_WEB_PAGE = 7_304
"""1990-01-01: a server that says that its page is older has a wrong clock, or none."""


def day_of_date(date: str | float) -> int:
    """The day of a date, a datetime (in UTC where it does not say) or a Unix time in seconds.

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


def day_of_page(last_modified: str | None, fetched_at: float) -> int:
    """The day of a page: the one that its server says, where it can be true, or else the one of the fetch."""
    fetched = day_of_date(fetched_at)
    modified = UNKNOWN if last_modified is None else _day_of_header(last_modified)
    return modified if _FIRST_WEB_PAGE <= modified <= fetched + 1 else fetched


def _day_of_header(text: str) -> int:
    try:
        return _day(parsedate_to_datetime(text))
    except (ValueError, OverflowError):
        return UNKNOWN


def _day(when: datetime) -> int:
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    day = int(when.timestamp() // _SECONDS)
    return day if day >= 0 else _FIRST
