"""The day and the media type of documents: from files, and from the pages of a crawl."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.index.day import UNKNOWN, day_of_date
from crivello.index.jsonl import JsonLines

EPOCH = date(1970, 1, 1)
FETCHED = datetime(2024, 5, 1, 12, tzinfo=UTC)
TODAY = (FETCHED.date() - EPOCH).days


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_every_way_to_say_a_date_is_the_same_day(when: datetime) -> None:
    day = (when.date() - EPOCH).days
    assert day_of_date(when.date().isoformat()) == day
    assert day_of_date(when.isoformat()) == day
    assert day_of_date(when.replace(tzinfo=None).isoformat(" ")) == day
    assert day_of_date(when.strftime("%Y-%m-%dT%H:%M:%SZ") if when.year >= 1000 else when.isoformat()) == day
    assert day_of_date(int(when.timestamp())) == day


def test_what_is_older_than_the_first_day_is_of_the_first_day() -> None:
    assert day_of_date("1851-10-18") == day_of_date("1969-12-31T23:59:59Z") == day_of_date(-5) == 1
    assert day_of_date("2024-05-01T01:00:00+02:00") == TODAY - 1


@pytest.mark.parametrize(
    "nonsense", ["", "yesterday", "2024-13-01", "1714521600", 1e300, 1_714_521_600_000, -1e13]
)
def test_what_is_no_date_is_refused(nonsense: str | float) -> None:
    with pytest.raises(ValueError, match="neither a date like 2024-05-01, nor a datetime"):
        day_of_date(nonsense)


def test_lines_have_a_type_and_a_date(tmp_path: Path) -> None:
    lines = [
        {"body": "x", "type": "text/html", "date": "2024-05-01"},
        {"body": "x", "date": (FETCHED + timedelta(days=1)).timestamp()},
        {"body": "x", "type": None, "date": None},
    ]
    file = tmp_path / "documents.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    found = [(document.kind, document.day) for document in JsonLines(str(file))]
    assert found == [("text/html", TODAY), ("", TODAY + 1), ("", UNKNOWN)]
