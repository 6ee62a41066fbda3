"""crivello diff: what changed in a page."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json, say

_RED, _GREEN, _CYAN, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
_COLOURS = {"---": _BOLD, "+++": _BOLD, "@": _CYAN, "-": _RED, "+": _GREEN}


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("diff")(diff)


def diff(
    folder: Folder,
    url: Annotated[str, typer.Argument(metavar="URL", help="the page", show_default=False)],
    before: Annotated[
        str, typer.Argument(metavar="T1", help="the older version: the one at this time", show_default=False)
    ] = "",
    after: Annotated[
        str, typer.Argument(metavar="T2", help="the newer version (default: now)", show_default=False)
    ] = "",
    words: Annotated[bool, typer.Option("--words", help="compare words instead of lines")] = False,
    json: Json = False,
) -> None:
    """Show what changed in the text of a page between two times.

    Without times it compares the newest two versions whose texts differ. A time is a date, a date with a time (both
    in UTC unless they have a zone), a duration before now such as 2d or 3h, or now. The exit code is 1 if nothing
    changed.

    \b
    Examples:
      crivello diff example https://www.example.org/
      crivello diff example https://www.example.org/ 7d now --words
      crivello diff example https://www.example.org/ 2026-05-01 2026-05-08T12:00 --json
    """
    from crivello.collection import Collection

    collection = Collection(folder)
    if collection.page(url) is None:
        say(f"{url} is not in {folder}")
        raise typer.Exit(NOTHING)
    found = collection.diff(url, before or None, after or None)
    if json and found is not None:
        print_json(found.to_dict())
    if not found:
        say(f"the text of {url} did not change")
        raise typer.Exit(NOTHING)
    if json:
        return
    colour = sys.stdout.isatty()
    if words:
        emit("".join(_marked(kind, text, colour) for kind, text in found.words()))
        return
    for line in found.lines():
        style = next((style for start, style in _COLOURS.items() if line.startswith(start)), "")
        emit(f"{style}{line}{_PLAIN}" if colour and style else line)


def _marked(kind: str, text: str, colour: bool) -> str:
    """A piece of the text, marked as `git diff --word-diff` does."""
    match kind:
        case "deleted":
            return f"{_RED}[-{text}-]{_PLAIN}" if colour else f"[-{text}-]"
        case "inserted":
            return f"{_GREEN}{{+{text}+}}{_PLAIN}" if colour else f"{{+{text}+}}"
        case _:
            return text
