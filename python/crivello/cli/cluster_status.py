"""How the crawl of a cluster stands: its agents side by side."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import typer

from crivello.cli import NOTHING
from crivello.cli.output import emit, print_json, report_rows, say, stdout_console, table_of
from crivello.cli.units import counted, rate, share, volume
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from crivello.cluster.status import ClusterStatus

_BETWEEN_LOOKS = 1.0


def show(folder: str, follow: bool, plot: str, json: bool) -> None:
    """Shows the status once, or until the crawl ends."""
    if plot:
        raise InvalidArgument(
            "a plot shows the crawl of one agent", hint=f"crivello status {folder}/agents/0 --plot {plot}"
        )
    found = _read(folder)
    if found is None:
        say(f"{folder} has no crawl yet")
        raise typer.Exit(NOTHING)
    _print(found, json)
    while follow and found.is_going_on:
        time.sleep(_BETWEEN_LOOKS)
        later = _read(folder) or found
        if later.to_dict() != found.to_dict():
            _print(later, json)
        found = later


def _read(folder: str) -> ClusterStatus | None:
    from crivello.cluster.view import ClusterCollection

    return ClusterCollection(folder).status()


def _print(found: ClusterStatus, json: bool) -> None:
    if json:
        print_json(found.to_dict())
    else:
        console = stdout_console()
        with console.capture() as captured:
            console.print(_view(found))
        emit(captured.get().rstrip("\n"))
    sys.stdout.flush()


def _view(found: ClusterStatus) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    members = ", ".join(map(str, found.members))
    if found.leaving:
        members += f"; leaving: {', '.join(map(str, found.leaving))}"
    if found.lost:
        members += f"; lost: {', '.join(map(str, found.lost))}"
    return Group(
        Text(
            f"{found.folder}: {found.state}, {counted(len(found.agents), 'agent')}; "
            f"epoch {found.epoch} is divided among {members}",
            "bold",
        ),
        "",
        _agents(found),
        "",
        table_of("all agents", report_rows(found.report)),
    )


def _agents(found: ClusterStatus) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), title="agents", title_justify="left")
    table.add_column("agent", justify="right", header_style="dim", no_wrap=True)
    table.add_column("machine", header_style="dim", overflow="fold")
    table.add_column("state", header_style="dim", no_wrap=True)
    for name in ("share", "pages", "pages/s", "waiting", "sent", "received", "lag"):
        table.add_column(name, justify="right", header_style="dim", no_wrap=True)
    for agent in found.agents:
        table.add_row(
            str(agent.number),
            agent.machine.rpartition("=")[2],  # the name, without Ray's label
            agent.state,
            share(agent.share),
            f"{agent.pages:,}",
            rate(agent.rate),
            f"{agent.waiting:,}",
            f"{agent.exchanged('urls_sent'):,}",
            f"{agent.exchanged('urls_received'):,}",
            volume(agent.lag),
        )
    return table
