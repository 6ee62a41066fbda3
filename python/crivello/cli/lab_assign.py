"""crivello lab assign: compares the methods that assign hosts to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.lines import lines_of
from crivello.cli.options import Json
from crivello.cli.output import emit, print_columns, print_json, progress_of, say
from crivello.cli.units import volume
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.lab.assign import Study


def assign(
    file: Annotated[
        str,
        typer.Argument(
            metavar="HOSTS-FILE", help="hosts or URLs, one per line, plain or gzip", show_default=False
        ),
    ] = "",
    hosts: Annotated[
        int | None, typer.Option("--hosts", min=1, help="number of hosts to generate [default: 200,000]")
    ] = None,
    agents: Annotated[
        str, typer.Option("--agents", metavar="LIST", help="numbers of agents, at most 65,534")
    ] = "1,10,100,1000,10000",
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, max=100_000, help="replicas of an agent: consistent")
    ] = 300,
    by: Annotated[
        str, typer.Option("--by", metavar="KEY", help="what of a URL is assigned: host, domain")
    ] = "host",
    seed: Annotated[int, typer.Option("--seed", min=0, help="seed of the generated hosts")] = 0,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot the table to a .png or .svg file")
    ] = "",
    json: Json = False,
) -> None:
    """Compare the methods that assign hosts to agents: balance, movement, time and memory, beside the theory.

    Consistent hashing, min hashing, random permutations, and the hash modulo the number of agents. "added" and
    "lost" are the shares of the hosts that change their agent when one is added, or lost; "astray" is the share that
    should not have.

    \b
    Examples:
      crivello lab assign hosts.txt --plot assign.svg
      crivello lab assign --hosts 1000000 --agents 10,1000 --replicas 100
      crivello lab assign urls.txt.gz --by domain --json
    """
    from pathlib import Path

    from crivello.lab.assign import generate, hosts_of, study
    from crivello.lab.assign.plot import draw
    from crivello.plots import check_format

    if file and hosts is not None:
        raise InvalidArgument("--hosts is for generated hosts", hint="leave out the file, or --hosts")
    if plot:
        check_format(Path(plot))
    counts = _counts(agents)
    made = hosts_of(lines_of([file]), by) if file else hosts_of(generate(hosts or 200_000, seed), by)
    if not made:
        raise InvalidArgument(f"{file} has no hosts")
    with progress_of("measurements") as progress:
        found = study(made, agents=counts, replicas=replicas, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        _print(found)
    if plot:
        draw(found, Path(plot))
        say(f"drew {plot}")


def _print(found: Study) -> None:
    emit(
        f"{found.hosts:,} hosts, {found.replicas} replicas; hashing a host takes {found.hash_nanoseconds:.1f} ns"
    )
    header = [
        "method",
        "agents",
        "deviation",
        "expected",
        "largest",
        "added",
        "expected",
        "lost",
        "expected",
        "astray",
    ]
    rows = [[*header, "ns", "build, ms", "memory"]]
    for row in found.rows:
        moved = (row.added, row.expected_added, row.lost, row.expected_lost)
        rows.append(
            [
                row.method,
                f"{row.agents:,}",
                f"{row.deviation:.2%}",
                f"{row.expected_deviation:.2%}",
                f"{row.largest:.2f}",
                *(f"{share:.3%}" for share in moved),
                f"{row.astray:.2%}",
                f"{row.nanoseconds:,.1f}",
                f"{1000 * row.build_seconds:,.1f}",
                volume(row.memory),
            ]
        )
    print_columns(rows)


def _counts(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    counts = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
    if not counts or len(counts) < len(parts) or not all(1 <= count <= 65_534 for count in counts):
        raise InvalidArgument(
            f"--agents: {text!r} is not a list of numbers from 1 to 65,534", hint="for example 10,1000"
        )
    return counts
