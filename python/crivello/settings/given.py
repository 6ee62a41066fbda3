"""Settings passed by a Python program: by section when opening a collection, by name when calling a
method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from msgspec import structs

from crivello.errors import InvalidArgument
from crivello.settings import Setting, Settings, checked, sections, settings_of, unknown

_Thing = TypeVar("_Thing")


def with_sections(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """Replaces settings given by section, as in ``crawl={"delay": 1}``."""
    names = {section.replace(".", "_"): section for section in sections()}
    for name, values in given.items():
        section = _known(name, names, "section of the settings")
        if not isinstance(values, Mapping):
            raise InvalidArgument(f"{name} is {values!r}", hint=f"give its settings: {name}={{…}}")
        settings = _replaced(settings, {one.name: one for one in settings_of(section)}, values)
    return settings


def with_keywords(settings: Settings, section_names: Iterable[str], given: Mapping[str, Any]) -> Settings:
    """Replaces settings of the given sections; each is named like its flag, with underscores."""
    known = {
        setting.flag.removeprefix("--").replace("-", "_"): setting
        for section in section_names
        for setting in settings_of(section)
    }
    return _replaced(settings, known, given)


def _replaced(settings: Settings, known: Mapping[str, Setting], given: Mapping[str, Any]) -> Settings:
    for name, value in given.items():
        setting = _known(name, known, "setting")
        attribute = setting.section.replace(".", "_")
        value = checked(setting.section, setting.name, value, f"[{setting.section}]")
        section = structs.replace(getattr(settings, attribute), **{setting.name: value})
        settings = structs.replace(settings, **{attribute: section})
    return settings


def _known(name: str, known: Mapping[str, _Thing], kind: str) -> _Thing:
    if name in known:
        return known[name]
    raise unknown(f"there is no {kind} {name!r}", name, known)
