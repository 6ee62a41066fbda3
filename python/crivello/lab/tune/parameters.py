"""Numeric search settings, and the range in which each is searched."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crivello.errors import InvalidArgument
from crivello.search.topics import BY_SCORE_ALONE
from crivello.settings import Setting, settings_of
from crivello.settings.numbers import parse_number

SECTION = "search"
_WITHOUT_EFFECT = {*BY_SCORE_ALONE, "threads"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting and its range, both ends included."""

    name: str
    low: float
    high: float
    is_whole: bool = False

    def at(self, share: float) -> float:
        """The value at a fraction of the range, from 0 (low) to 1 (high).

        Rounded, so that fitted values are readable, and points that hardly differ are equal.
        """
        share = min(1.0, max(0.0, share))
        if self.is_whole:
            return round(self.low + share * (self.high - self.low))
        digits = 3 - math.ceil(math.log10(self.high - self.low))
        return min(self.high, max(self.low, round(self.low + share * (self.high - self.low), digits)))

    def share_of(self, value: float) -> float:
        """The position of a value in the range, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def parse_parameter(text: str) -> Parameter:
    """Parses a parameter such as ``k1=0.4:3``; a name alone takes the setting's entire range."""
    name, equals, limits = text.partition("=")
    numbers = {
        setting.name: setting
        for setting in settings_of(SECTION)
        if setting.base in (int, float) and setting.name not in _WITHOUT_EFFECT
    }
    if name not in numbers:
        raise InvalidArgument(
            f"--parameter {text}: {name!r} is no number among the settings that make a score",
            hint=f"there are {', '.join(numbers)}",
        )
    setting = numbers[name]
    low, high = _limits(text, limits, setting) if equals else _allowed(text, setting)
    low, high = (setting.checked(value, f"--parameter {text}") for value in (low, high))
    if not low < high:
        raise InvalidArgument(f"--parameter {text}: the range ends where it begins, or before")
    return Parameter(name, low, high, setting.base is int)


def _limits(text: str, limits: str, setting: Setting) -> tuple[float, float]:
    ends = [parse_number(limit, setting.unit) for limit in limits.split(":")]
    match ends:
        case [int() | float() as low, int() | float() as high]:
            return low, high
    raise InvalidArgument(f"--parameter {text} is no range", hint=f"as in {setting.name}=0.4:3")


def _allowed(text: str, setting: Setting) -> tuple[float, float]:
    low, high = setting.bounds
    if low is None or high is None:
        raise InvalidArgument(
            f"--parameter {text}: the setting has no bounds of its own", hint=f"say some: {text}=LOW:HIGH"
        )
    return low, high
