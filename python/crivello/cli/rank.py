"""crivello rank: ranks pages, or the nodes of any graph, by their links."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json, say


class Measure(StrEnum):
    """The available measures."""

    PAGERANK = "pagerank"


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("rank")(rank)


def rank(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="the collection's folder", show_default=False)
    ] = "",
    measure: Annotated[Measure, typer.Option("--measure", help="centrality measure")] = Measure.PAGERANK,
    graph: Annotated[
        str, typer.Option("--graph", metavar="FILE", help="an edge list instead of a collection")
    ] = "",
    damping: Annotated[
        float, typer.Option("--damping", min=0.0, max=0.999, help="PageRank's damping factor")
    ] = 0.85,
    top: Annotated[int, typer.Option("--top", min=1, help="number of nodes to show")] = 10,
    json: Json = False,
) -> None:
    """Rank the pages of a collection, or the nodes of an edge list, by their links.

    An edge list has a line per edge: source, white space or a comma, target; # starts a comment.

    \b
    Examples:
      crivello rank example --top 20
      crivello rank --graph edges.txt --json
    """
    from crivello.collection import Collection
    from crivello.errors import InvalidArgument
    from crivello.graph import rank_edge_list

    if bool(folder) == bool(graph):
        raise InvalidArgument(
            "name either a collection or an edge list", hint="crivello rank DIR, or --graph FILE"
        )
    if Path(folder).is_file():
        raise InvalidArgument(
            f"{folder} is a file, not a collection",
            hint=f"to rank an edge list: crivello rank --graph {shlex.quote(folder)}",
        )
    match measure:
        case Measure.PAGERANK if graph:
            ranked = rank_edge_list(graph, damping=damping)[:top]
        case Measure.PAGERANK:
            with Collection.write(folder) as collection:
                ranked = collection.rank(measure=measure, damping=damping).top(top)
    if not ranked:
        say("there is nothing to rank yet")
        raise typer.Exit(NOTHING)
    for position, (name, value) in enumerate(ranked, 1):
        if json:
            print_json({"rank": position, "name": name, "pagerank": value})
        else:
            emit(f"{position:>4}  {value:.6f}  {name}")
