"""crivello connect: the lines that connect another program."""

from __future__ import annotations

from typing import Annotated

import typer

from crivello.cli.options import Folder
from crivello.cli.output import say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("connect")(connect)


def connect(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="openwebui, searxng, claude, langchain or llamaindex",
            show_default=False,
        ),
    ],
    folder: Folder,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="where the server is; default: as crivello.toml says")
    ] = "",
) -> None:
    """Print the lines to paste into another program, so that it searches a collection.

    \b
    Examples:
      crivello connect claude example
      crivello connect openwebui example --url http://search.example.org
    """
    from crivello.collection import Collection
    from crivello.connect import PROGRAMS, Target
    from crivello.errors import InvalidArgument

    if program not in PROGRAMS:
        raise InvalidArgument(
            f"{program!r} is not a program that can be connected", hint=f"there are {', '.join(PROGRAMS)}"
        )
    collection = Collection(folder)
    serve = collection.settings.serve
    address = url or serve.public_url or f"http://{serve.host}:{serve.port}"
    if not address.startswith(("http://", "https://")):
        raise InvalidArgument(f"--url: {address!r} is not a URL", hint="as in http://127.0.0.1:8080")
    lines = PROGRAMS[program](Target(collection.folder, address.rstrip("/")))
    say(f"into {lines.where}:")
    print(lines.text)
    if lines.first:
        say(f"it asks a server: {lines.first}")
