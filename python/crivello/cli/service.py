"""crivello service: runs the server as a service of the system."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from crivello.cli.options import Folder
from crivello.cli.output import emit, say

app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Run the server as a service of the system (systemd).

    \b
    Examples:
      crivello service install example --dry-run
      crivello service install example --user
      crivello service remove crivello-example --user
    """,
)


@app.command("install")
def install(
    folder: Folder,
    user: Annotated[bool, typer.Option("--user", help="a service of yours, not of the system")] = False,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="the service's name (default: crivello-DIR)")
    ] = "",
    workers: Annotated[
        int, typer.Option("--workers", min=2, max=64, metavar="N", help="processes that answer requests")
    ] = 2,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="print the unit and where it would go, and change nothing")
    ] = False,
) -> None:
    """Let systemd serve a collection, now and after every start of the machine.

    It serves with the settings of the collection's crivello.toml, section [serve]. `systemctl reload NAME` takes new
    certificates and users, and a new version of Crivello, without losing a request.

    \b
    Examples:
      crivello service install example --dry-run
      crivello service install example --user
      sudo crivello service install /srv/example --workers 4
    """
    from crivello.service import Service

    service = Service.of(Path(folder), name=name, is_own=user, workers=workers)
    if dry_run:
        say(f"{service.file} would be:")
        emit(service.unit.rstrip())
        return
    service.install()
    say(f"{service.name} is installed and runs; its log: {service.journal}")


@app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="the service's name", show_default=False)],
    user: Annotated[bool, typer.Option("--user", help="a service of yours, not of the system")] = False,
) -> None:
    """Stop a service and remove its unit; the collection stays.

    \b
    Examples:
      crivello service remove crivello-example --user
    """
    from crivello.service import remove

    say(f"{remove(name, is_own=user)} is removed")


@app.command("password")
def password(
    name: Annotated[str, typer.Argument(metavar="NAME", help="the user's name", show_default=False)],
) -> None:
    """Print the line of a user for the file that serve.users names; the password is asked for, or read from a pipe.

    \b
    Examples:
      crivello service password ada >> users.txt
      crivello serve example --users users.txt
    """
    from crivello.errors import InvalidArgument
    from crivello.web.auth import line_of

    if sys.stdin.isatty():
        said = typer.prompt("password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        said = sys.stdin.readline().rstrip("\r\n")
    if not said:
        raise InvalidArgument("there is no password", hint=f"echo SECRET | crivello service password {name}")
    emit(line_of(name, said))
