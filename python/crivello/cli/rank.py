"""crivello rank: the importance of pages, or of the nodes of any graph, by their links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.graphs import computed, either, graph_at, measures_of, options_of, registry
from crivello.cli.options import Json
from crivello.cli.output import emit, print_columns, print_json, progress_of, say
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.graph.compare import Comparison
    from crivello.graph.graph import Graph
    from crivello.graph.measures import Measure
    from crivello.graph.scores import Scores

_DEFAULT = "pagerank"
_COMMON = 100


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("rank")(rank)


def rank(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="the collection's folder", show_default=False)
    ] = "",
    graph: Annotated[
        str,
        typer.Option(
            "--graph", metavar="FILE", help="a graph in any form instead of a collection", show_default=False
        ),
    ] = "",
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="M,…",
            help=f"one or several measures; --list shows them [default: {_DEFAULT}]",
            show_default=False,
        ),
    ] = "",
    compare: Annotated[
        str,
        typer.Option(
            "--compare",
            metavar="M,M,…",
            help="how far measures agree: Kendall's τ, weighted τ, common top nodes",
            show_default=False,
        ),
    ] = "",
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            metavar="N",
            help=f"number of nodes to show, or to compare [default: 10, or {_COMMON}]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="FILE",
            help="write the values of all nodes: .tsv, .npy or .parquet",
            show_default=False,
        ),
    ] = "",
    plot: Annotated[
        str,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="plot the distribution, or measures against each other: .svg or .png",
            show_default=False,
        ),
    ] = "",
    ranks: Annotated[
        bool, typer.Option("--ranks", help="plot ranks instead of values, with --compare")
    ] = False,
    damping: Annotated[
        float | None,
        typer.Option(
            "--damping",
            min=0.0,
            max=0.999,
            metavar="X",
            help="damping factor of PageRank and its kin [default: 0.85]",
            show_default=False,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="an option of the measure; @FILE: a list, one per line",
            show_default=False,
        ),
    ] = None,
    list_measures: Annotated[
        bool, typer.Option("--list", help="list all measures and their options")
    ] = False,
    json: Json = False,
) -> None:
    """Rank the pages of a collection, or the nodes of any graph, by their links.

    Without a measure, it updates the static rank that searches of the collection use, and shows the best
    pages. With one or several, it computes these and changes nothing.

    \b
    Examples:
      crivello rank example --top 20
      crivello rank example --measure indegree,outdegree --out ranks.parquet
      crivello rank --graph edges.txt.gz --measure pagerank --option tolerance=1e-12 --json
      crivello rank example --compare indegree,outdegree --plot agreement.svg
    """
    if list_measures:
        _list(json)
        return
    path = either(folder, graph, "rank")
    if measure and compare:
        raise InvalidArgument("--measure and --compare exclude each other")
    if ranks and not (compare and plot):
        raise InvalidArgument("--ranks is about the plot of a comparison", hint="add --compare and --plot")
    for file in filter(None, (plot,)):
        from crivello.plots import check_format

        check_format(Path(file))
    if out:
        from crivello.graph.table import check_table

        check_table(Path(out))
    given = [*(option or ()), *([f"damping={damping}"] if damping is not None else [])]
    if folder and not (measure or compare or out or plot or option):
        _update(folder, damping, 10 if top is None else top, json)
        return
    measures = measures_of(compare or measure or _DEFAULT)
    if compare and len(measures) < 2:
        raise InvalidArgument("--compare needs two measures or more", hint="as in pagerank,indegree")
    options = options_of(given, measures)
    opened = graph_at(path)
    if not opened.nodes:
        say("there is nothing to rank yet" if folder else "the graph has no nodes")
        raise typer.Exit(NOTHING)
    scores = {one.name: computed(opened, one, options) for one in measures}
    if out:
        from crivello.graph.table import write_table

        write_table(opened, scores, Path(out))
        say(f"wrote {opened.nodes:,} nodes to {out}")
    if compare:
        _compare(scores, _COMMON if top is None else top, plot, ranks, json)
        return
    if plot:
        from crivello.graph.plots import draw_distributions

        draw_distributions(scores, Path(plot))
        say(f"plotted to {plot}")
    _show(opened, scores, 10 if top is None else top, json)


def _update(folder: str, damping: float | None, top: int, json: bool) -> None:
    """Updates the static rank of a collection, and shows its best pages."""
    from crivello.collection import Collection

    with Collection.write(folder) as collection:
        ranking = collection.rank(damping=damping)
        ranked = ranking.top(top)
    if not ranked:
        say("there is nothing to rank yet")
        raise typer.Exit(NOTHING)
    for position, (name, value) in enumerate(ranked, 1):
        if json:
            print_json({"rank": position, "name": name, ranking.measure: value})
        else:
            emit(f"{position:>4}  {value:.6g}  {name}")


def _show(graph: Graph, scores: dict[str, Scores], top: int, json: bool) -> None:
    """The best nodes by the first measure, with their values in the others."""
    import numpy as np

    from crivello.graph.compare import best_nodes

    first = next(iter(scores.values()))
    best = best_nodes(np.asarray(first), top).tolist()
    if json:
        for position, node in enumerate(best, 1):
            values = {name: float(values[node]) for name, values in scores.items()}
            print_json({"rank": position, "name": graph.name(node), **values})
        return
    rows = [[f"{values[node]:.6g}" for values in scores.values()] for node in best]
    heading = [["    ", *scores]] if len(scores) > 1 else []
    listed = [
        [f"{position:>4}", *row, graph.name(node)]
        for position, (node, row) in enumerate(zip(best, rows, strict=True), 1)
    ]
    print_columns([*heading, *listed], left=(len(scores) + 1,))


def _compare(scores: dict[str, Scores], top: int, plot: str, ranks: bool, json: bool) -> None:
    from crivello.graph.compare import compare

    with progress_of("comparing") as progress:
        comparison = compare(scores, top=top, progress=progress)
    if plot:
        from crivello.graph.plots import draw_comparison

        draw_comparison(scores, comparison, Path(plot), ranks=ranks)
        say(f"plotted to {plot}")
    if json:
        print_json(comparison.to_dict())
    else:
        _print_comparison(comparison)


def _print_comparison(comparison: Comparison) -> None:
    heading = ("", "", "Kendall's τ", "weighted τ", f"common in the top {comparison.top:,}")
    rows = [
        (pair.one, pair.other, f"{pair.tau:.4f}", f"{pair.weighted_tau:.4f}", f"{pair.overlap:.0%}")
        for pair in comparison.pairs
    ]
    print_columns([heading, *rows], left=(0, 1))


def _list(json: bool) -> None:
    measures = registry().values()
    if json:
        for measure in measures:
            options = {name: _plain(parameter.default) for name, parameter in measure.options().items()}
            print_json(
                {
                    "name": measure.name,
                    "family": measure.family,
                    "about": measure.about,
                    "small": measure.small,
                    "options": options,
                }
            )
        return
    rows = [
        (measure.name, measure.family, f"{measure.about}{_notes(measure)}")
        for measure in sorted(measures, key=lambda measure: measure.family)
    ]
    print_columns(rows, left=(0, 1, 2))


def _notes(measure: Measure) -> str:
    small = "; small graphs only" if measure.small else ""
    options = ", ".join(measure.options())
    return f"{small}{f' ({options})' if options else ''}"


def _plain(default: Any) -> Any:
    return default if isinstance(default, (int, float, str, bool)) else None
