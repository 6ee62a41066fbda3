"""Every setting of Crivello, defined once.

A field below is at the same time a flag (``--max-pages``), a variable of the environment
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
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from crivello.errors import InvalidSetting, StorageError

_BYTES = {"unit": "bytes"}
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}


class Crawl(msgspec.Struct, kw_only=True, frozen=True):
    """What to fetch, and how politely."""

    delay: Annotated[
        float, Meta(ge=0, le=3600, description="seconds between the end of a request to a host and the next")
    ] = 1.0
    connections: Annotated[
        int, Meta(ge=1, le=10_000, description="how many hosts are fetched from at once")
    ] = 64
    scope: Annotated[
        Literal["host", "any"],
        Meta(description="which links are followed: those to the hosts of the seeds, or any"),
    ] = "host"
    max_pages: Annotated[int, Meta(ge=0, description="stop after so many pages; 0: no limit")] = 0
    max_depth: Annotated[
        int, Meta(ge=0, le=65_535, description="follow links so far from a seed; 0: no limit")
    ] = 0
    max_per_host: Annotated[int, Meta(ge=0, description="fetch so many pages of a host; 0: no limit")] = 0
    max_time: Annotated[float, Meta(ge=0, description="stop after so many seconds; 0: no limit")] = 0
    max_chain: Annotated[
        int,
        Meta(
            ge=1,
            le=65_535,
            description="a trap is cut off after so many links in a row between URLs that differ only in numbers",
        ),
    ] = 30
    max_bytes: Annotated[
        int,
        Meta(
            ge=1024, description="a body longer than this is given up, as sent and as decoded", extra=_BYTES
        ),
    ] = 16 * 2**20
    max_redirects: Annotated[int, Meta(ge=0, le=50, description="how long a chain of redirects may be")] = 8
    timeout: Annotated[float, Meta(gt=0, le=3600, description="seconds that a request may take in all")] = (
        30.0
    )
    retries: Annotated[int, Meta(ge=0, le=20, description="how often a failed request is tried again")] = 2
    obey_robots: Annotated[
        bool, Meta(description="respect robots.txt; switch it off only for your own sites")
    ] = True
    allow_private: Annotated[
        bool,
        Meta(description="fetch from private and loopback addresses even where no seed is on one"),
    ] = False
    user_agent: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            pattern=r"^[!-~]+$",
            description="the name that robots.txt files know",
        ),
    ] = "crivello"
    contact: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=r"^[ -~]*$",
            description="a URL or address where site owners can reach you",
        ),
    ] = ""
    near_distance: Annotated[
        int,
        Meta(
            ge=0, le=3, description="pages whose SimHashes differ in at most so many bits are near-duplicates"
        ),
    ] = 3
    checkpoint: Annotated[float, Meta(ge=0.1, le=3600, description="seconds between checkpoints")] = 5.0
    sieve: Annotated[
        Literal["mercator", "memory", "offline", "lsm", "bloom", "blocked-bloom"],
        Meta(
            description="how URLs that were seen are remembered; a collection keeps the one it was made with"
        ),
    ] = "mercator"
    sieve_memory: Annotated[
        int,
        Meta(ge=2**16, description="bytes that the sieves mercator, offline and lsm may use", extra=_BYTES),
    ] = 64 * 2**20
    sieve_cache: Annotated[
        int,
        Meta(ge=0, le=2**30, description="how many recent URLs are known without asking the sieve; 0: none"),
    ] = 65_536
    sieve_capacity: Annotated[
        int,
        Meta(ge=1, le=10**12, description="how many URLs the sieves bloom and blocked-bloom are made for"),
    ] = 10_000_000
    sieve_error: Annotated[
        float,
        Meta(gt=0, lt=1, description="how often those take a new URL for an old one when they have so many"),
    ] = 1e-4


class Index(msgspec.Struct, kw_only=True, frozen=True):
    """How pages become an index."""

    memory: Annotated[
        int,
        Meta(ge=2**20, description="bytes that building may use before it writes a segment", extra=_BYTES),
    ] = 256 * 2**20


class Search(msgspec.Struct, kw_only=True, frozen=True):
    """How answers are ranked."""

    k1: Annotated[float, Meta(ge=0, le=10, description="BM25: how much repeated words count")] = 1.2
    b: Annotated[float, Meta(ge=0, le=1, description="BM25: how much long pages are held back")] = 0.75
    rank_weight: Annotated[
        float, Meta(ge=0, le=100, description="how much the page's PageRank adds; 0: ranking by text alone")
    ] = 0.5
    language: Annotated[
        str,
        Meta(pattern=r"^[a-z]{2}$", description="the language in which queries are stemmed, as two letters"),
    ] = "en"


class Serve(msgspec.Struct, kw_only=True, frozen=True):
    """Where the search page is."""

    host: Annotated[str, Meta(min_length=1, description="the address to listen on; 0.0.0.0: all of them")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65_535, description="the port to listen on; 0: any that is free")] = (
        8080
    )


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All settings, one section for each part."""

    crawl: Crawl = Crawl()
    index: Index = Index()
    search: Search = Search()
    serve: Serve = Serve()


@dataclass(frozen=True)
class Setting:
    """One setting, as the shell, the documentation and ``crivello.toml`` see it."""

    section: str
    name: str
    type: Any
    default: Any
    description: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return f"CRIVELLO_{self.section}_{self.name}".upper()

    @property
    def is_size(self) -> bool:
        """Whether it counts bytes, so that K, M and G may follow the number."""
        return _unwrap(self.type)[1].extra == _BYTES

    @property
    def shown_default(self) -> str:
        """The default, for people."""
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
        if base is str:
            short = f" of {meta.min_length or 0} to {meta.max_length} characters" if meta.max_length else ""
            return f"{kind}{short}{', plain ASCII' if meta.pattern else ''}"
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
    base, meta = typing.get_args(annotated)
    return base, meta


def sections() -> dict[str, type[msgspec.Struct]]:
    """The sections of the settings by name."""
    return dict(typing.get_type_hints(Settings, include_extras=True))


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
    values: dict[str, dict[str, Any]] = {section: {} for section in sections()}
    for setting in all_settings():
        if (said := flags.get(setting.section, {}).get(setting.name)) is not None:
            value = _convert(setting, said, setting.flag)
        elif (said := environment.get(setting.variable)) is not None:
            value = _convert(setting, said, setting.variable)
        elif (said := written.get(setting.section, {}).get(setting.name)) is not None:
            value = _convert(setting, said, f"{file}, [{setting.section}]")
        else:
            continue
        values[setting.section][setting.name] = value
    return msgspec.convert(values, Settings)


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {setting.variable for setting in all_settings()}
    prefixes = tuple(f"CRIVELLO_{section}_".upper() for section in sections())
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
            value = getattr(getattr(settings, section), setting.name)
            mark = "# " if value == setting.default else ""
            lines += [
                f"# {setting.description} ({setting.variable})",
                f"{mark}{setting.name} = {_toml_value(value)}",
            ]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    return msgspec.json.encode(value).decode()
