"""crivello index: build the index, or bring it up to date."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json, with_settings
from crivello.cli.output import print_json, print_table, say, stderr_console


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("index")(with_settings("index")(index))


def index(
    folder: Folder,
    verify: Annotated[
        bool, typer.Option("--verify", help="read all of the index and check every checksum")
    ] = False,
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Index the pages that came since the last time, and rank them by their links.

    \b
    Examples:
      crivello index example
      crivello index example --verify
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection
    from crivello.graph.update import update_ranks
    from crivello.index.update import update_index

    file = Path(folder) / SETTINGS
    loaded = settings.load(file, flags) if file.exists() else None
    if verify:
        Collection(folder).verify()
        say("every checksum is right")
        if json:
            print_json({"collection": folder, "verified": True})
        return
    with Collection.write(folder, settings=loaded) as collection:
        console = stderr_console()
        with console.status("indexing …") as status:
            done = update_index(
                collection, on_progress=lambda pages: status.update(f"indexing … {pages:,} pages")
            )
            status.update("ranking …")
            graph = update_ranks(collection)
    if not done.documents:
        say(f"{folder} has no page yet that can be searched")
        raise typer.Exit(NOTHING)
    figures = {**done.to_dict(), **graph.to_dict()}
    if json:
        print_json({"collection": folder, **figures})
    else:
        print_table(
            f"indexed {folder}", [(name.replace("_", " "), _shown(value)) for name, value in figures.items()]
        )
        say(f"next: crivello search {folder} WORDS, or crivello serve {folder}")


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
