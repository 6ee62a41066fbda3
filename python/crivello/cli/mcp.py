"""crivello mcp: lets assistants search a collection."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from crivello.cli.options import Folder, InGroups, with_settings
from crivello.cli.output import say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("mcp", cls=InGroups)(with_settings("serve", "search")(mcp))


def mcp(
    folder: Folder,
    http: Annotated[
        bool, typer.Option("--http", help="serve over HTTP at /mcp, instead of standard input and output")
    ] = False,
    allow_crawl: Annotated[
        bool,
        typer.Option(
            "--allow-crawl",
            help="offer the tool crawl; over HTTP a token with the scope crawl does",
        ),
    ] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Let assistants search a collection, by the Model Context Protocol, on standard input and output.

    \b
    Examples:
      crivello mcp example
      crivello mcp example --allow-crawl
      crivello mcp example --http --port 8081
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection
    from crivello.errors import InvalidArgument

    file = Path(folder) / SETTINGS
    collection = Collection(folder, settings=settings.load(file if file.exists() else None, flags))
    if http:
        if allow_crawl:
            raise InvalidArgument(
                "--allow-crawl is for standard input and output",
                hint=f"over HTTP a token allows it: crivello token add {folder} NAME --scope crawl",
            )
        collection.serve(on_ready=lambda url: say(f"{folder} for assistants at {url}/mcp (Ctrl-C ends it)"))
        return
    from crivello.mcp import Server, run

    say(f"{folder} for assistants, on standard input and output (Ctrl-C ends it)")
    run(Server(collection), sys.stdin.buffer, sys.stdout.buffer, may_crawl=allow_crawl)
