"""Every setting of Crivello, defined once.

A field of ``crivello.settings.fields`` is at the same time a flag (``--max-pages``), a variable of the environment
(``CRIVELLO_CRAWL_MAX_PAGES``) and a line of ``crivello.toml`` (``max_pages`` under ``[crawl]``); its
description is the help of the first, the comment of the last and the row in the documentation.
The flag wins over the variable, the variable over the file, the file over the default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Meta

from crivello.errors import InvalidSetting, StorageError
from crivello.settings.fields import BYTES, CODE, SIEVE, Crawl, Index, IndexCodes, Search, Serve, Settings

__all__ = ["Crawl", "Index", "IndexCodes", "Search", "Serve", "Setting", "Settings", "load"]

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}


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
        """The type of its values."""
        return _unwrap(self.type)[0]

    @property
    def flag(self) -> str:
        own = (_unwrap(self.type)[1].extra or {}).get("flag")
        return own or "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return f"CRIVELLO_{_attribute(self.section)}_{self.name}".upper()

    def of(self, settings: Settings) -> Any:
        """Its value among some settings."""
        return getattr(getattr(settings, _attribute(self.section)), self.name)

    @property
    def is_size(self) -> bool:
        """Whether it counts bytes, so that K, M and G may follow the number."""
        return _unwrap(self.type)[1].extra == BYTES

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The least and the greatest number that it may be, where there are such."""
        meta = _unwrap(self.type)[1]
        return meta.ge, meta.le

    @property
    def shown_default(self) -> str:
        """The default, for people."""
        if self.default is None:
            return "unset"
        if isinstance(self.default, bool):
            return "on" if self.default else "off"
        if self.is_size and self.default % 2**20 == 0:
            return f"{self.default // 2**20}M"
        return str(self.default) or "none"

    @property
    def allowed(self) -> str:
        """What may be said, in words."""
        base, meta = _unwrap(self.type)
        if typing.get_origin(base) is Literal:
            return "one of " + ", ".join(typing.get_args(base))
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[base]
        if meta.pattern == r"^[a-z]{2}$":
            return "two lower-case letters"
        if meta.pattern == CODE:
            return "auto or the name of a code"
        if meta.pattern == SIEVE:
            return "one of mercator, memory, offline, lsm, bloom, blocked-bloom, or module:Class"
        if base is str:
            short = f" of {meta.min_length or 0} to {meta.max_length} characters" if meta.max_length else ""
            return f"{kind}{short}{', plain ASCII' if meta.pattern and '~' in meta.pattern else ''}"
        low = (
            f" from {meta.ge:,}"
            if meta.ge is not None
            else f" over {meta.gt:,}"
            if meta.gt is not None
            else ""
        )
        unit = " (K, M or G may follow)" if self.is_size else ""
        high = (
            f" to {meta.le:,}"
            if meta.le is not None
            else f" to under {meta.lt:,}"
            if meta.lt is not None
            else ""
        )
        return f"{kind}{low}{high}{unit}"


def parse_size(text: str) -> int | None:
    """Bytes from a number that K, M or G may follow; None where it is something else."""
    number, unit = (text[:-1], _UNITS[text[-1].lower()]) if text[-1:].lower() in _UNITS else (text, 1)
    return int(number) * unit if number.isdigit() else None


def _unwrap(annotated: Any) -> tuple[Any, Meta]:
    if type(None) in typing.get_args(annotated):  # one that may be unset
        annotated = typing.get_args(annotated)[0]
    base, meta = typing.get_args(annotated)
    return base, meta


def sections() -> dict[str, type[msgspec.Struct]]:
    """The sections of the settings by name; one within another has a dot in it, as in ``crivello.toml``."""
    hints = typing.get_type_hints(Settings, include_extras=True)
    return {name.replace("_", "."): struct for name, struct in hints.items()}


def _attribute(section: str) -> str:
    return section.replace(".", "_")


def settings_of(section: str) -> Iterator[Setting]:
    """The settings of a section, in the order of their definition."""
    struct = sections()[section]
    hints = typing.get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        _, meta = _unwrap(hints[field.name])
        yield Setting(section, field.name, hints[field.name], field.default, meta.description or "")


def all_settings() -> Iterator[Setting]:
    """Every setting there is."""
    for section in sections():
        yield from settings_of(section)


def _convert(setting: Setting, value: Any, source: str) -> Any:
    size = parse_size(value) if setting.is_size and isinstance(value, str) else None
    plain = value if size is None else size
    try:
        return msgspec.convert(plain, setting.type, strict=not isinstance(plain, str))
    except msgspec.ValidationError:
        raise InvalidSetting(
            f"{source}: {value!r} is not allowed for {setting.name}: it must be {setting.allowed}"
        ) from None


def checked(section: str, name: str, value: Any, source: str) -> Any:
    """A value for one setting, if that allows it; ``source`` says where it comes from."""
    [setting] = [setting for setting in settings_of(section) if setting.name == name]
    return _convert(setting, value, source)


def load(
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from flags, environment and a ``crivello.toml``, in that order of precedence."""
    written = read_toml(file) if file else {}
    flags = flags or {}
    environment = os.environ if environment is None else environment
    _refuse_unknown_variables(environment)
    values: dict[str, dict[str, Any]] = {_attribute(section): {} for section in sections()}
    for setting in all_settings():
        if (said := flags.get(setting.section, {}).get(setting.name)) is not None:
            value = _convert(setting, said, setting.flag)
        elif (said := environment.get(setting.variable)) is not None:
            value = _convert(setting, said, setting.variable)
        elif (said := written.get(setting.section, {}).get(setting.name)) is not None:
            value = _convert(setting, said, f"{file}, [{setting.section}]")
        else:
            continue
        values[_attribute(setting.section)][setting.name] = value
    return msgspec.convert(values, Settings)


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {setting.variable for setting in all_settings()}
    prefixes = tuple(f"CRIVELLO_{_attribute(section)}_".upper() for section in sections())
    for name in environment:
        if name.startswith(prefixes) and name not in known:
            close = difflib.get_close_matches(name, known, 1)
            raise InvalidSetting(
                f"{name} is not a setting", hint=f"did you mean {close[0]}?" if close else None
            )


def read_toml(file: Path) -> dict[str, dict[str, Any]]:
    """What a ``crivello.toml`` says; a name that is no setting is an error."""
    try:
        written = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{file} is not valid TOML: {error}") from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"{file} is not valid TOML: it is not in UTF-8") from None
    except OSError as error:
        raise StorageError.of(error, file) from None
    known = {section: {setting.name for setting in settings_of(section)} for section in sections()}
    for inner in [section for section in known if "." in section]:
        outer, _, name = inner.partition(".")
        if isinstance(values := written.get(outer), dict) and isinstance(values.get(name), dict):
            written[inner] = values.pop(name)
    for section, values in written.items():
        if section not in known or not isinstance(values, dict):
            raise InvalidSetting(f"{file}: there is no section [{section}]; there are {', '.join(known)}")
        for name in values:
            if name not in known[section]:
                raise InvalidSetting(
                    f"{file}, [{section}]: there is no setting {name}",
                    hint=f"there are {', '.join(sorted(known[section]))}",
                )
    return written


def to_toml(settings: Settings) -> str:
    """A commented ``crivello.toml``: each setting with what it does; those at their default are commented out."""
    lines = [
        "# The settings of this collection. A line that begins with # shows a default: take the # away to change it.",
        "# A flag or a variable of the environment wins over this file.",
    ]
    for section, struct in sections().items():
        lines += ["", f"# {(struct.__doc__ or '').splitlines()[0]}", f"[{section}]"]
        for setting in settings_of(section):
            value = setting.of(settings)
            if value is None:
                lines += [f"# {setting.description} ({setting.variable})", f"# {setting.name} ="]
                continue
            mark = "# " if value == setting.default else ""
            lines += [
                f"# {setting.description} ({setting.variable})",
                f"{mark}{setting.name} = {_toml_value(value)}",
            ]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    return msgspec.json.encode(value).decode()
