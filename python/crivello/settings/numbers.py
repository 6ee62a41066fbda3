"""Numbers as people write them: ``.75``, ``+0.5``, ``1e6``, ``1_000``, sizes like ``64M`` and ``1.5GiB``, times like ``2h``."""

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
}
# Three digits of an exponent are more than any setting needs, and few enough to compute with.
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?) ?([a-zA-Z]*)", re.ASCII
)


def parse_number(text: str, unit: str = "") -> int | float | None:
    """A number, or one of bytes or seconds with its unit; None where the text is something else.

    K, M, G and T are powers of 1,024, also as KB or KiB.
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
    """A number of bytes with the largest unit of which there is a whole number."""
    power = 0
    while size and size % 1024 == 0 and power < 4:
        size, power = size // 1024, power + 1
    return f"{size:,}" if not power else f"{size}{'KMGT'[power - 1]}"


def is_countable(value: float) -> bool:
    """Whether a number fits the 64 bits that the core counts with."""
    return abs(value) < 2**63
