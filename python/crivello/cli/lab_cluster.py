"""crivello lab cluster: models a crawl by many agents."""

from __future__ import annotations

from typing import Annotated

import typer

from crivello.cli.options import Json
from crivello.cli.output import print_json, progress_of, say, stdout_console
from crivello.errors import InvalidArgument


def cluster(
    agents: Annotated[int, typer.Option("--agents", min=1, max=65_534, help="number of agents")] = 1000,
    pages: Annotated[str, typer.Option("--pages", metavar="N", help="number of pages, as in 1e9")] = "1e7",
    hosts: Annotated[
        str, typer.Option("--hosts", metavar="N", help="number of hosts; 0: a hundredth of the pages")
    ] = "0",
    zipf: Annotated[float, typer.Option("--zipf", min=0, max=3, help="exponent of the sizes of hosts")] = 1.0,
    most: Annotated[
        int, typer.Option("--max-per-host", min=1, help="maximum number of pages per host")
    ] = 10_000,
    sharing: Annotated[
        float, typer.Option("--hosts-per-address", min=1, help="hosts per IP address, on average")
    ] = 4.0,
    method: Annotated[
        str,
        typer.Option("--method", help="how hosts are assigned: consistent, min-hash, permutation, modulo"),
    ] = "consistent",
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, help="replicas of an agent: consistent")
    ] = 300,
    slots: Annotated[
        int, typer.Option("--slots", min=1, help="requests that an agent has open at a time")
    ] = 64,
    fetch: Annotated[float, typer.Option("--fetch", min=0.001, help="seconds that a request takes")] = 0.5,
    delay: Annotated[float, typer.Option("--delay", min=0, help="seconds that a host rests")] = 4.0,
    rest: Annotated[
        float | None,
        typer.Option(
            "--address-delay", min=0, help="seconds that an address rests [default: a quarter of --delay]"
        ),
    ] = None,
    links: Annotated[
        float,
        typer.Option("--links", min=0, help="URLs of other hosts per page that the cache does not know"),
    ] = 10.0,
    batch: Annotated[int, typer.Option("--batch", min=1, help="URLs in a full message")] = 1000,
    flush: Annotated[
        float, typer.Option("--flush", min=0, help="seconds that a URL waits for its message")
    ] = 10.0,
    lost: Annotated[
        float, typer.Option("--lost", min=0, max=0.99, help="share of the agents that is lost")
    ] = 0.01,
    detect: Annotated[float, typer.Option("--detect", min=0, help="seconds until a loss is noticed")] = 10.0,
    page_bytes: Annotated[int, typer.Option("--page-bytes", min=0, help="bytes of a stored page")] = 20_000,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="agents that are simulated page by page")
    ] = 200,
    costs: Annotated[
        str,
        typer.Option(
            "--costs", metavar="FILE", help="unit costs of an earlier model.json [default: measured]"
        ),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, help="seed of the web and of the loss")] = 0,
    into: Annotated[
        str, typer.Option("--into", metavar="DIR", help="write a report with plots to this folder")
    ] = "",
    json: Json = False,
) -> None:
    """Model a crawl by many agents: load, speed, exchange, memory and disk, loss of agents, saturation.

    Hosts are really assigned. The crawls of a sample of the agents are simulated page by page: slots, politeness per
    host and address, URLs handed over in messages, a loss and the takeover. Unit costs are measured on this machine.

    \b
    Examples:
      crivello lab cluster
      crivello lab cluster --agents 10000 --pages 1e9 --into report
      crivello lab cluster --agents 100 --pages 1e6 --delay 1 --slots 256 --json
    """
    from pathlib import Path

    from rich.table import Table

    from crivello.lab.cluster import Scenario, model, write
    from crivello.lab.cluster.costs import read_costs
    from crivello.lab.cluster.report import tables

    scenario = Scenario(
        agents=agents,
        pages=_count("--pages", pages),
        hosts=_count("--hosts", hosts),
        zipf=zipf,
        most_per_host=most,
        hosts_per_address=sharing,
        method=method,
        replicas=replicas,
        slots=slots,
        fetch=fetch,
        delay=delay,
        address_rest=rest,
        links=links,
        batch=batch,
        flush=flush,
        lost=lost,
        detect=detect,
        page_bytes=page_bytes,
        sample=sample,
        seed=seed,
    )
    given = read_costs(Path(costs)) if costs else None
    with progress_of("steps") as progress:
        found = model(scenario, given, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        for title, rows in tables(found):
            table = Table(
                title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), show_header=False
            )
            table.add_column("what", min_width=48)
            table.add_column("value", justify="right", min_width=28)
            for row in rows:
                table.add_row(*row)
            stdout_console().print(table)
    if into:
        say(f"wrote {write(found, Path(into))}")


def _count(flag: str, text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1e12:
        raise InvalidArgument(f"{flag}: {text!r} is not a number from 0 to 1e12", hint="for example 1e9")
    return int(number)
