"""Positional operators: windows, orders, and relations between intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crivello.errors import InvalidArgument
from crivello.search.operators.base import And, Interval, Operator, Query, inside, query
from crivello.search.operators.text import WIDEST, count_words, is_whole, quoted


@dataclass(frozen=True, slots=True, init=False)
class Window(Interval):
    """All parts within ``size`` positions, in any order."""

    size: int
    parts: tuple[Query, ...]
    stands_alone = True

    def __init__(self, size: int, *parts: Query) -> None:
        if not parts:
            raise InvalidArgument("a window needs at least one part")
        least = sum(count_words(part) if isinstance(part, str) else 1 for part in parts)
        if not is_whole(size) or size < least:
            raise InvalidArgument(f"a window of {size!r} positions has no room for {least} words")
        if size > WIDEST:
            raise InvalidArgument(f"a window has at most {WIDEST:,} positions, not {size:,}")
        for part in parts:
            _interval("a window", part)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "parts", parts)

    @property
    def words(self) -> str | None:
        """The text of a window of words; ``None`` if a part is an operator."""
        words = [part for part in self.parts if isinstance(part, str)]
        return " ".join(words) if len(words) == len(self.parts) else None

    def __str__(self) -> str:
        if self.words is not None:
            return f"{quoted(self.words)}~{self.size}"
        return f"({And(*self.parts)})~{self.size}"


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
    """The intervals of ``of`` that have a relation to an interval of ``with_``, or have not.

    ``margins`` extends the intervals of ``with_`` by a number of positions to the left and to the right.
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
    """The intervals of ``of`` that contain one of ``with_``."""

    __slots__ = ()
    _sign = "CONTAINING"


class NotContaining(Relation):
    """The intervals of ``of`` that contain none of ``with_``."""

    __slots__ = ()
    _sign = "NOT CONTAINING"


class Inside(Relation):
    """The intervals of ``of`` that are contained in one of ``with_``."""

    __slots__ = ()
    _sign = "INSIDE"


class NotInside(Relation):
    """The intervals of ``of`` that are contained in none of ``with_``."""

    __slots__ = ()
    _sign = "NOT INSIDE"


@dataclass(frozen=True, slots=True, init=False)
class Aligned(Interval):
    """The intervals that both operands have, from the same first to the same last word."""

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
