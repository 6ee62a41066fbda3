"""crivello pages: what is stored."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import print_json, say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("pages")(pages)


def pages(
    folder: Folder,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="one page: its text")] = "",
    raw: Annotated[bool, typer.Option("--raw", help="with --url: the bytes as the server sent them")] = False,
    json: Json = False,
) -> None:
    """List what became of each URL, or show one page.

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
        count = 0
        for count, row in enumerate(collection.pages(), 1):
            if json:
                print_json(row.to_dict())
            else:
                print(
                    f"{row.status or '---'}  {row.url}  {'' if row.status == 200 else f'({row.outcome})'}".rstrip()
                )
        if not count:
            say(f"{folder} has no pages yet")
            raise typer.Exit(NOTHING)
        return
    row = collection.page(url)
    if row is None:
        say(f"{url} is not in {folder}")
        raise typer.Exit(NOTHING)
    if json:
        print_json(row.to_dict())
    elif not row.length:
        say(f"{url}: {row.outcome}; nothing was stored")
        raise typer.Exit(NOTHING)
    elif raw:
        sys.stdout.buffer.write(collection.record(row).body)
    else:
        print(collection.text(row))
