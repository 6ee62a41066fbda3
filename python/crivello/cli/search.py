"""crivello search: ranked answers."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json, with_settings
from crivello.cli.output import print_json, say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("search")(with_settings("search")(search))


def search(
    folder: Folder,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="what to look for", show_default=False)],
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help="how many results")] = 10,
    offset: Annotated[int, typer.Option("--offset", min=0, help="how many results to pass over")] = 0,
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Search a collection: words, AND, OR, NOT, +must, -mustnot, "a phrase", (groups).

    \b
    Examples:
      crivello search example solar wind
      crivello search example '"solar wind" AND NOT storm' --top 20 --json
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    loaded = settings.load(Path(folder) / SETTINGS, flags) if (Path(folder) / SETTINGS).exists() else None
    results = Collection(folder, settings=loaded).search(" ".join(query), top=top, offset=offset)
    if json:
        print_json(results.to_dict())
    elif results.hits:
        bold = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("*", "*")
        for hit in results:
            print(
                f"{hit.rank:>3}. {hit.title or hit.url}\n     {hit.url}\n     {hit.snippet.marked(*bold)}\n"
            )
        say(f"{results.matches:,} pages in {results.microseconds / 1000:.1f} ms")
    else:
        say(f"nothing matches {results.query!r}")
    if not results.hits:
        raise typer.Exit(NOTHING)
