"""Facets to narrow the results down, and chips for the filters in use.

A facet is a property of the matches, with a link for each of its values. A value in use is a filter in the
query, shown as a chip with a link that removes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crivello._core import QueryFilter, QueryText
from crivello.search.results import FacetValue, Results
from crivello.web.names import language_name, type_name

_TITLES = {"site": "Site", "language": "Language", "type": "Type", "year": "Year"}
_NAMES = {"language": language_name, "lang": language_name, "type": type_name}
_PREPOSITIONS = {"before": "before ", "after": "since "}
_FIRST_DAY = re.compile(r"(\d{4})-01-01")
_VALUES_SHOWN = 6
# A value that this share of the matches has narrows nothing down.
_NEARLY_ALL = 0.9
_VALUES_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet: its label, its number of matches, and the query that selects them."""

    label: str
    count: int
    query: str


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet: its first values, and those hidden behind a click."""

    title: str
    shown: list[Choice]
    hidden: list[Choice]


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in use, and the query without it."""

    label: str
    query: str


def facets_of(results: Results) -> list[Facet]:
    """The facets that offer a choice, without the values that nearly all of the matches have."""
    found = [(name, (results.facets or {}).get(name, ())) for name in _TITLES]
    narrowing = [
        (name, tuple(value for value in values if _narrows(name, value, results.matches)))
        for name, values in found
    ]
    return [_facet(name, values) for name, values in narrowing if values]


def _narrows(name: str, value: FacetValue, matches: int) -> bool:
    is_rest = (name, value.value) == ("type", "other")
    return value.count < _NEARLY_ALL * matches and not is_rest


def _facet(name: str, values: tuple[FacetValue, ...]) -> Facet:
    ordered = sorted(values, key=lambda value: value.value, reverse=True) if name == "year" else values
    choices = [Choice(_label(name, value.value), value.count, value.query) for value in ordered]
    # A single hidden value is not worth a click.
    shown = len(choices) if len(choices) == _VALUES_SHOWN + 1 else _VALUES_SHOWN
    return Facet(_TITLES[name], choices[:shown], choices[shown:_VALUES_AT_MOST])


def chips_of(query: str) -> list[Chip]:
    """The removable filters of a query, in order; two that make up a year are one chip."""
    chips: list[Chip] = []
    text = QueryText(query)
    filters = [one for one in text.filters if one.removable]
    while filters:
        year = _year(*filters[:2]) if len(filters) > 1 else None
        width = 1 if year is None else 2
        chips.append(Chip(year or _described(filters[0]), text.without(filters[:width])))
        filters = filters[width:]
    return chips


def _year(first: QueryFilter, second: QueryFilter) -> str | None:
    """The year that begins with the first filter and ends with the second."""
    if (first.name, second.name) != ("after", "before") or first.negated or second.negated:
        return None
    start, end = _FIRST_DAY.fullmatch(first.value), _FIRST_DAY.fullmatch(second.value)
    return start[1] if start and end and int(end[1]) == int(start[1]) + 1 else None


def _described(one: QueryFilter) -> str:
    label = _PREPOSITIONS.get(one.name, "") + _label(one.name, one.value)
    return f"not {label}" if one.negated else label


def _label(name: str, value: str) -> str:
    return _NAMES[name](value) if name in _NAMES else value
