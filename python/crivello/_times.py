"""Private: moments in the forms that people write: ``2026-05-01``, ``2026-05-01T12:00``, ``2d`` (ago), ``now``."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from crivello.errors import InvalidArgument
from crivello.settings.numbers import SECONDS, parse_number

Moment = datetime | str
"""A time: a datetime (without a zone: UTC), a text in ISO 8601, a duration before now such as ``2d``, or ``now``."""


def seconds_of(moment: Moment) -> float:
    """The moment in seconds since 1970."""
    if isinstance(moment, datetime):
        return _in_utc(moment).timestamp()
    text = moment.strip()
    if text == "now":
        return time.time()
    try:
        return _in_utc(datetime.fromisoformat(text)).timestamp()
    except ValueError:
        ago = parse_number(text, SECONDS) if text and text[-1].isalpha() else None
    if ago is None or ago < 0:
        raise InvalidArgument(
            f"{moment!r} is not a time", hint="as in 2026-05-01, 2026-05-01T12:30, 2d (ago), 3h or now"
        )
    return time.time() - ago


def end_of(moment: Moment) -> float:
    """The moment in seconds since 1970; the end of the second or millisecond to which a text is written, because
    times of versions are shown cut off to these."""
    when = seconds_of(moment)
    if isinstance(moment, datetime) or ":" not in moment:
        return when
    micros = datetime.fromisoformat(moment.strip()).microsecond
    return when + (0.999999 if micros == 0 else 0.000999 if micros % 1000 == 0 else 0.0)


def shown(seconds: float) -> str:
    """A moment to the second, in UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
