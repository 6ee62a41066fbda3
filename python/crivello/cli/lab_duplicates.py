"""crivello lab duplicates: compares Bloom and Stable Bloom filters on a stream, over a grid of parameters."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated

import typer

from crivello.cli.options import Json
from crivello.errors import InvalidArgument

_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("duplicates")(duplicates)


def duplicates(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="a stream of lines, or a Common Crawl index", show_default=False),
    ] = "",
    elements: Annotated[
        int | None,
        typer.Option("--elements", min=1, help="number of elements to generate [default: 1,000,000]"),
    ] = None,
    distinct: Annotated[
        float | None, typer.Option("--distinct", help="share of distinct elements among them [default: 0.49]")
    ] = None,
    skew: Annotated[
        float | None, typer.Option("--skew", help="skew of the repetitions; 0: uniform [default: 0.8]")
    ] = None,
    distance: Annotated[
        str,
        typer.Option(
            "--distance",
            metavar="N",
            help="mean distance of a duplicate from what it repeats, as in 100k; instead of --skew",
            show_default=False,
        ),
    ] = "",
    common_crawl: Annotated[
        str,
        typer.Option(
            "--common-crawl", metavar="CRAWL", help="download the index of a crawl, as in CC-MAIN-2024-42"
        ),
    ] = "",
    parts: Annotated[
        int | None, typer.Option("--parts", min=1, help="parts of that index, some 600 MB each [default: 1]")
    ] = None,
    base_url: Annotated[
        str,
        typer.Option("--base-url", metavar="URL", help="server of the index", envvar="CRIVELLO_COMMON_CRAWL"),
    ] = "https://data.commoncrawl.org/",
    into: Annotated[
        str, typer.Option("--into", metavar="DIR", help="folder of the report")
    ] = "lab-duplicates",
    cells: Annotated[
        str, typer.Option("--cells", metavar="LIST", help="m: number of cells")
    ] = "500k,1M,5M,10M,40M",
    k: Annotated[str, typer.Option("--k", metavar="LIST", help="K: number of hash functions")] = "2,4,6,8",
    p: Annotated[
        str, typer.Option("--p", metavar="LIST", help="P: cells to decrement; may be empty")
    ] = "1,4,10",
    maximum: Annotated[
        str, typer.Option("--max", metavar="LIST", help="Max: value to which cells are set")
    ] = "1,3",
    fps: Annotated[
        str,
        typer.Option(
            "--fps", metavar="LIST", help="false-positive rates from which P is derived; may be empty"
        ),
    ] = "0.01,0.05",
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="random seed of the generated stream and the decrements")
    ] = 0,
    json: Json = False,
) -> None:
    """Compare Bloom and Stable Bloom filters on a stream with duplicates; write a report with plots.

    Every combination of m, K, P and Max is run over the entire stream. Results are written to a DuckDB file,
    tables and plots to a report next to it.

    \b
    Examples:
      crivello lab duplicates --elements 10000000
      crivello lab duplicates --distinct 0.9 --distance 100k --k 4,8
      crivello lab duplicates urls.txt.gz --cells 1M,8M --k 4 --into study
      crivello lab duplicates --common-crawl CC-MAIN-2024-42 --parts 2
    """
    from pathlib import Path

    from crivello.cli.output import print_json, progress_of
    from crivello.lab.duplicates import (
        Grid,
        Stream,
        generate,
        generate_at_distance,
        of_common_crawl,
        read,
        study,
    )
    from crivello.lab.duplicates.common_crawl import fetch

    grid = Grid(
        cells=_counts(cells, "--cells"),
        k=_counts(k, "--k"),
        p=_counts(p, "--p"),
        max=_counts(maximum, "--max"),
        bounds=_shares(fps, "--fps"),
    )
    if file and common_crawl:
        raise InvalidArgument(
            "a stream is that of a file or of Common Crawl", hint="leave out one of the two"
        )
    if (file or common_crawl) and (elements, distinct, skew, distance) != (None, None, None, ""):
        raise InvalidArgument(
            "--elements, --distinct, --skew and --distance are for a generated stream",
            hint="leave out the file, or these",
        )
    # The environment variable is for every command, also for one that needs no server.
    asked = context.get_parameter_source("base_url")
    has_server = asked is not None and asked.name == "COMMANDLINE"
    if not common_crawl and (parts is not None or has_server):
        raise InvalidArgument(
            "--parts and --base-url are for the index of a crawl",
            hint="add --common-crawl, or leave these out",
        )
    if distance and skew is not None:
        raise InvalidArgument("duplicates have a skew or a distance", hint="leave out one of the two")
    stream: Stream
    if common_crawl:
        with progress_of("bytes") as progress:
            table = fetch(common_crawl, Path(into), parts=parts or 1, base_url=base_url, progress=progress)
        stream = of_common_crawl(table, common_crawl, parts or 1)
    elif file:
        stream = read(file)
    else:
        count, share = elements or 1_000_000, 0.49 if distinct is None else distinct
        if distance:
            stream = generate_at_distance(count, share, _count(distance, "--distance"), seed)
        else:
            stream = generate(count, share, 0.8 if skew is None else skew, seed)
    with progress_of("combinations") as progress:
        outcome = study(stream, grid, into, seed=seed, progress=progress)
    if json:
        print_json(outcome.to_dict())
    else:
        print(outcome.report)


def _counts(text: str, flag: str) -> tuple[int, ...]:
    """Parses a list of integers such as ``500k,1M``; k and M are a thousand and a million."""
    found = [re.fullmatch(r"(\d+(?:\.\d+)?)([km]?)", part) for part in _parts(text.lower())]
    numbers = [Decimal(one[1]) * _UNITS[one[2]] for one in found if one]
    hint = "for example 500k,1M,40M"
    if len(numbers) < len(found) or any(number != number.to_integral_value() for number in numbers):
        raise InvalidArgument(f"{flag}: {text!r} is not a list of whole numbers", hint=hint)
    if 0 in numbers:
        raise InvalidArgument(f"{flag}: {text!r} is not allowed: the least is 1", hint=hint)
    return tuple(map(int, numbers))


def _count(text: str, flag: str) -> int:
    """Parses one integer such as ``100k``."""
    numbers = _counts(text, flag)
    if len(numbers) != 1:
        raise InvalidArgument(f"{flag}: {text!r} is not one whole number", hint="for example 100k")
    return numbers[0]


def _shares(text: str, flag: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _parts(text))
    except ValueError:
        raise InvalidArgument(
            f"{flag}: {text!r} is not a list of shares", hint="for example 0.01,0.05"
        ) from None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
