"""crivello stream: finds duplicates in a stream of lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, cast

import typer

from crivello.cli.options import Json, choice, size

if TYPE_CHECKING:
    from crivello.filters import Decay, Hashing
    from crivello.stream import Report


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("stream")(stream)


def stream(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="plain, gzip or Zstandard; none, or -: standard input"),
    ] = None,
    filter: Annotated[
        str,
        typer.Option(
            "--filter", metavar="stable|bloom|blocked-bloom|exact", help="structure that detects duplicates"
        ),
    ] = "stable",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="auto|lines|cdxj",
            help="format of the input; auto: detected from the first lines",
        ),
    ] = "auto",
    mark: Annotated[bool, typer.Option("--mark", help="prefix every line with new, dup or bad")] = False,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="print only the duplicates")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="print no lines, only the report")] = False,
    truth: Annotated[bool, typer.Option("--truth", help="compare with the exact answer")] = False,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="memory budget of the filter, as in 16M")
    ] = "64M",
    error: Annotated[
        float | None, typer.Option("--error", help="allowed false-positive rate [default: 0.01]")
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(
            "--capacity",
            help="Bloom: number of keys for which it is best; with --error: as small as they allow",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, max=64, help="number of hash functions [default: the best]")
    ] = None,
    p: Annotated[
        int | None,
        typer.Option("--p", min=0, help="stable: cells decremented per line [default: derived from --error]"),
    ] = None,
    maximum: Annotated[
        int | None,
        typer.Option("--max", min=1, max=255, help="stable: value to which cells are set [default: 1]"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="stable: random seed of the decremented cells")
    ] = None,
    decay: Annotated[
        str,
        typer.Option(
            "--decay",
            metavar="consecutive|independent",
            help="stable: how these cells are drawn [default: consecutive]",
            show_default=False,
        ),
    ] = "",
    hashing: Annotated[
        str,
        typer.Option(
            "--hashing",
            metavar="enhanced|double",
            help="how the cells of a line follow from two hashes [default: enhanced]",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Drop or mark the duplicates in a stream of lines, or of a Common Crawl index, in fixed memory.

    Lines not judged to be duplicates go to standard output, the report to standard error; with --json only
    the report is printed, to standard output.

    \b
    Examples:
      zcat urls.gz | crivello stream > once.txt
      crivello stream cdx-00000.gz --filter bloom --memory 1G --duplicates
      crivello stream urls.txt --filter stable --truth --json
    """
    from crivello.cli.output import print_json, print_table
    from crivello.errors import InvalidArgument
    from crivello.stream import Emit, Format, JudgeOptions, Kind, sift

    if mark + duplicates + (quiet or json) > 1:
        raise InvalidArgument("--mark, --duplicates and --quiet (or --json) exclude each other")
    options = JudgeOptions(
        choice(Kind, filter, "--filter"),
        size(memory, "--memory"),
        error,
        capacity,
        k,
        p,
        maximum,
        seed,
        # The filters check the names.
        cast("Decay | None", decay or None),
        cast("Hashing | None", hashing or None),
    )
    emit = Emit.NEW
    if quiet or json:
        emit = Emit.NOTHING
    elif mark or duplicates:
        emit = Emit.MARKED if mark else Emit.DUPLICATES
    report = sift(files or [], options, format=choice(Format, format, "--format"), emit=emit, truth=truth)
    if json:
        print_json(report.to_dict())
    else:
        print_table("", rows(report))


def rows(report: Report) -> Iterator[tuple[str, str]]:
    """The rows of a report."""
    yield "lines", f"{report.lines:,}"
    yield "new", f"{report.new:,}"
    yield "duplicates", f"{report.duplicates:,}"
    if report.by_url:
        yield "compared by URL", f"{report.by_url:,}"
    if report.malformed:
        yield "malformed, passed on", f"{report.malformed:,}"
    if report.long:
        yield "too long, passed on", f"{report.long:,}"
    yield "seconds", f"{report.seconds:,.2f}"
    yield "lines a second", f"{report.lines_per_second:,.0f}"
    judge = report.filter
    yield "filter", judge.kind
    yield "  bytes", f"{judge.bytes:,}"
    for name, value in (("K", judge.k), ("P", judge.p), ("Max", judge.max)):
        if value is not None:
            yield f"  {name}", f"{value:,}"
    if judge.fill is not None:
        yield "  filled", f"{judge.fill:.1%}"
        yield "  false positives expected", f"{judge.expected_error:.2e}"
    if judge.bound is not None:
        yield "  false positives at most", f"{judge.bound:.2e}"
    if report.truth is None:
        return
    for name, share in report.truth.to_dict().items():
        shown = "-" if share is None else f"{share:.4f}" if isinstance(share, float) else f"{share:,}"
        yield f"truth: {name}", shown
    yield "truth: seconds", f"{report.truth_seconds or 0:,.2f}"
