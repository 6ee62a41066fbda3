"""The live view of a crawl on a terminal: throughput, queues, errors and slow hosts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crivello.cli.units import counted, duration, rate, share, volume

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from crivello.crawl import Report
    from crivello.settings import Crawl

_PER_SECOND = 4
_WINDOW = 5.0
_SLOWEST = 3
_NAME = 10
# The terminal echoes ^C after the last line. Without a free cell it would wrap to a new line, and clearing the
# view would miss a line.
_ECHO = 2


class CrawlProgress:
    """Shows the reports of a crawl on a terminal while it is ``shown``; without a terminal it is silent."""

    def __init__(self, console: Console, settings: Crawl | None = None) -> None:
        self._console = console
        self._settings = settings
        self.report: Report | None = None
        self._speed = _Speed()

    def __call__(self, report: Report) -> None:
        self.report = report
        self._speed.note(report)

    @contextmanager
    def shown(self) -> Iterator[CrawlProgress]:
        """Shows the view while the crawl runs, and then clears it."""
        if not self._console.is_terminal:
            yield self
            return
        from rich.live import Live

        with Live(
            console=self._console,
            get_renderable=self.render,
            refresh_per_second=_PER_SECOND,
            transient=True,
        ):
            yield self

    def render(self) -> RenderableType:
        """The view at this moment."""
        from rich.text import Text

        if self.report is None:
            return Text("starting …")
        return _panel(self.report, self._speed, self._settings, self._console.width - _ECHO)


class _Speed:
    """Pages and bytes per second over the last few seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()

    def note(self, report: Report) -> None:
        now = time.monotonic()
        self._seen.append((now, report.pages, report.bytes))
        while now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()

    @property
    def pages(self) -> float:
        return self._growth(1)

    @property
    def bytes(self) -> float:
        return self._growth(2)

    def _growth(self, place: int) -> float:
        first, last = self._seen[0], self._seen[-1]
        return (last[place] - first[place]) / (last[0] - first[0]) if last[0] > first[0] else 0.0


def _panel(report: Report, speed: _Speed, settings: Crawl | None, width: int) -> RenderableType:
    from rich.console import Group
    from rich.panel import Panel

    return Panel(
        Group(_numbers(report, speed), _lists(report)),
        title=f"crawling for {duration(report.elapsed)}{_earlier(report)}",
        subtitle=_end(report, settings),
        title_align="left",
        subtitle_align="left",
        border_style="dim",
        width=width,
    )


def _earlier(report: Report) -> str:
    before = report.pages - report.pages_of_run
    return f", after {counted(before, 'page')} of earlier runs" if report.is_resumed else ""


def _numbers(report: Report, speed: _Speed) -> Table:
    table = _grid(16, 23, 21)
    gauge = report.gauges.get

    def count(name: str) -> str:
        return f"{gauge(name, 0):,}"

    rows = [
        (
            "pages",
            f"{report.pages_of_run:,}",
            f"{rate(speed.pages)}/s now",
            f"{rate(report.pages_per_second)}/s mean",
        ),
        (
            "bytes",
            volume(report.bytes_of_run),
            f"{volume(speed.bytes)}/s now",
            f"{volume(report.bytes_per_second)}/s mean",
        ),
        (
            "hosts",
            f"{report.active:,} active",
            f"{count('hosts_in_workbench')} in the workbench",
            f"{count('hosts_waiting')} waiting",
        ),
        ("URLs", f"{report.seen:,} seen", f"{count('queued')} queued", f"{report.waiting:,} waiting"),
        (
            "queues",
            f"{count('parse_queue')} to parse",
            f"{count('write_queue')} to write",
            f"connections {share(report.idle_share)} idle",
        ),
        (
            "duplicates",
            f"{report.duplicates:,} exact",
            f"{report.near_duplicates:,} near",
            f"{report.saved['links']:,} links not followed" if report.saved["links"] else "",
        ),
    ]
    if end := gauge("reread_end", 0):
        done = share(gauge("reread", 0) / end)
        rows.append(("stored pages", f"{done} read again", "for links out of reach", "until now"))
    for row in rows:
        table.add_row(*row)
    return table


def _lists(report: Report) -> Table:
    from rich.text import Text

    table = _grid(None)
    table.add_row("errors", errors_line(report.errors.items()))
    for number, host in enumerate(report.slowest[:_SLOWEST]):
        said = Text(f"{host.seconds:7.3f} s  {host.name}", no_wrap=True, overflow="ellipsis")
        table.add_row("" if number else "slowest", said)
    return table


def errors_line(errors: Iterable[tuple[str, int]]) -> str:
    """The errors by class, most frequent first."""
    ordered = sorted(errors, key=lambda error: (-error[1], error[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered) or "none"


def _grid(*widths: int | None) -> Table:
    """A name and columns of fixed widths, so that they do not move when numbers grow; ``None``: the remaining
    width."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", width=_NAME, no_wrap=True)
    for width in widths:
        table.add_column(width=width, no_wrap=width is not None, overflow="ellipsis")
    return table


def _end(report: Report, settings: Crawl | None) -> str:
    """The limit that will end the crawl first."""
    if settings is None:
        return "Ctrl-C ends it"
    limits = [
        (report.pages_of_run, settings.max_pages, f"{settings.max_pages:,} pages"),
        (report.bytes_of_run, settings.max_volume, volume(settings.max_volume)),
        (report.elapsed, settings.max_time, duration(settings.max_time)),
    ]
    near = max(((done / limit, name) for done, limit, name in limits if limit), default=None)
    if near is None:
        return "ends when no URL waits, or by Ctrl-C"
    return f"ends at {near[1]} ({share(min(1.0, near[0]))} done), or by Ctrl-C"
