"""crivello lab: experiments with individual parts."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from crivello.cli import (
    lab_assign,
    lab_cluster,
    lab_codes,
    lab_duplicates,
    lab_graph,
    lab_near,
    lab_queues,
    lab_refresh,
    lab_robots,
    lab_sieve,
    lab_terms,
    lab_tune,
    lab_url,
    lab_words,
)
from crivello.cli.options import Json
from crivello.cli.output import print_json, say

app: typer.Typer = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Try individual parts: the sample web, URLs, robots.txt, text analysis, integer codes, measures of graphs, term dictionaries, revisits, sieves, duplicate filters, near-duplicates, queues between threads, assignment of hosts to agents, a model of a cluster, tuning of search settings.",
)
lab_duplicates.register(app)


@app.callback()
def options() -> None:
    """Try individual parts."""


@app.command("web")
def web(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="the port on every address; 0: any free port")
    ] = 0,
    hosts: Annotated[
        int, typer.Option("--hosts", min=3, max=200, help="number of hosts, each on its own address")
    ] = 9,
    pages: Annotated[
        int, typer.Option("--pages-per-host", min=4, max=10000, help="number of pages per host")
    ] = 75,
    slow: Annotated[
        float, typer.Option("--slow", min=0, max=60, help="response time of the slow host, in seconds")
    ] = 0.15,
    seed: Annotated[int, typer.Option("--seed", help="random seed of the web")] = 2026,
    log: Annotated[
        str, typer.Option("--log", metavar="FILE", help="log each request as a line of JSON")
    ] = "",
    json: Json = False,
) -> None:
    """Serve the sample web on loopback until Ctrl-C; print its seed URLs, one per line.

    \b
    Examples:
      crivello lab web --port 8090 --log requests.jsonl
      crivello lab web --hosts 8 --pages-per-host 10 --json
    """
    from pathlib import Path

    from crivello.lab.web import SampleWeb

    sample = SampleWeb(
        seed=seed, hosts=hosts, pages_per_host=pages, port=port, slow=slow, log=Path(log) if log else None
    )
    with sample:
        if json:
            print_json(
                {
                    "seeds": sample.seeds,
                    "pages": sorted(sample.pages),
                    "forbidden": sorted(sample.forbidden),
                    "broken": sorted(sample.broken),
                    "redirects": sample.redirects,
                    "duplicates": sample.duplicates,
                    "near_duplicates": sample.near_duplicates,
                }
            )
        else:
            print("\n".join(sample.seeds), flush=True)
        say(f"{len(sample.pages):,} pages on {len(sample.hosts)} hosts; Ctrl-C ends it")
        signal.pause()


app.command("sieve")(lab_sieve.sieve)
app.command("terms")(lab_terms.terms)
app.command("queues")(lab_queues.queues)
app.command("assign")(lab_assign.assign)
app.command("cluster")(lab_cluster.cluster)
app.command("codes")(lab_codes.codes)
app.command("near")(lab_near.near)
app.command("graph")(lab_graph.graph)
app.command("refresh")(lab_refresh.refresh)
app.command("url")(lab_url.url)
app.command("robots")(lab_robots.robots)
app.command("words")(lab_words.words)
app.command("tune")(lab_tune.tune)
