"""crivello lab terms: compares term dictionaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.lines import lines_of
from crivello.cli.options import Json
from crivello.cli.output import print_json, say, stdout_console
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.lab.terms import Rate, Row, Study


def terms(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="terms, one per line, plain or gzip", show_default=False),
    ] = "",
    keys: Annotated[
        int | None, typer.Option("--keys", min=2, help="number of terms to generate [default: 100,000]")
    ] = None,
    signature_bits: Annotated[
        int, typer.Option("--signature-bits", min=0, max=32, help="bits per signature of the compared ranks")
    ] = 8,
    lookups: Annotated[int, typer.Option("--lookups", min=1, help="number of lookups")] = 200_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="random seed of terms and lookups")] = 0,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot the tables to a .png or .svg file")
    ] = "",
    json: Json = False,
) -> None:
    """Compare term dictionaries: bits per key, construction and lookup time, false-positive rate.

    Maps from terms to ranks by static functions with signatures, compared with a Python dict, a sorted array
    and a front-coded list; and self-signed sets of terms, compared with Bloom filters of the same
    false-positive rate.

    \b
    Examples:
      crivello lab terms --keys 1000000 --plot terms.png
      crivello lab terms words.txt --signature-bits 16
      crivello lab terms words.txt --json
    """
    from pathlib import Path

    from crivello.lab.terms import generate, study
    from crivello.lab.terms.plot import draw
    from crivello.plots import check_format

    if file and keys is not None:
        raise InvalidArgument("--keys is for generated terms", hint="leave out the file, or --keys")
    if plot:
        check_format(Path(plot))
    made = sorted(set(lines_of([file]))) if file else generate(keys or 100_000, seed)
    if len(made) < 2:
        raise InvalidArgument(f"{file} has fewer than two different terms")
    found = study(made, signature_bits=signature_bits, lookups=lookups, seed=seed)
    if json:
        print_json(found.to_dict())
    else:
        _print(found)
    if plot:
        draw(found, Path(plot))
        say(f"drew {plot}")


def _print(found: Study) -> None:
    needed = math.log2(found.keys)
    title = f"{found.keys:,} terms to ranks, {found.signature_bits} bits of signature; log2 n = {needed:.2f}"
    header = ("dictionary", "bits a key", "beyond log2 n", "build, s", "ns a lookup")
    rows = [
        (row.name, f"{row.bits_per_key:.2f}", f"{row.beyond(found.keys):.2f}", *_times(row))
        for row in found.ranks
    ]
    _table(title, header, rows)
    errors = ("", "r", "bits a key", "by r", "build, s", "ns", "misses", "errs", "expected")
    _table(
        "how often a term that is none has a rank, with r bits of signature",
        errors,
        [_rate(one) for one in found.signatures],
    )
    _table(
        "sets of terms that err at rate 2^-r: self-signed functions, and Bloom filters",
        errors,
        [_rate(one) for one in found.sets],
    )


def _rate(one: Rate) -> tuple[str, ...]:
    room = (f"{one.bits_per_key:.2f}", f"{one.bits_per_key / one.bits:.2f}")
    return (
        one.name,
        str(one.bits),
        *room,
        *_times(one),
        str(one.misses),
        f"{one.measured:.3g}",
        f"{one.expected:.3g}",
    )


def _times(row: Row | Rate) -> tuple[str, str]:
    return f"{row.build_seconds:.2f}", f"{row.nanoseconds:.0f}"


def _table(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    stdout_console().print(table)
