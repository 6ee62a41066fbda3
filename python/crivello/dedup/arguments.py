"""Arguments of callers: each is checked here, and what is wrong with one is told in one sentence."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from enum import StrEnum
from numbers import Integral, Real
from typing import TypeVar

from crivello.errors import InvalidArgument
from crivello.settings.numbers import BYTES, parse_number

_MOST_BYTES = 1 << 50

_Choice = TypeVar("_Choice", bound=StrEnum)


def whole(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """An argument that must be a whole number, within limits."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InvalidArgument(f"{name} must be a whole number, and not {value!r}")
    _check_limits(name, found := int(value), least, most)
    return found


def real(name: str, value: object, least: float, most: float | None = None) -> float:
    """An argument that must be a number, within limits."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidArgument(f"{name} must be a number, and not {value!r}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    _check_limits(name, found, least, most)
    return found


def _check_limits(name: str, value: float, least: float | None, most: float | None) -> None:
    lower, upper = -math.inf if least is None else least, math.inf if most is None else most
    if not lower <= value <= upper:
        limits = f"at least {lower:,}" if most is None else f"from {lower:,} to {upper:,}"
        raise InvalidArgument(f"{name} must be {limits}, and not {value:,}")


def memory_size(memory: object, least: int) -> int:
    """A memory budget in bytes, of a number or a text such as ``64M``."""
    if isinstance(memory, str):
        found = parse_number(memory, BYTES)
        if not isinstance(found, int):
            raise InvalidArgument(
                f"memory: {memory!r} is not a size", hint="give bytes, or something like 16M or 2G"
            )
        memory = found
    return whole("memory", memory, least, _MOST_BYTES)


def chosen(kind: type[_Choice], value: str, name: str) -> _Choice:
    """The member of an enumeration that a word names."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidArgument(
            f"{name}: {value!r} is not among the choices", hint=f"take one of {', '.join(kind)}"
        ) from None


def text(name: str, value: object) -> str:
    """An argument that must be a text."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} must be a text, and not {value!r}")
    return value


def path_name(name: str, path: object) -> str:
    """The name of a file or folder; empty for ``None``, which is none."""
    if path is None:
        return ""
    found = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(found, str):
        raise InvalidArgument(f"{name} must be a path, and not {path!r}")
    try:
        is_path = b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise InvalidArgument(f"{name}: {found!r} has a character that no path has")
    return found


def path_names(name: str, paths: object) -> list[str]:
    """The names of one file or folder, or of several; ``None`` and an empty name are none."""
    if paths is None or isinstance(paths, str | os.PathLike):
        return [found] if (found := path_name(name, paths)) else []
    if isinstance(paths, bytes) or not isinstance(paths, Iterable):
        raise InvalidArgument(f"{name} must be a path or a list of paths, and not {paths!r}")
    names = [path_name(name, path) for path in paths]
    if not all(names):
        raise InvalidArgument(f"{name} has an empty name", hint="leave it out")
    return names
