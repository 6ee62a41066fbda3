"""crivello pages: lists or shows stored pages."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json, say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("pages")(pages)


def pages(
    folder: Folder,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="show the text of this page")] = "",
    raw: Annotated[
        bool, typer.Option("--raw", help="with --url: write the body as sent by the server")
    ] = False,
    json: Json = False,
) -> None:
    """List the outcome of each URL, or show one page.

    \b
    Examples:
      crivello pages example
      crivello pages example --json | head
      crivello pages example --url https://www.example.org/ --raw > page.html
    """
    from crivello.collection import Collection
    from crivello.errors import InvalidArgument

    collection = Collection(folder)
    if raw and not url:
        raise InvalidArgument("--raw shows one page", hint="name it with --url URL")
    if not url:
        if not collection.has_pages:
            say(f"{folder} has no pages yet")
            raise typer.Exit(NOTHING)
        for row in collection.pages():
            if json:
                print_json(row.to_dict())
            else:
                emit(f"{row.status or '---'}  {row.url}{'' if row.status == 200 else f'  ({row.outcome})'}")
        return
    found = collection.page(url)
    if found is None:
        say(f"{url} is not in {folder}")
        raise typer.Exit(NOTHING)
    if json:
        print_json(found.to_dict())
    elif not found.length:
        say(f"{url}: {found.outcome}; nothing was stored")
        raise typer.Exit(NOTHING)
    elif raw:
        sys.stdout.buffer.write(collection.record(found).body)
    else:
        emit(collection.text(found))
