"""The basic operators: words, and the Boolean operators ``&``, ``|`` and ``~``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from crivello.errors import InvalidArgument
from crivello.search.operators.text import count_words, quoted


class Operator:
    """A query, or a part of one. ``a & b``, ``a | b`` and ``~a`` are ``And``, ``Or`` and ``Not``."""

    __slots__ = ()

    stands_alone: ClassVar[bool] = False
    """Whether the text needs no parentheses inside that of another operator."""

    @property
    def has_intervals(self) -> bool:
        """Whether it has positions in a text, as the operands of ``Ordered``, ``Containing`` etc. must."""
        return False

    def __and__(self, other: Query) -> And:
        return And(*_parts_of(And, self), *_parts_of(And, query(other)))

    def __rand__(self, other: str) -> And:
        return And(other, *_parts_of(And, self))

    def __or__(self, other: Query) -> Or:
        return Or(*_parts_of(Or, self), *_parts_of(Or, query(other)))

    def __ror__(self, other: str) -> Or:
        return Or(other, *_parts_of(Or, self))

    def __invert__(self) -> Not:
        return Not(self)


class Interval(Operator):
    """An operator with positions: it matches intervals of words."""

    __slots__ = ()

    @property
    def has_intervals(self) -> bool:
        return True


Query: TypeAlias = Operator | str


def query(what: Query) -> Operator:
    """An operator unchanged; a string as a ``Term``."""
    if isinstance(what, Operator):
        return what
    if isinstance(what, str):
        return Term(what)
    raise InvalidArgument(f"{what!r} is neither a query nor a text")


def queries(name: str, parts: tuple[Query, ...]) -> tuple[Operator, ...]:
    """The operands of an operator; fails if there are none."""
    if not parts:
        raise InvalidArgument(f"{name} needs at least one query")
    return tuple(map(query, parts))


def inside(part: Operator) -> str:
    """The text of an operator inside that of another."""
    return str(part) if part.stands_alone else f"({part})"


def _parts_of(kind: type[And] | type[Or], what: Operator) -> tuple[Operator, ...]:
    return what.parts if isinstance(what, kind) else (what,)


@dataclass(frozen=True, slots=True)
class Term(Interval):
    """A word. A text of several words is a phrase."""

    text: str
    stands_alone = True

    def __post_init__(self) -> None:
        count_words(self.text)

    def __str__(self) -> str:
        return quoted(self.text)


@dataclass(frozen=True, slots=True, init=False)
class And(Operator):
    """Pages that match all operands; in an interval operator, the shortest intervals with one of each."""

    parts: tuple[Operator, ...]

    def __init__(self, *parts: Query) -> None:
        object.__setattr__(self, "parts", queries("AND", parts))

    @property
    def has_intervals(self) -> bool:
        return all(part.has_intervals for part in self.parts)

    def __str__(self) -> str:
        return " AND ".join(inside(part) for part in self.parts)


@dataclass(frozen=True, slots=True, init=False)
class Or(Operator):
    """Pages that match any of the operands."""

    parts: tuple[Operator, ...]

    def __init__(self, *parts: Query) -> None:
        object.__setattr__(self, "parts", queries("OR", parts))

    @property
    def has_intervals(self) -> bool:
        return all(part.has_intervals for part in self.parts)

    def __str__(self) -> str:
        return " OR ".join(inside(part) for part in self.parts)


@dataclass(frozen=True, slots=True, init=False)
class Not(Operator):
    """All other pages; does not score."""

    excluded: Operator

    def __init__(self, excluded: Query) -> None:
        object.__setattr__(self, "excluded", query(excluded))

    def __str__(self) -> str:
        return f"NOT {inside(self.excluded)}"


@dataclass(frozen=True, slots=True)
class Everything(Operator):
    """All pages."""

    def __str__(self) -> str:
        return "*"
