"""crivello lab codes: compares integer codes on a file of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.options import Json
from crivello.cli.output import print_json, progress_of, say, stdout_console

if TYPE_CHECKING:
    from crivello.lab.codes import Outcome


def codes(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="numbers, one per line, or a NumPy array; -: standard input")
    ],
    format: Annotated[
        str, typer.Option("--format", help="auto, text, npy, u32 or u64 (raw, little-endian)")
    ] = "auto",
    gaps: Annotated[
        bool, typer.Option("--gaps", help="encode the gaps of a sorted list instead of the numbers")
    ] = False,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot bits against time, and the distributions")
    ] = "",
    json: Json = False,
) -> None:
    """Compare all integer codes on a file of numbers: bits per number, nanoseconds to encode and to decode
    it.

    For comparison it prints the empirical entropy, a lower bound for codes that encode one number at a time.

    \b
    Examples:
      crivello lab codes gaps.txt
      crivello lab codes documents.npy --gaps --plot codes.png
      crivello lab codes --format u32 --json - < positions.bin
    """
    from crivello.lab.codes import gaps as gaps_of
    from crivello.lab.codes import read, study

    numbers = read(file, format)
    if gaps:
        numbers = gaps_of(numbers)
    with progress_of("codes") as progress:
        outcome = study(numbers, progress)
    if plot:
        from crivello.lab.codes.plots import draw

        draw(outcome, numbers, plot)
    if json:
        print_json(outcome.to_dict())
    else:
        _print(outcome)


def _print(outcome: Outcome) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("code")
    for column in ("bits", "beside the entropy", "ns to encode", "ns to decode"):
        table.add_column(column, justify="right")
    for measure in outcome.measures:
        beside = f"{measure.bits / outcome.entropy:.2f}×" if outcome.entropy > 0 else "-"
        table.add_row(
            measure.code, f"{measure.bits:.3f}", beside, f"{measure.encode:.2f}", f"{measure.decode:.2f}"
        )
    stdout_console().print(table)
    say(
        f"{outcome.numbers:,} numbers up to {outcome.largest:,}, {outcome.mean:,.2f} on average; "
        f"their entropy is {outcome.entropy:.3f} bits"
    )
    for code, reason in outcome.refused.items():
        say(f"{code} does not hold them: {reason}")
