"""Generates flags from settings: each definition in ``crivello.settings`` yields a flag, its help and its
check."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from crivello.errors import InvalidArgument
from crivello.settings import Setting, settings_of
from crivello.settings.numbers import BYTES, SECONDS, parse_number

Folder = Annotated[str, typer.Argument(metavar="DIR", help="the collection's folder", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Choice = TypeVar("Choice", bound=StrEnum)


def with_settings(*sections: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds the flags of sections to a command, which receives the given ones as ``flags``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = [setting for section in sections for setting in settings_of(section)]

        @functools.wraps(command)
        def wrapped(**arguments: Any) -> None:
            flags: dict[str, dict[str, Any]] = {section: {} for section in sections}
            for setting in added:
                flags[setting.section][setting.name] = arguments.pop(_argument(setting))
            command(flags=flags, **arguments)

        own = [
            parameter
            for parameter in inspect.signature(command, eval_str=True).parameters.values()
            if parameter.name != "flags"
        ]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        parameters += [_parameter(setting) for setting in added]
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapped

    return decorate


def _argument(setting: Setting) -> str:
    return setting.flag.removeprefix("--").replace("-", "_")


def _parameter(setting: Setting) -> inspect.Parameter:
    shown = f"{setting.help} [default: {setting.shown_default}]"
    is_switch = setting.base is bool
    names = f"{setting.flag}/--no-{setting.flag.removeprefix('--')}" if is_switch else setting.flag
    metavar = None if is_switch else _metavar(setting)
    # All values except switches are passed as text, so that only the settings validate them.
    option = typer.Option(
        names, metavar=metavar, help=shown, show_default=False, rich_help_panel=setting.group
    )
    return inspect.Parameter(
        _argument(setting),
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[(bool if is_switch else str) | None, option],
    )


def _metavar(setting: Setting) -> str | None:
    if setting.unit:
        return {BYTES: "SIZE", SECONDS: "TIME"}[setting.unit]
    if setting.choices:
        return setting.name.upper() if setting.is_open else "|".join(setting.choices)
    return {int: "N", float: "X", str: "TEXT"}.get(setting.base)


class InGroups(TyperCommand):
    """A command whose help groups the flags of settings under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record is not None:
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        # The command's own options come first, including --help, which is its last parameter.
        for heading in sorted(groups, key=lambda heading: heading not in ("Arguments", "Options")):
            with formatter.section(heading):
                formatter.write_dl(groups[heading])


def size(text: str, flag: str) -> int:
    """Parses a size such as ``16M``."""
    found = parse_number(text, BYTES)
    if not isinstance(found, int) or found <= 0:
        raise InvalidArgument(
            f"{flag}: {text!r} is not a size", hint="give bytes, or something like 16M or 2G"
        )
    return found


def choice(choices: type[Choice], text: str, flag: str) -> Choice:
    """The member of an enumeration that ``text`` names."""
    try:
        return choices(text)
    except ValueError:
        raise InvalidArgument(
            f"{flag}: {text!r} is not among the choices", hint=f"take one of {', '.join(choices)}"
        ) from None
