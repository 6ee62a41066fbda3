"""What a field of a section says of its setting, as metadata of its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Meta

from crivello import _core
from crivello.settings.numbers import BYTES, SECONDS

Choices = dict[str, str]
"""The allowed values of a setting, the default first, each with its description."""

CHOICES: dict[str, Choices] = {kind: dict(names) for kind, names in _core.choices().items()}
"""The choices of the core's enumerations, by their names."""

OWN_CLASS = "a class of yours as module:Class"


def setting(
    group: str,
    description: str,
    *,
    unit: str = "",
    choices: Choices | None = None,
    check: Callable[[str], object] | None = None,
    flag: str | None = None,
    python: bool = False,
    **rules: Any,
) -> Meta:
    """The metadata of a setting; ``check`` raises if a text that is not among the choices is not valid
    either."""
    extra = {
        "group": group,
        "unit": unit,
        "choices": choices or {},
        "check": check,
        "flag": flag,
        "python": python,
    }
    return Meta(description=description, extra=extra, **rules)


def one_of(group: str, description: str, choices: Choices, **more: Any) -> Meta:
    return setting(group, description, choices=choices, pattern=f"^({'|'.join(choices)})$", **more)


def duration(group: str, description: str, **rules: Any) -> Meta:
    return setting(group, description, unit=SECONDS, **rules)


def size(group: str, description: str, least: int, **more: Any) -> Meta:
    return setting(group, description, unit=BYTES, ge=least, **more)


def text(group: str, description: str, **more: Any) -> Meta:
    return setting(group, description, max_length=2000, pattern=r"^[ -~]*$", **more)


def words(group: str, description: str, **more: Any) -> Meta:
    return setting(group, description, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", **more)
