"""crivello search: searches a collection."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.batch import search_batch
from crivello.cli.caret import with_caret
from crivello.cli.options import Folder, InGroups, Json, with_settings
from crivello.cli.output import emit, print_json, say
from crivello.cli.results import print_results
from crivello.errors import InvalidArgument, QuerySyntaxError

_TOP = 10
_TOP_OF_A_TOPIC = 1000
_MOST_COMPLETIONS = 100


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("search", cls=InGroups)(with_settings("search")(search))


def search(
    folder: Folder,
    query: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="the query", show_default=False)
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            max=1000,
            help=f"number of results [default: {_TOP}; {_TOP_OF_A_TOPIC} per topic with --batch]",
            show_default=False,
        ),
    ] = None,
    offset: Annotated[int, typer.Option("--offset", min=0, help="number of results to skip")] = 0,
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
            help="file for the run of --batch; -: standard output",
            show_default=False,
        ),
    ] = "-",
    explain: Annotated[bool, typer.Option("--explain", help="show how each score is computed")] = False,
    facets: Annotated[
        bool, typer.Option("--facets", help="count the matches by site, language, type and year")
    ] = False,
    no_correct: Annotated[
        bool, typer.Option("--no-correct", help="if nothing matches, do not search a corrected spelling")
    ] = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="print what QUERY may be completed to while it is typed, one a line"),
    ] = False,
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Search a collection with words and operators.

    \b
      solar wind                  any of the words; the more, and the rarer, the better
      "solar wind"  +sun  -storm  a phrase, what must be there, what must not
      sun AND (wind OR flare)     AND, OR, NOT, parentheses
      magnet*  corona~            how a word begins; how it is nearly spelt
      "solar wind"~8  sun < wind  within 8 words; one after the other
      sun INSIDE "solar flare"~9  also CONTAINING, ALIGNED, NOT INSIDE, NOT CONTAINING
      title:sun  url:(a OR b)     in one zone: title, headings, body, anchors, url
      site:a.org  lang:it  type:pdf  after:2020  before:2024-05-01
      wind^2                      with another weight; * is every page

    \b
    Quote queries that contain special characters of the shell. docs/search.md describes the query language.

    \b
    Examples:
      crivello search example solar wind
      crivello search example '"solar wind" -storm site:example.org' --top 20 --json
      crivello search example 'solar wind' --explain --facets
      crivello search example 'solar w' --complete
      crivello search example --batch topics.txt --run example.run
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    _refuse_contradictions(
        query,
        batch,
        run,
        {
            "--offset": offset,
            "--explain": explain,
            "--facets": facets,
            "--no-correct": no_correct,
            "--complete": complete,
        },
    )
    loaded = settings.load(Path(folder) / SETTINGS, flags) if (Path(folder) / SETTINGS).exists() else None
    collection = Collection(folder, settings=loaded)
    if complete:
        completions = collection.complete(" ".join(query or []), top=min(top or _TOP, _MOST_COMPLETIONS))
        if json:
            print_json(completions)
        for completion in () if json else completions:
            emit(completion)
        found = len(completions)
    elif batch:
        found = search_batch(collection, batch, run, top=top or _TOP_OF_A_TOPIC, json=json)
    else:
        text = " ".join(query or [])
        try:
            results = collection.search(
                text,
                top=top or _TOP,
                offset=offset,
                facets=facets,
                explain=explain,
                correct=not no_correct,
            )
        except QuerySyntaxError as error:
            error.add_note(with_caret(text, error.position))
            raise
        if json:
            print_json(results.to_dict())
        else:
            print_results(results)
        found = len(results)
    if collection.is_behind:
        which = "newest pages" if collection.searcher().documents else "pages"
        say(f"the {which} of {folder} are crawled and not indexed yet\nhint: crivello index {folder}")
    if not found:
        raise typer.Exit(NOTHING)


def _refuse_contradictions(
    query: list[str] | None, batch: str, run: str, only_without_batch: dict[str, int]
) -> None:
    if not batch and not query:
        raise InvalidArgument(
            "there is nothing to look for",
            hint="crivello search DIR WORDS, or crivello search DIR --batch TOPICS",
        )
    if not batch and run != "-":
        raise InvalidArgument("--run is for the results of --batch", hint="name the topics: --batch TOPICS")
    if batch and query:
        raise InvalidArgument("--batch has its own queries", hint="leave QUERY out")
    for flag, value in only_without_batch.items():
        if batch and value:
            raise InvalidArgument(f"{flag} is for one query, and --batch has many", hint=f"leave {flag} out")
