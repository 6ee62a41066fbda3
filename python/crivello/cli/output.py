"""Data to standard output, everything else to standard error; nothing that moves unless a person looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from crivello.crawl import Report


_WAITING = "still waiting"


class OutputClosed(Exception):
    """Whoever read our output has enough. Not an OSError, which Typer would take for a failure."""


def emit(line: str) -> None:
    """A line of data on standard output."""
    try:
        sys.stdout.write(line + "\n")
    except BrokenPipeError:
        raise OutputClosed from None


def print_json(value: Any) -> None:
    """A value as one line of JSON on standard output."""
    emit(msgspec.json.encode(value).decode())


def say(text: str = "") -> None:
    """A line for people on standard error."""
    print(text, file=sys.stderr, flush=True)


def stderr_console() -> Console:
    """Rich on standard error; plain where that is not a terminal."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, to be told how many of how many are done; elsewhere nothing."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def stdout_console() -> Console:
    """Rich on standard output, for data that is laid out; plain where that is not a terminal."""
    from rich.console import Console

    return Console(highlight=False)


def table_of(title: str, rows: Iterable[tuple[str, ...]]) -> Table:
    """Names, each with a value or several, as a table."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    for name, *values in rows:
        while len(table.columns) <= len(values):
            table.add_column(justify="right")
        table.add_row(name, *values)
    return table


def print_table(title: str, rows: Iterable[tuple[str, ...]]) -> None:
    """Names and values, as a table on standard error."""
    if title:
        say(title)
    stderr_console().print(table_of("", rows))


def print_report(title: str, report: Report) -> None:
    """What a crawl did, as a table on standard error: in this run, and in all where there were others."""
    from crivello.crawl import Report

    rows: Iterable[tuple[str, ...]] = report_rows(report)
    if report.is_resumed:
        new = dict(report_rows(Report(report.of_run())))
        del new[_WAITING]  # of all runs only
        rows = [("", "this run", "in all"), *((name, new.get(name, ""), value) for name, value in rows)]
    print_table(title, rows)


def report_rows(report: Report) -> Iterator[tuple[str, str]]:
    """What a crawl did, for a table."""
    yield "pages fetched", f"{report.pages:,}"
    for status, count in sorted(report.statuses.items()):
        yield f"  with status {status}", f"{count:,}"
    for outcome, count in sorted(report.outcomes.items()):
        if outcome not in ("fetched", "redirected"):
            yield outcome, f"{count:,}"
    yield "exact duplicates", f"{report.duplicates:,}"
    yield "near-duplicates", f"{report.near_duplicates:,}"
    yield "URLs seen", f"{report.seen:,}"
    yield _WAITING, f"{report.waiting:,}"
    if report.sieve:
        yield "sieve", report.sieve["kind"]
        yield "  known from its cache", f"{report.sieve['cache_hit_rate']:.0%}"
        yield "  memory", f"{report.sieve['bytes'] / 2**20:,.1f} MiB"
    for name, failures in sorted(report.failures.items()):
        yield f"failures of {name}", f"{failures['count']:,}"
    yield "requests", f"{report.requests:,}"
    yield "bytes", f"{report.bytes:,}"
    yield "seconds", f"{report.seconds:,.1f}"
