"""Hosts to assign: those in a file, or generated ones."""

from __future__ import annotations

from collections.abc import Iterable

from crivello.assignment import By, keys

_ENDS = ("com", "org", "net", "de", "co.uk", "it", "fr", "com.br", "jp", "info")
_STARTS = ("www.", "", "blog.", "shop.", "m.", "news.")
_SYLLABLES = (
    "ba",
    "co",
    "di",
    "fe",
    "gu",
    "ka",
    "lo",
    "mi",
    "nu",
    "pe",
    "ra",
    "so",
    "ti",
    "vo",
    "zan",
    "ster",
)


def hosts_of(lines: Iterable[str], by: By | str = "host") -> list[str]:
    """The distinct hosts (or registrable domains) of lines, each a URL or a host, in order."""
    urls = (line if "://" in line else f"http://{line}/" for line in map(str.strip, lines) if line)
    return list(dict.fromkeys(keys(list(urls), by)))


def generate(count: int, seed: int = 0) -> list[str]:
    """Distinct host names of about 20 bytes, the same for the same seed."""
    base = len(_SYLLABLES)
    made = []
    for number in range(count):
        rest, name = number + seed * count, ""
        while rest or len(name) < 4:
            name += _SYLLABLES[rest % base]
            rest //= base
        made.append(f"{_STARTS[number % 6]}{name}-{number % 7}.{_ENDS[number // 6 % 10]}")
    return made
