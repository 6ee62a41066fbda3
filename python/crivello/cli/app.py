"""The verbs by task; ``crivello --help`` is generated from the table below."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from crivello.cli import (
    archives,
    cluster,
    connect,
    crawl,
    dedup,
    demo,
    diff,
    doctor,
    evaluate,
    feed,
    graph,
    index,
    lab,
    mcp,
    pages,
    rank,
    refresh,
    search,
    serve,
    service,
    status,
    stream,
    token,
    up,
    why,
)

TASKS: dict[str, dict[str, str]] = {
    "See it work": {
        "demo": "crivello demo",
        "up": "crivello up https://www.example.org/ --into example",
    },
    "Collect pages": {
        "crawl": "crivello crawl https://www.example.org/ --into example --max-pages 1000",
        "status": "crivello status example --plot crawl.png",
        "why": "crivello why example https://www.example.org/missing.html",
        "feed": "crivello feed add news https://www.example.org/feed.xml",
        "pages": "crivello pages example --url https://www.example.org/",
        "import": "crivello import example crawls/*.warc.gz",
        "export": "crivello export example --out example.wacz",
        "refresh": "crivello refresh example --budget 1000",
        "diff": "crivello diff example https://www.example.org/",
        "cluster": "crivello cluster merge example whole",
    },
    "Find them": {
        "index": "crivello index example",
        "search": "crivello search example 'solar AND \"stellar wind\"'",
        "serve": "crivello serve example --port 8080",
        "mcp": "crivello mcp example",
        "connect": "crivello connect claude example",
        "token": "crivello token add example loader --scope crawl",
        "service": "crivello service install example --user",
    },
    "See who links to whom": {
        "rank": "crivello rank example --top 20",
        "graph": "crivello graph draw example --out hosts.svg",
    },
    "Measure how good answers are": {
        "evaluate": "crivello evaluate qrels.txt example.run",
    },
    "Find duplicates": {
        "dedup": "crivello dedup pages.jsonl --threshold 0.8 --out clean.jsonl",
        "stream": "crivello stream urls.txt.gz --memory 16M > once.txt",
    },
    "Look under the hood": {
        "lab": "crivello lab web",
        "doctor": "crivello doctor",
    },
}


class Verbs(TyperGroup):
    """Shows the verbs by task, each with an example."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for task, verbs in TASKS.items():
            with formatter.section(task):
                for verb, example in verbs.items():
                    command = self.get_command(ctx, verb)
                    assert command is not None
                    summary = command.get_short_help_str(90)
                    formatter.write(textwrap.indent(f"{verb:<9}{summary}\n{'':<9}$ {example}\n", "  "))

    def list_commands(self, _: Any) -> list[str]:
        return [verb for verbs in TASKS.values() for verb in verbs]


app: typer.Typer = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="Crivello: a web search engine in a box. It crawls politely, stores, indexes, ranks and answers.",
    epilog="`crivello VERB --help` shows more. Exit codes: 0 done, 1 nothing found, 2 misuse, 3 failed, 130 Ctrl-C.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"crivello {version('crivello')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


for _verb in (
    demo,
    up,
    crawl,
    status,
    why,
    pages,
    archives,
    refresh,
    diff,
    index,
    rank,
    search,
    serve,
    mcp,
    connect,
    evaluate,
    dedup,
    stream,
    doctor,
):
    _verb.register(app)
app.add_typer(cluster.app, name="cluster")
app.add_typer(feed.app, name="feed")
app.add_typer(graph.app, name="graph")
app.add_typer(lab.app, name="lab")
app.add_typer(token.app, name="token")
app.add_typer(service.app, name="service")
