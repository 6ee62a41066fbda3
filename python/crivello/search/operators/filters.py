"""Filters on the metadata of a page; they do not score."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from crivello.errors import InvalidArgument
from crivello.search.operators.base import Operator

TYPES = ("html", "text", "pdf", "feed", "office", "other")
FIRST_DAY = date(1970, 1, 1)

_HOST = re.compile(r"[\w-]+(\.[\w-]+)*")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}")
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", re.ASCII)


class Filter(Operator):
    """A condition on metadata rather than on the text."""

    __slots__ = ()
    stands_alone = True


@dataclass(frozen=True, slots=True)
class Site(Filter):
    """Pages of a host and of all its subdomains."""

    host: str

    def __post_init__(self) -> None:
        if not isinstance(self.host, str) or not _HOST.fullmatch(self.host):
            raise InvalidArgument(f"{self.host!r} is not a host such as example.org")

    def __str__(self) -> str:
        return f"site:{self.host.lower()}"


@dataclass(frozen=True, slots=True)
class Lang(Filter):
    """Pages in a language, given by its code of two or three letters."""

    language: str

    def __post_init__(self) -> None:
        if not isinstance(self.language, str) or not _LANGUAGE.fullmatch(self.language):
            raise InvalidArgument(f"{self.language!r} is not a language of two or three letters, such as it")

    def __str__(self) -> str:
        return f"lang:{self.language.lower()}"


@dataclass(frozen=True, slots=True)
class Type(Filter):
    """Pages of a type: html, text, pdf, feed, office or other."""

    kind: str

    def __post_init__(self) -> None:
        if self.kind not in TYPES:
            raise InvalidArgument(f"{self.kind!r} is not a type; there are {', '.join(TYPES)}")

    def __str__(self) -> str:
        return f"type:{self.kind}"


@dataclass(frozen=True, slots=True, init=False)
class Before(Filter):
    """Pages older than a day: a date, or a text such as 2024-05-01, 2024-05 or 2024."""

    day: date

    def __init__(self, day: date | str) -> None:
        object.__setattr__(self, "day", _day(day))

    def __str__(self) -> str:
        return f"before:{self.day.isoformat()}"


@dataclass(frozen=True, slots=True, init=False)
class After(Filter):
    """Pages of a day or newer: a date, or a text such as 2024-05-01, 2024-05 or 2024."""

    day: date

    def __init__(self, day: date | str) -> None:
        object.__setattr__(self, "day", _day(day))

    def __str__(self) -> str:
        return f"after:{self.day.isoformat()}"


def _day(day: date | str) -> date:
    if isinstance(day, datetime):
        day = day.date()
    if isinstance(day, str):
        day = _read(day)
    if not isinstance(day, date):
        raise InvalidArgument(f"{day!r} is not a date")
    if day < FIRST_DAY:
        raise InvalidArgument(f"{day} is before 1970")
    return day


def _read(text: str) -> date:
    numbers = _DATE.fullmatch(text)
    try:
        if numbers:
            year, month, day = (int(number or 1) for number in numbers.groups())
            return date(year, month, day)
    except ValueError:
        pass
    raise InvalidArgument(f"{text!r} is not a date such as 2024-05-01, 2024-05 or 2024")
