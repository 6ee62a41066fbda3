"""crivello lab queues: compares queues between threads."""

from __future__ import annotations

from typing import Annotated

import typer

from crivello.cli.options import Json
from crivello.cli.output import print_json, progress_of, say, stdout_console
from crivello.errors import InvalidArgument


def queues(
    threads: Annotated[
        str, typer.Option("--threads", metavar="LIST", help="numbers of threads, at most 1024")
    ] = "1,2,4,8",
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            min=1,
            metavar="N",
            help="pairs of a push and a pop, all threads together [default: 0.25 s]",
        ),
    ] = None,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot the table to a .png or .svg file")
    ] = "",
    json: Json = False,
) -> None:
    """Compare queues between threads: throughput over the number of threads.

    A ring buffer behind a lock; Michael and Scott's lock-free linked list, by compare-and-swap with exponential
    backoff; and the bounded array through which the threads of a crawl communicate. Every thread alternates
    a push and a pop on one queue.

    \b
    Examples:
      crivello lab queues
      crivello lab queues --threads 1,2,4,8,16 --pairs 10000000 --plot queues.png
    """
    from pathlib import Path

    from rich.table import Table

    from crivello.lab.queues import study
    from crivello.lab.queues.plot import draw
    from crivello.plots import check_format

    if plot:
        check_format(Path(plot))
    counts = _counts(threads)
    with progress_of("measurements") as progress:
        found = study(counts, pairs=pairs, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        title = f"pushes and pops on one queue, {found.processors} processors"
        table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
        table.add_column("queue")
        for name in ("threads", "million a second", "ns an operation"):
            table.add_column(name, justify="right")
        for row in found.rows:
            rate = f"{row.operations_per_second / 1e6:.2f}"
            table.add_row(row.queue, str(row.threads), rate, f"{row.nanoseconds:.0f}")
        stdout_console().print(table)
    if plot:
        draw(found, Path(plot))
        say(f"drew {plot}")


def _counts(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    counts = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
    if not counts or len(counts) < len(parts) or not all(1 <= count <= 1024 for count in counts):
        raise InvalidArgument(
            f"--threads: {text!r} is not a list of numbers from 1 to 1024", hint="for example 1,2,4"
        )
    return counts
