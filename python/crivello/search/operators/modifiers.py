"""Modifiers of other operators: signs, zones and boosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from crivello.errors import InvalidArgument
from crivello.search.operators.base import And, Everything, Not, Operator, Or, Query, Term, inside, query
from crivello.search.operators.filters import Filter
from crivello.search.operators.intervals import Window
from crivello.search.operators.words import Phrase

ZONES = ("body", "title", "headings", "anchors", "url")
LARGEST_BOOST = 1000


@dataclass(frozen=True, slots=True, init=False)
class Group(Operator):
    """All of the required parts or, if there are none, any of the optional; and none of the excluded."""

    required: tuple[Operator, ...]
    optional: tuple[Operator, ...]
    excluded: tuple[Operator, ...]

    def __init__(
        self, required: Iterable[Query] = (), optional: Iterable[Query] = (), excluded: Iterable[Query] = ()
    ) -> None:
        for name, members in (("required", required), ("optional", optional), ("excluded", excluded)):
            if isinstance(members, str | Operator):
                raise InvalidArgument(f"{name} is a list of queries, not {members!r}")
            object.__setattr__(self, name, tuple(map(query, members)))
        if not (self.required or self.optional or self.excluded):
            raise InvalidArgument("a group needs at least one query")

    def __str__(self) -> str:
        signed = [("+", part) for part in self.required] + [("", part) for part in self.optional]
        members = [sign + _member(part) for sign, part in signed]
        return " ".join([*members, *(f"-{inside(part)}" for part in self.excluded)])


@dataclass(frozen=True, slots=True, init=False)
class In(Operator):
    """The same query restricted to one zone of the page: title, url, body, headings or anchors."""

    zone: str
    what: Operator
    stands_alone = True

    def __init__(self, zone: str, what: Query) -> None:
        what = query(what)
        if zone not in ZONES:
            raise InvalidArgument(f"{zone!r} is not a zone; there are {', '.join(ZONES)}")
        if isinstance(what, Filter | Everything):
            raise InvalidArgument(f"{zone}: needs words, and {what} has none")
        object.__setattr__(self, "zone", zone)
        object.__setattr__(self, "what", what)

    @property
    def has_intervals(self) -> bool:
        return self.what.has_intervals

    def __str__(self) -> str:
        quoted = isinstance(self.what, Term | Phrase | Window)
        return f"{self.zone}:{self.what}" if quoted else f"{self.zone}:({self.what})"


@dataclass(frozen=True, slots=True, init=False)
class Boost(Operator):
    """The same pages, with the scores of their words multiplied by a factor."""

    what: Operator
    factor: float
    stands_alone = True

    def __init__(self, what: Query, factor: float) -> None:
        number = isinstance(factor, int | float) and not isinstance(factor, bool)
        if not number or not 0 < factor <= LARGEST_BOOST:
            raise InvalidArgument(f"a boost is more than 0 and at most {LARGEST_BOOST:,}, not {factor!r}")
        object.__setattr__(self, "what", query(what))
        object.__setattr__(self, "factor", float(factor))

    def __str__(self) -> str:
        factor = format(Decimal(repr(self.factor)), "f").removesuffix(".0")
        return f"({self.what})^{factor}"


def _member(part: Operator) -> str:
    """The text of a group member: a lone filter would be required whatever its sign, with ``*`` it is not."""
    return f"({inside(part)} AND (*))" if _is_filter(part) else inside(part)


def _is_filter(part: Operator) -> bool:
    """Whether it consists of filters only."""
    match part:
        case Filter():
            return True
        case And(parts) | Or(parts):
            return all(map(_is_filter, parts))
        case Group(required, optional, excluded):
            return all(map(_is_filter, required + optional + excluded))
        case Not(what) | Boost(what) | In(_, what):
            return _is_filter(what)
        case _:
            return False
