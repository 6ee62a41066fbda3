"""Where in a text: orders, and relations between two places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crivello.errors import InvalidArgument
from crivello.search.operators.base import Interval, Operator, Query, inside, query
from crivello.search.operators.text import WIDEST, is_whole


@dataclass(frozen=True, slots=True, init=False)
class Ordered(Interval):
    """One after the other, without overlap, in the same zone."""

    parts: tuple[Operator, ...]

    def __init__(self, *parts: Query) -> None:
        if len(parts) < 2:
            raise InvalidArgument("an order needs at least two parts")
        object.__setattr__(self, "parts", tuple(_interval("an order", part) for part in parts))

    def __str__(self) -> str:
        return " < ".join(inside(part) for part in self.parts)


@dataclass(frozen=True, slots=True, init=False)
class Relation(Interval):
    """Where ``of`` is, as far as a relation to where ``with_`` is holds, or does not.

    ``margins`` enlarges the intervals of ``with_`` by so many positions to the left and to the right.
    """

    of: Operator
    with_: Operator
    margins: tuple[int, int]
    _sign: ClassVar[str]

    def __init__(self, of: Query, with_: Query, margins: tuple[int, int] = (0, 0)) -> None:
        two = isinstance(margins, tuple) and len(margins) == 2
        if not two or not all(is_whole(margin) and 0 <= margin <= WIDEST for margin in margins):
            raise InvalidArgument(f"margins are two whole numbers from 0 to {WIDEST:,}, not {margins!r}")
        object.__setattr__(self, "of", _interval(self._sign, of))
        object.__setattr__(self, "with_", _interval(self._sign, with_))
        object.__setattr__(self, "margins", margins)

    def __str__(self) -> str:
        margins = "" if self.margins == (0, 0) else f"[{self.margins[0]},{self.margins[1]}]"
        return f"{inside(self.of)} {self._sign}{margins} {inside(self.with_)}"


class Containing(Relation):
    """Where ``of`` contains a place of ``with_``."""

    __slots__ = ()
    _sign = "CONTAINING"


class NotContaining(Relation):
    """Where ``of`` contains no place of ``with_``."""

    __slots__ = ()
    _sign = "NOT CONTAINING"


class Inside(Relation):
    """Where ``of`` lies in a place of ``with_``."""

    __slots__ = ()
    _sign = "INSIDE"


class NotInside(Relation):
    """Where ``of`` lies in no place of ``with_``."""

    __slots__ = ()
    _sign = "NOT INSIDE"


@dataclass(frozen=True, slots=True, init=False)
class Aligned(Interval):
    """Where both are, from the same first to the same last word."""

    of: Operator
    with_: Operator

    def __init__(self, of: Query, with_: Query) -> None:
        object.__setattr__(self, "of", _interval("ALIGNED", of))
        object.__setattr__(self, "with_", _interval("ALIGNED", with_))

    def __str__(self) -> str:
        return f"{inside(self.of)} ALIGNED {inside(self.with_)}"


def _interval(name: str, part: Query) -> Operator:
    part = query(part)
    if not part.has_intervals:
        raise InvalidArgument(f"{name} is about words and where they stand, which {part} does not say")
    return part
