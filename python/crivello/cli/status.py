"""crivello status: shows the state of a crawl, now and over time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json, report_rows, say, stdout_console, table_of
from crivello.cli.units import counted, duration, rate, share, volume

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from crivello.collection import Collection
    from crivello.crawl.status import Status

_BETWEEN_LOOKS = 2.0
_UNTIL_KNOWN = 15.0
_NARROW = 40


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("status")(status)


def status(
    folder: Folder,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot the crawl over time to a .png or .svg file")
    ] = "",
    follow: Annotated[bool, typer.Option("--follow", help="update until the crawl ends")] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="number of busiest hosts to list; 0: none")] = 10,
    json: Json = False,
) -> None:
    """Show the state of a crawl: counters, throughput, hosts, and progress over time.

    It can run while another process crawls, and shows the last checkpoint. With --follow it updates until the
    crawl ends, and omits the busiest hosts, which are expensive to compute.

    \b
    Examples:
      crivello status example
      crivello status example --follow
      crivello status example --plot crawl.png --json
    """
    from crivello.collection import CLUSTER, Collection
    from crivello.crawl.plot import draw
    from crivello.plots import check_format

    if plot:
        check_format(Path(plot))
    collection = Collection(folder)
    if (collection.folder / CLUSTER).exists():
        from crivello.cli.cluster_status import show

        show(folder, follow, plot, json)
        return
    found = collection.status(busiest=0 if follow else top)
    if found is None:
        begun = "a process has begun, and made no checkpoint yet" if collection.writer else ""
        say(f"{folder} has no crawl yet" + (f": {begun}" if begun else ""))
        raise typer.Exit(NOTHING)
    if follow:
        found = _follow(collection, found, json)
    elif json:
        print_json(found.to_dict())
    else:
        console = stdout_console()
        with console.capture() as captured:
            console.print(_view(found, console.width))
        emit(captured.get().rstrip("\n"))
    if plot:
        draw(found.timeline, f"{collection.name}: {found.report.pages:,} pages", Path(plot))
        say(f"drew {plot}")


def _follow(collection: Collection, found: Status, json: bool) -> Status:
    """Shows every checkpoint until the crawl ends; returns the last status."""
    begun = time.monotonic()
    console = stdout_console()

    def goes_on() -> bool:
        # A run that has just started is not visible before its first checkpoint.
        is_fresh = found.state == "in use" and time.monotonic() - begun < _UNTIL_KNOWN
        return found.is_going_on or is_fresh

    if json or not console.is_terminal:
        shown = None
        while True:
            if found.updated != shown:
                print_json(found.to_dict()) if json else emit(_line(found))
                sys.stdout.flush()
                shown = found.updated
            if not goes_on():
                return found
            time.sleep(_BETWEEN_LOOKS)
            found = collection.status(busiest=0) or found
    from rich.live import Live

    with Live(_view(found, console.width), console=console, auto_refresh=False) as live:
        while goes_on():
            time.sleep(_BETWEEN_LOOKS)
            found = collection.status(busiest=0) or found
            live.update(_view(found, console.width), refresh=True)
    return found


def _line(found: Status) -> str:
    """The status in one line."""
    from crivello.crawl.status import LATELY

    report = found.report
    return (
        f"{found.updated:%Y-%m-%d %H:%M:%S}  {found.state}  {report.pages:,} pages  "
        f"{rate(found.timeline.rate_of_late('pages', LATELY))}/s  {found.latest.get('active', 0):,} active  "
        f"{report.waiting:,} waiting  {sum(report.errors.values()):,} errors"
    )


def _view(found: Status, width: int) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    title = "now" if found.is_going_on else "at the end"
    on_disk = ((part, volume(size)) for part, size in sorted(found.sizes.items()))
    beside = Group(table_of(title, _now(found)), "", table_of("on disk", on_disk))
    tables = Table.grid(padding=(0, 4, 0, 0))
    tables.add_row(table_of("counts", report_rows(found.report)), beside)
    parts: list[RenderableType] = [Text(_sentence(found), "bold"), "", tables]
    if found.timeline.seconds > 0:
        parts += ["", *_plots(found, width)]
    if found.feeds.feeds:
        parts += ["", *_feeds(found)]
    if found.busiest:
        parts += ["", _hosts(found)]
    return Group(*parts)


def _sentence(found: Status) -> str:
    runs = len(found.timeline.runs)
    spent = f"{duration(found.report.seconds)} in {counted(runs, 'run')}"
    by = f"process {found.process}" if found.process else "another process"
    seen = f"{found.updated:%Y-%m-%d %H:%M:%S} UTC"
    match found.state:
        case "crawling":
            return f"{found.folder}: {by} is crawling, {spent}; this is its checkpoint of {seen}"
        case "in use":
            return f"{found.folder}: {by} is writing to it; the crawl so far took {spent}, until {seen}"
        case "stopped":
            return f"{found.folder}: stopped at {seen} after {spent}; `crivello crawl --into {found.folder}` goes on"
        case "ended":
            return f"{found.folder}: ended at {seen} after {spent}; no URL waits"


def _now(found: Status) -> Iterator[tuple[str, str]]:
    from crivello.crawl.status import LATELY

    latest = found.latest
    yield f"pages/s, last {LATELY:g} s", rate(found.timeline.rate_of_late("pages", LATELY))
    yield f"bytes/s, last {LATELY:g} s", volume(found.timeline.rate_of_late("bytes", LATELY))
    # Short labels: two tables share the width of a terminal.
    if links := found.report.saved["links"]:
        yield "links not followed", f"{links:,}"
    if size := found.report.saved["bytes"]:
        yield "bytes not stored", volume(size)
    yield "hosts that answered", f"{found.hosts:,}"
    if found.reread is not None:
        yield "stored pages read again", share(found.reread)
    if found.refreshed:
        yield "last refresh", f"{found.refreshed:%Y-%m-%d %H:%M}"
    if not latest:
        return
    yield "hosts fetched from", f"{latest['active']:,}"
    yield "hosts in the workbench", f"{latest['hosts_in_workbench']:,}"
    yield "hosts waiting for it", f"{latest['hosts_waiting']:,}"
    yield "URLs in the queues of hosts", f"{latest['queued']:,}"
    yield "responses to parse", f"{latest['parse_queue']:,}"
    yield "pages to write", f"{latest['write_queue']:,}"
    yield "connections idle", share(latest["idle_share"])


def _plots(found: Status, width: int) -> Iterator[RenderableType]:
    """A chart of each quantity over time; all share the axis at the bottom."""
    from rich.text import Text

    from crivello.cli.blocks import axis, bars

    timeline = found.timeline
    columns = max(10, min(width - _NARROW, 4 * len(timeline.samples)))
    plots = [
        ("pages/s", timeline.rates("pages", columns), rate),
        ("bytes/s", timeline.rates("bytes", columns), volume),
        ("URLs waiting", timeline.levels("waiting", columns), lambda value: f"{value:,.0f}"),
        ("hosts active", timeline.levels("active", columns), lambda value: f"{value:,.0f}"),
    ]
    for name, values, shown in plots:
        upper, lower = bars(values)
        yield Text(f"{'':<13}{upper} most {shown(max(values))}", no_wrap=True)
        yield Text(f"{name:<13}{lower} last {shown(values[-1])}", no_wrap=True)
    yield Text(f"{'':<13}{axis(columns, timeline.seconds, timeline.runs, duration(timeline.seconds))}")


def _feeds(found: Status) -> Iterator[RenderableType]:
    """The number of feeds, and those that are dead with their reasons."""
    from rich.text import Text

    feeds = found.feeds
    yield Text(
        f"{counted(feeds.feeds, 'feed')}: {feeds.due:,} due, {feeds.failing:,} failing, {feeds.dead:,} of them dead"
    )
    for url, why in feeds.why.items():
        yield Text(f"  dead: {url}: {why}")


def _hosts(found: Status) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), title="busiest hosts", title_justify="left")
    table.add_column("host", header_style="dim", overflow="fold")
    for name in ("pages", "errors", "mean seconds"):
        table.add_column(name, justify="right", header_style="dim", no_wrap=True)
    table.add_column()
    for host in found.busiest:
        seconds = "-" if host.mean_seconds is None else f"{host.mean_seconds:.3f}"
        given_up = "given up" if host.given_up else ""
        table.add_row(host.host, f"{host.pages:,}", f"{host.errors:,}", seconds, given_up)
    return table
