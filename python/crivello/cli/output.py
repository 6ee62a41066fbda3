"""Data goes to standard output, everything else to standard error; progress is shown only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from crivello.crawl import Report


_WAITING = "still waiting"


class OutputClosed(Exception):
    """The reader closed the pipe. Not an OSError, which Typer would report as a failure."""


def emit(line: str) -> None:
    """Writes a line of data to standard output."""
    try:
        sys.stdout.write(line + "\n")
    except BrokenPipeError:
        raise OutputClosed from None


def print_json(value: Any) -> None:
    """Writes a value as one line of JSON to standard output."""
    emit(msgspec.json.encode(value).decode())


def print_columns(rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)) -> None:
    """Writes rows in columns to standard output; those in ``left`` are aligned to the left, others to the right.

    Rows may have fewer cells than others.
    """
    from rich.cells import cell_len, set_cell_size

    if not rows:
        return
    count = max(map(len, rows))
    widths = [max(cell_len(row[place]) for row in rows if place < len(row)) for place in range(count)]
    for row in rows:
        cells = [
            set_cell_size(cell, widths[place])
            if place in left
            else " " * (widths[place] - cell_len(cell)) + cell
            for place, cell in enumerate(row)
        ]
        emit("  ".join(cells).rstrip())


def say(text: str = "") -> None:
    """Writes a message to standard error."""
    print(text, file=sys.stderr, flush=True)


def stderr_console() -> Console:
    """A Rich console on standard error; plain text if that is not a terminal."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar, as a function of the number done and the total; ``None`` without a terminal."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def stdout_console() -> Console:
    """A Rich console on standard output; plain text if that is not a terminal."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


def table_of(title: str, rows: Iterable[tuple[str, ...]]) -> Table:
    """A table of names with one or several values."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    for name, *values in rows:
        while len(table.columns) <= len(values):
            table.add_column(justify="right")
        table.add_row(name, *values)
    return table


def print_table(title: str, rows: Iterable[tuple[str, ...]]) -> None:
    """Prints a table of names and values to standard error."""
    if title:
        say(title)
    stderr_console().print(table_of("", rows))


def print_report(title: str, report: Report) -> None:
    """Prints the report of a crawl to standard error: of this run and, if there were others, of all runs."""
    from crivello.crawl import Report

    rows: Iterable[tuple[str, ...]] = report_rows(report)
    if report.is_resumed:
        new = dict(report_rows(Report(report.of_run())))
        del new[_WAITING]  # only meaningful for all runs
        rows = [("", "this run", "in all"), *((name, new.get(name, ""), value) for name, value in rows)]
    print_table(title, rows)


def report_rows(report: Report) -> Iterator[tuple[str, str]]:
    """The rows of a crawl's report."""
    yield "pages fetched", f"{report.pages:,}"
    for status, count in sorted(report.statuses.items()):
        yield f"  with status {status}", f"{count:,}"
    for outcome, count in sorted(report.outcomes.items()):
        if outcome not in ("fetched", "redirected"):
            yield outcome, f"{count:,}"
    if report.revisits:
        yield "visited again", f"{report.revisits.total():,}"
    for how, count in sorted(report.revisits.items()):
        yield f"  {how}", f"{count:,}"
    yield "exact duplicates", f"{report.duplicates:,}"
    yield "near-duplicates", f"{report.near_duplicates:,}"
    if report.saved["links"]:
        yield "  links of duplicates, not followed", f"{report.saved['links']:,}"
    if report.saved["pages"]:
        yield "  duplicates, not stored", f"{report.saved['pages']:,}"
        yield "  bytes of duplicates, not stored", f"{report.saved['bytes']:,}"
    yield "URLs seen", f"{report.seen:,}"
    yield _WAITING, f"{report.waiting:,}"
    if report.sieve:
        yield "sieve", report.sieve["kind"]
        yield "  known from its cache", f"{report.sieve['cache_hit_rate']:.0%}"
        yield "  memory", f"{report.sieve['bytes'] / 2**20:,.1f} MiB"
    if report.unconverted:
        yield "documents without their text", f"{sum(report.unconverted.values()):,}"
        for reason, count in sorted(report.unconverted.items(), key=lambda item: (-item[1], item[0])):
            yield f"  {reason}", f"{count:,}"
    for name, failures in sorted(report.failures.items()):
        yield f"failures of {name}", f"{failures['count']:,}"
    yield "requests", f"{report.requests:,}"
    yield "bytes", f"{report.bytes:,}"
    yield "seconds", f"{report.seconds:,.1f}"
