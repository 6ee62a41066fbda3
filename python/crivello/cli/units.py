"""Formats quantities for people."""

from __future__ import annotations

_SIZES = ("KiB", "MiB", "GiB", "TiB")


def volume(count: float) -> str:
    """Bytes, as in 1.5 MiB."""
    units = iter(_SIZES)
    unit = "bytes"
    while count >= 1000 and unit != _SIZES[-1]:
        count, unit = count / 1024, next(units)
    return f"{count:,.0f} bytes" if unit == "bytes" else f"{count:,.1f} {unit}"


def rate(per_second: float) -> str:
    """A rate without its unit, with as many digits as are significant."""
    return f"{per_second:,.1f}" if per_second < 10 else f"{per_second:,.0f}"


def duration(seconds: float) -> str:
    """A duration, as in 1:02:03, 2:03 or 4.5 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def share(part: float) -> str:
    """A share in percent."""
    return f"{part:.0%}"


def counted(number: int, thing: str) -> str:
    """A count with its noun, as in 1 topic or 2 topics."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
