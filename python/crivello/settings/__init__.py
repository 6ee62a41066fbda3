"""Every setting of Crivello, defined once.

A field of ``crivello.settings.fields`` defines a flag (``--max-pages``), an environment variable
(``CRIVELLO_CRAWL_MAX_PAGES``) and a line of ``crivello.toml`` (``max_pages`` under ``[crawl]``); its
description is the help text of the flag, the comment in the file and the row in the documentation.
Precedence: flag, environment variable, file, default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Meta

from crivello.errors import InvalidArgument, InvalidSetting, StorageError
from crivello.settings.fields import (
    Cluster,
    Crawl,
    Index,
    IndexCodes,
    Refresh,
    Search,
    Serve,
    Settings,
    Store,
)
from crivello.settings.fields.meta import Choices
from crivello.settings.numbers import BYTES, SECONDS, is_countable, parse_number, shown_size

__all__ = [
    "Cluster",
    "Crawl",
    "Index",
    "IndexCodes",
    "Refresh",
    "Search",
    "Serve",
    "Setting",
    "Settings",
    "Store",
    "for_core",
    "load",
]

# The help describes each choice only if there are at most this many.
_FEW = 10
_SWITCHES = {"true": True, "on": True, "yes": True, "1": True} | {
    "false": False,
    "off": False,
    "no": False,
    "0": False,
}


@dataclass(frozen=True)
class Setting:
    """One setting, as the shell, the documentation and ``crivello.toml`` see it."""

    section: str
    name: str
    type: Any
    default: Any
    description: str

    @property
    def base(self) -> Any:
        """The type of the values, without metadata."""
        return _unwrap(self.type)[0]

    @property
    def flag(self) -> str:
        return self._extra("flag") or "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return f"CRIVELLO_{_attribute(self.section)}_{self.name}".upper()

    @property
    def group(self) -> str:
        """The heading under which the help lists the setting."""
        heading: str = self._extra("group")
        return heading

    @property
    def choices(self) -> Choices:
        """The allowed values, each with its description; empty if the setting is not enumerated."""
        names: Choices = self._extra("choices")
        return names

    @property
    def is_open(self) -> bool:
        """Whether values other than the listed choices are allowed, such as codes with a parameter."""
        return self._extra("check") is not None

    @property
    def is_for_core(self) -> bool:
        """Whether the native core reads it."""
        return not self._extra("python")

    @property
    def help(self) -> str:
        """The description, including that of each choice."""
        if not self.choices or len(self.choices) > _FEW:
            return self.description
        return f"{self.description}: " + ", ".join(
            f"{name} ({what if what[1:2].isupper() else what[:1].lower() + what[1:]})"
            for name, what in self.choices.items()
        )

    def of(self, settings: Settings) -> Any:
        """The value of this setting in ``settings``."""
        return getattr(getattr(settings, _attribute(self.section)), self.name)

    @property
    def unit(self) -> str:
        """``BYTES`` or ``SECONDS`` if the value may be written with such a unit, else empty."""
        unit: str = self._extra("unit")
        return unit

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The minimum and maximum allowed value; ``None`` where there is no bound."""
        meta = _unwrap(self.type)[1]
        return meta.ge, meta.le

    @property
    def shown_default(self) -> str:
        """The default, formatted for the help."""
        if self.default is None:
            return "unset"
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        if self.unit == BYTES:
            return shown_size(self.default)
        return str(self.default) or "none"

    @property
    def allowed(self) -> str:
        """A sentence fragment that describes the allowed values."""
        base, meta = _unwrap(self.type)
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if base is bool:
            return "true or false"
        if meta.pattern == r"^[a-z]{2}$":
            return "two lower-case letters"
        if base is str:
            short = f" of {meta.min_length or 0} to {meta.max_length} characters" if meta.max_length else ""
            return f"text{short}{', plain ASCII' if meta.pattern and '~' in meta.pattern else ''}"
        if self.unit == BYTES:
            return f"a number of bytes from {shown_size(int(meta.ge or 0))} (K, M, G or T may follow)"
        kind = "a whole number" if base is int else "a number"
        low = (
            f" from {meta.ge:,}"
            if meta.ge is not None
            else f" over {meta.gt:,}"
            if meta.gt is not None
            else ""
        )
        high = (
            f" to {meta.le:,}"
            if meta.le is not None
            else f" to under {meta.lt:,}"
            if meta.lt is not None
            else ""
        )
        if self.unit == SECONDS:
            return f"{kind} of seconds{low}{high} (ms, s, m, h or d may follow)"
        return f"{kind}{low}{high}"

    def checked(self, value: Any, source: str) -> Any:
        """Validates and converts a value; ``source`` names its origin in the error message."""
        try:
            found = msgspec.convert(self._plain(value), self.type)
            if check := self._extra("check"):
                check(found)
        except msgspec.ValidationError:
            why = f"it must be {self.allowed}"
        except InvalidArgument as error:
            why = str(error)
        else:
            return found
        raise InvalidSetting(f"{source}: {value!r} is not allowed for {self.name}: {why}")

    def in_toml(self, value: Any) -> str:
        """A value in the syntax of ``crivello.toml``."""
        if self.unit == BYTES and not (shown := shown_size(value))[-1].isdigit():
            return f'"{shown}"'
        return msgspec.json.encode(value).decode()

    def _plain(self, value: Any) -> Any:
        """Converts text that denotes a number or a switch; other values are returned unchanged."""
        if self.base is bool and isinstance(value, str):
            return _SWITCHES.get(value.strip().lower(), value)
        if self.base not in (int, float) or isinstance(value, bool):
            return value
        if isinstance(value, str):
            number = parse_number(value, self.unit)
            value = value if number is None else number
        if isinstance(value, int | float) and not is_countable(value):
            return str(value)
        return int(value) if self.base is int and isinstance(value, float) and value.is_integer() else value

    def _extra(self, name: str) -> Any:
        return (_unwrap(self.type)[1].extra or {})[name]


def _unwrap(annotated: Any) -> tuple[Any, Meta]:
    if type(None) in typing.get_args(annotated):  # optional setting
        annotated = typing.get_args(annotated)[0]
    base, meta = typing.get_args(annotated)
    return base, meta


@cache
def sections() -> dict[str, type[msgspec.Struct]]:
    """The sections by name; the name of a nested section contains a dot, as in ``crivello.toml``."""
    hints = typing.get_type_hints(Settings, include_extras=True)
    return {name.replace("_", "."): struct for name, struct in hints.items()}


def _attribute(section: str) -> str:
    return section.replace(".", "_")


def settings_of(section: str) -> Iterator[Setting]:
    """The settings of a section, in definition order."""
    yield from _settings(section).values()


@cache
def _settings(section: str) -> dict[str, Setting]:
    struct = sections()[section]
    hints = typing.get_type_hints(struct, include_extras=True)
    return {
        field.name: Setting(
            section,
            field.name,
            hints[field.name],
            field.default,
            _unwrap(hints[field.name])[1].description or "",
        )
        for field in msgspec.structs.fields(struct)
    }


def all_settings() -> Iterator[Setting]:
    """All settings of all sections."""
    for section in sections():
        yield from settings_of(section)


def checked(section: str, name: str, value: Any, source: str) -> Any:
    """Validates and converts a value for one setting; ``source`` names its origin in the error message."""
    return _settings(section)[name].checked(value, source)


def for_core(section: msgspec.Struct) -> dict[str, Any]:
    """The settings of a section that are passed to the native core."""
    [name] = [name for name, struct in sections().items() if type(section) is struct]
    return {
        setting.name: getattr(section, setting.name) for setting in settings_of(name) if setting.is_for_core
    }


def load(
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Loads the settings from flags, environment and a ``crivello.toml``, in that order of precedence.

    ``flags`` is nested by section, like the file: ``{"crawl": {"delay": 1}}``; ``None`` means not given.
    """
    environment = os.environ if environment is None else environment
    _refuse_unknown_variables(environment)
    given: dict[str, dict[str, Any]] = {_attribute(section): {} for section in sections()}

    def take(setting: Setting, value: Any, source: str) -> None:
        given[_attribute(setting.section)][setting.name] = setting.checked(value, source)

    for setting, value in _named(read_toml(file), str(file)) if file else ():
        take(setting, value, f"{file}, [{setting.section}]")
    for setting in all_settings():
        if (value := environment.get(setting.variable)) is not None:
            take(setting, value, setting.variable)
    for setting, value in _named(flags or {}, "the settings"):
        if value is not None:
            take(setting, value, setting.flag)
    return msgspec.convert(given, Settings)


def read_toml(file: Path) -> dict[str, Any]:
    """The parsed content of a ``crivello.toml``."""
    try:
        return tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{file} is not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"{file} is not valid TOML: it is not in UTF-8") from None
    except OSError as error:
        raise StorageError.of(error, file) from None


def _named(written: Mapping[str, Any], source: str, outer: str = "") -> Iterator[tuple[Setting, Any]]:
    """Resolves section and setting names to ``Setting`` objects; an unknown name is an error."""
    for name, values in written.items():
        section = f"{outer}{name}"
        if section not in sections():
            raise unknown(f"{source}: there is no section [{section}]", section, sections())
        if not isinstance(values, Mapping):
            raise InvalidSetting(f"{source}: {section} is a section, and has settings of its own")
        known = _settings(section)
        for own, value in values.items():
            if f"{section}.{own}" in sections():
                yield from _named({own: value}, source, f"{section}.")
            elif own in known:
                yield known[own], value
            else:
                where = [other for other in sections() if own in _settings(other)]
                refused = unknown(f"{source}, [{section}]: there is no setting {own}", own, known)
                raise InvalidSetting(str(refused), hint=f"it is in [{where[0]}]") if where else refused


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {setting.variable for setting in all_settings()}
    prefixes = tuple(f"CRIVELLO_{_attribute(section)}_".upper() for section in sections())
    for name in environment:
        if name.startswith(prefixes) and name not in known:
            raise unknown(f"{name} is not a setting", name, known)


def unknown(text: str, name: str, known: Iterable[str]) -> InvalidSetting:
    """The error for an unknown name; its hint is the closest known name or, failing that, the documentation
    page."""
    close = difflib.get_close_matches(name, known, 1)
    return InvalidSetting(
        text, hint=f"did you mean {close[0]}?" if close else "docs/settings.md has all of them"
    )


def to_toml(settings: Settings) -> str:
    """A ``crivello.toml`` with the description of each setting; those at their default are commented out."""
    lines = [
        "# The settings of this collection. A line that begins with # shows a default: take the # away to change it.",
        "# A flag or a variable of the environment wins over this file.",
    ]
    for section, struct in sections().items():
        lines += ["", f"# {(struct.__doc__ or '').splitlines()[0]}", f"[{section}]"]
        for setting in settings_of(section):
            value = setting.of(settings)
            lines.append(f"# {setting.help} ({setting.variable})")
            if value is None:
                lines.append(f"# {setting.name} =")
                continue
            mark = "# " if value == setting.default else ""
            lines.append(f"{mark}{setting.name} = {setting.in_toml(value)}")
    return "\n".join(lines) + "\n"
