"""Parses numbers (``.75``, ``+0.5``, ``1e6``, ``1_000``), sizes (``64M``, ``1.5GiB``) and durations
(``2h``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

BYTES = "bytes"
SECONDS = "seconds"

_SIZES = {"": 1, "b": 1} | {
    f"{letter}{rest}": 2 ** (10 * power)
    for power, letter in enumerate("kmgt", start=1)
    for rest in ("", "b", "ib")
}
_TIMES = {
    "": Decimal(1),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86_400),
    "w": Decimal(604_800),
}
# An exponent of three digits exceeds what any setting needs, and is small enough to evaluate safely.
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?) ?([a-zA-Z]*)", re.ASCII
)


def parse_number(text: str, unit: str = "") -> int | float | None:
    """Parses a number with an optional suffix for ``unit``; returns ``None`` if the text is malformed.

    K, M, G and T are powers of 1,024, also when written as KB or KiB.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    number, suffix = match.groups()
    units: Mapping[str, int | Decimal] = {"": 1}
    if unit == BYTES:
        units, suffix = _SIZES, suffix.lower()
    elif unit == SECONDS:
        units = _TIMES
    if suffix not in units:
        return None
    value = Decimal(number.replace("_", "")) * units[suffix]
    return int(value) if value == value.to_integral_value() else float(value)


def shown_size(size: int) -> str:
    """Formats a number of bytes in the largest unit that divides it."""
    power = 0
    while size and size % 1024 == 0 and power < 4:
        size, power = size // 1024, power + 1
    return f"{size:,}" if not power else f"{size}{'KMGT'[power - 1]}"


def is_countable(value: float) -> bool:
    """Whether a number fits into the 64-bit integers of the core."""
    return abs(value) < 2**63
