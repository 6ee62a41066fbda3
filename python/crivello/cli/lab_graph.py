"""crivello lab graph: small graphs where measures disagree, and the axioms of each measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.graphs import measures_of, registry
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json, progress_of, say, stdout_console

if TYPE_CHECKING:
    from rich.table import Table as Printed

    from crivello.lab.graph import Axioms, Outcome, Table, Verdict

_AXIOMS = {
    "size_of_clique": "size (clique)",
    "size_of_cycle": "size (cycle)",
    "density": "density",
    "score_monotonicity": "score monotone",
    "rank_monotonicity": "rank monotone",
}


def graph(
    measure: Annotated[
        str,
        typer.Option("--measure", metavar="M,…", help="some measures; default: all", show_default=False),
    ] = "",
    plot: Annotated[
        str,
        typer.Option("--plot", metavar="FILE", help="draw the examples: .svg or .png", show_default=False),
    ] = "",
    json: Json = False,
) -> None:
    """Compare all measures of importance on small graphs where they disagree, and compute their axioms.

    For each graph: the value of each kind of node, with its rank; * marks the best. Then the axioms for centrality
    (Boldi and Vigna): yes if they hold on all graphs that were tried, no if there is a counterexample, which --json
    shows.

    \b
    Examples:
      crivello lab graph
      crivello lab graph --measure indegree,outdegree --plot examples.svg
      crivello lab graph --json
    """
    from crivello.lab.graph import study
    from crivello.plots import check_format

    if plot:
        check_format(Path(plot))
    measures = measures_of(measure) if measure else list(registry().values())
    with progress_of("axioms") as progress:
        outcome = study(measures, progress=progress)
    if plot:
        from crivello.lab.graph.plot import draw

        draw(outcome, Path(plot))
        say(f"drew the examples to {plot}")
    if json:
        print_json(outcome.to_dict())
    else:
        _print(outcome)


def _print(outcome: Outcome) -> None:
    console = stdout_console()
    for table in outcome.tables:
        emit(f"{table.example}: {table.about}")
        console.print(_example(table))
        emit("")
    emit("the axioms, on everything that was tried:")
    console.print(_axioms(outcome.axioms))
    for measure, found in outcome.axioms.items():
        if found.unknown:
            say(f"{measure} is not defined here: {found.unknown}")


def _example(table: Table) -> Printed:
    roles = [f"{role} ×{count}" if count > 1 else role for role, count in table.roles]
    printed = _table("measure", *roles)
    for row in table.rows:
        if row.unknown:
            printed.add_row(row.measure, *["-"] * len(roles))
            continue
        cells = [
            f"{value:.4g} ({rank:g}){'*' if role in row.best else ' '}"
            for (role, _), value, rank in zip(table.roles, row.values, row.ranks, strict=True)
        ]
        printed.add_row(row.measure, *cells)
    return printed


def _axioms(axioms: dict[str, Axioms]) -> Printed:
    printed = _table("measure", *_AXIOMS.values())
    for measure, found in axioms.items():
        printed.add_row(measure, *(_said(getattr(found, name)) for name in _AXIOMS))
    return printed


def _said(verdict: Verdict | None) -> str:
    return "-" if verdict is None else "yes" if verdict.holds else "no"


def _table(*columns: str) -> Printed:
    from rich.table import Table

    printed = Table(box=None, padding=(0, 2, 0, 0))
    for place, column in enumerate(columns):
        printed.add_column(column, justify="right" if place else "left", no_wrap=place == 0)
    return printed
