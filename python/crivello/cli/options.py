"""Flags from settings: one definition in ``crivello.settings`` makes the flag, its help and its check."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

import typer

from crivello.errors import InvalidArgument
from crivello.settings import Setting, parse_size, settings_of

Folder = Annotated[str, typer.Argument(metavar="DIR", help="the collection's folder", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Choice = TypeVar("Choice", bound=StrEnum)


def with_settings(*sections: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds the flags of sections to a command, which gets those that were given as ``flags``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = [setting for section in sections for setting in settings_of(section)]

        @functools.wraps(command)
        def wrapped(**arguments: Any) -> None:
            flags: dict[str, dict[str, Any]] = {section: {} for section in sections}
            for setting in added:
                flags[setting.section][setting.name] = arguments.pop(setting.name)
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


def _parameter(setting: Setting) -> inspect.Parameter:
    base = setting.base
    shown = f"{setting.description} [default: {setting.shown_default}]"
    if base is bool:
        names = f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"
        kind: Any = Annotated[bool | None, typer.Option(names, help=shown, show_default=False)]
    else:
        metavar = "SIZE" if setting.is_size else {int: "N", float: "X", str: "TEXT"}.get(base, "")
        if typing.get_origin(base) is Literal:
            metavar = "|".join(typing.get_args(base))
        # Every value comes as text, so that the settings' own check speaks and no other.
        kind = Annotated[
            str | None, typer.Option(setting.flag, metavar=metavar, help=shown, show_default=False)
        ]
    return inspect.Parameter(setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def size(text: str, flag: str) -> int:
    """Bytes from text like ``16M``."""
    found = parse_size(text)
    if not found:
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
