"""crivello token: the tokens of programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import print_columns, print_json, say

if TYPE_CHECKING:
    from crivello.web.api.tokens import Tokens

app: typer.Typer = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""Give programs tokens for the HTTP API, each with a scope.

    \b
    Examples:
      crivello token add example loader --scope crawl
      crivello token list example
      crivello token remove example loader
    """,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="what the token is called", show_default=False)]


@app.callback()
def options() -> None:
    """Give programs tokens."""


@app.command("add")
def add(
    folder: Folder,
    name: Name,
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="read|crawl|admin", help="what it may do; each includes those before"
        ),
    ] = "read",
) -> None:
    """Make a token and print it: it is stored as a digest only, and cannot be shown again.

    \b
    Examples:
      crivello token add example reader
      crivello token add example loader --scope crawl
    """
    tokens = _tokens(folder)
    print(tokens.add(name, scope))
    say(f"{name} may {scope}; the digest is in {tokens.file}. Send it as `Authorization: Bearer TOKEN`")


@app.command("list")
def list_tokens(folder: Folder, json: Json = False) -> None:
    """List the tokens: their names, scopes and days.

    \b
    Examples:
      crivello token list example
      crivello token list example --json
    """
    found = _tokens(folder).list()
    if json:
        for token in found:
            print_json({"name": token.name, "scope": token.scope, "made": token.made})
    else:
        print_columns([(token.name, token.scope, token.made) for token in found])
    if not found:
        say(f"there are no tokens; `crivello token add {folder} NAME` makes one")
        raise typer.Exit(NOTHING)


@app.command("remove")
def remove(folder: Folder, name: Name) -> None:
    """Remove a token: from now on it is refused, also by servers that run.

    \b
    Examples:
      crivello token remove example loader
    """
    from crivello.errors import InvalidArgument

    if not _tokens(folder).remove(name):
        raise InvalidArgument(
            f"there is no token {name}", hint=f"`crivello token list {folder}` names all there are"
        )
    say(f"removed {name}")


def _tokens(folder: str) -> Tokens:
    from crivello.collection import Collection
    from crivello.web.api.tokens import FILE, Tokens

    collection = Collection(folder)
    setting = collection.settings.serve.tokens
    return Tokens(Path(setting) if setting else collection.folder / FILE)
