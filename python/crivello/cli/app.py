"""The verbs by task; ``crivello --help`` is generated from the table below.

A verb is a module of this package, loaded when it is wanted: loading and describing them all takes longer than
most commands do.
"""

from __future__ import annotations

import textwrap
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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


# The modules that are not called like their verbs.
_MODULES = {"import": "archives", "export": "archives"}


def application(*verbs: str) -> typer.Typer:
    """The command line with some verbs, and with all of them if none is named."""
    app = typer.Typer(
        cls=Verbs,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
        help="Crivello: a web search engine in a box. It crawls politely, stores, indexes, ranks and answers.",
        epilog="`crivello VERB --help` shows more. Exit codes: 0 done, 1 nothing found, 2 misuse, 3 failed, 130 Ctrl-C.",
    )
    app.callback()(_options)
    wanted = verbs or [verb for task in TASKS.values() for verb in task]
    for name in dict.fromkeys(_MODULES.get(verb, verb) for verb in wanted):
        module = import_module(f"crivello.cli.{name}")
        if hasattr(module, "register"):
            module.register(app)
        else:
            app.add_typer(module.app, name=name)
    return app


def run(arguments: list[str]) -> Any:
    """Runs a command, with no more of the command line than its verb if the first argument names one."""
    known = {verb for task in TASKS.values() for verb in task}
    app = application(*(verb for verb in arguments[:1] if verb in known))
    return app(arguments, prog_name="crivello", standalone_mode=False)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"crivello {version('crivello')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version
