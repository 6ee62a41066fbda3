"""crivello search: ranked answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.batch import search_batch
from crivello.cli.options import Folder, Json, with_settings
from crivello.cli.output import print_json, say
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.search import Results

_TOP = 10
_TOP_OF_A_TOPIC = 1000


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("search")(with_settings("search")(search))


def search(
    folder: Folder,
    query: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="what to look for", show_default=False)
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            max=1000,
            help=f"how many results [default: {_TOP}; {_TOP_OF_A_TOPIC} a topic with --batch]",
            show_default=False,
        ),
    ] = None,
    offset: Annotated[int, typer.Option("--offset", min=0, help="how many results to pass over")] = 0,
    batch: Annotated[
        str,
        typer.Option(
            "--batch",
            metavar="TOPICS",
            help="search every topic of a file as plain words, and write a TREC run; -: standard input",
        ),
    ] = "",
    run: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="FILE",
            help="where the run of --batch goes; -: standard output",
            show_default=False,
        ),
    ] = "-",
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Search a collection: words, AND, OR, NOT, +must, -mustnot, "a phrase", (groups).

    \b
    Examples:
      crivello search example solar wind
      crivello search example '"solar wind" AND NOT storm' --top 20 --json
      crivello search example --batch topics.txt --run example.run
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    _refuse_contradictions(query, offset, batch, run)
    loaded = settings.load(Path(folder) / SETTINGS, flags) if (Path(folder) / SETTINGS).exists() else None
    collection = Collection(folder, settings=loaded)
    if batch:
        found = search_batch(collection, batch, run, top=top or _TOP_OF_A_TOPIC, json=json)
    else:
        results = collection.search(" ".join(query or []), top=top or _TOP, offset=offset)
        _print(results, json)
        found = len(results)
    if not found:
        raise typer.Exit(NOTHING)


def _refuse_contradictions(query: list[str] | None, offset: int, batch: str, run: str) -> None:
    if not batch and not query:
        raise InvalidArgument(
            "there is nothing to look for",
            hint="crivello search DIR WORDS, or crivello search DIR --batch TOPICS",
        )
    if not batch and run != "-":
        raise InvalidArgument("--run is for the results of --batch", hint="name the topics: --batch TOPICS")
    if batch and (query or offset):
        raise InvalidArgument(
            f"--batch has its own {'queries' if query else 'results, from the first on'}",
            hint=f"leave {'QUERY' if query else '--offset'} out",
        )


def _print(results: Results, json: bool) -> None:
    if json:
        print_json(results.to_dict())
    elif results.hits:
        bold = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("*", "*")
        for hit in results:
            print(
                f"{hit.rank:>3}. {hit.title or hit.url}\n     {hit.url}\n     {hit.snippet.marked(*bold)}\n"
            )
        say(f"{results.matches:,} pages in {results.microseconds / 1000:.1f} ms")
    else:
        say(f"nothing matches {results.query!r}")
