"""crivello cluster: many agents, and what becomes of their collections."""

from __future__ import annotations

from typing import Annotated

import typer

from crivello.cli.options import Folder, Json
from crivello.cli.output import print_json, print_table, say, stderr_console

app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Change the agents of a crawl (crivello crawl --agents), stop it, or merge and split collections.",
)

Count = Annotated[int, typer.Argument(metavar="N", min=1, help="how many agents", show_default=False)]
Out = Annotated[str, typer.Argument(metavar="OUT", help="the folder to make", show_default=False)]


@app.command("scale")
def scale(folder: Folder, count: Count, json: Json = False) -> None:
    """Add or remove agents while they crawl.

    All agents pause until what they sent each other has arrived; then hosts are divided anew. An agent that is removed
    hands over what it still has to fetch; its pages stay where they are.

    \b
    Examples:
      crivello cluster scale example 6
    """
    from crivello.cluster.driver import scale

    roster = scale(folder, count)
    if json:
        print_json({"epoch": roster.epoch, "members": roster.members, "leaving": roster.leaving})
    elif roster.wanted:
        say(f"announced; the agents are not ready yet: `crivello status {folder}` shows them")
    else:
        members = ", ".join(map(str, roster.members))
        say(f"epoch {roster.epoch} is divided among agents {members}")


@app.command("stop")
def stop(folder: Folder) -> None:
    """End a crawl with a checkpoint of every agent; `crivello crawl --into DIR` goes on with it.

    \b
    Examples:
      crivello cluster stop example
    """
    from crivello.cluster.driver import stop

    stop(folder)
    say(f"stopped; `crivello crawl --into {folder}` goes on")


@app.command("merge")
def merge(folder: Folder, out: Out, json: Json = False) -> None:
    """Make one ordinary collection of the pages of all agents.

    Every page is in it once, with its versions. If OUT is a collection already, what is new is added to it.

    \b
    Examples:
      crivello cluster merge example whole
    """
    from crivello.cli.index_progress import IndexProgress
    from crivello.cluster.gather import merge

    with IndexProgress(stderr_console(), shown=True) as shown:
        shown.begin("merging", 1.0)
        records, pages = merge(folder, out, on_progress=shown.at)
    if json:
        print_json({"collection": out, "records": records, "pages": pages})
    else:
        print_table(f"merged {folder} into {out}", [("records", f"{records:,}"), ("pages", f"{pages:,}")])
        say(f"next: crivello index {out}")


@app.command("split")
def split(folder: Folder, out: Out, count: Count, json: Json = False) -> None:
    """Make a collection of several agents of an ordinary one.

    The first agent gets a copy of it, with all pages; the others have none yet. `crivello crawl --into OUT` goes on with
    the crawl, divided: the first agent hands over what is the others' to fetch.

    \b
    Examples:
      crivello cluster split example divided 3
    """
    from crivello.cluster.gather import split

    pages = split(folder, out, count)
    if json:
        print_json({"collection": out, "agents": count, "pages": pages})
    else:
        print_table(f"split {folder} into {out}", [("agents", f"{count:,}"), ("pages", f"{pages:,}")])
        say(f"next: crivello crawl --into {out}")
