"""crivello evaluate: measures a run, or compares two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.options import Json
from crivello.cli.output import print_json, say, stdout_console

if TYPE_CHECKING:
    from crivello.evaluate import Comparison, Evaluation

_LISTED = 10


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("evaluate")(evaluate_runs)
    app.command("eval", hidden=True)(evaluate_runs)  # the short form, for those who type it often


def evaluate_runs(
    judgments: Annotated[
        str,
        typer.Argument(
            metavar="QRELS",
            help="relevance judgments: query, 0, document, grade; -: standard input",
            show_default=False,
        ),
    ],
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="a TREC run, as search --batch writes it", show_default=False)
    ],
    other: Annotated[
        str | None,
        typer.Argument(metavar="RUN2", help="another run to compare with the first", show_default=False),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="a measure by its name in ir-measures, instead of the default ones; may be repeated",
            show_default=False,
        ),
    ] = None,
    graded: Annotated[
        bool, typer.Option("--graded", help="take the grades of judgments in three columns as they are")
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="also show each query")] = False,
    plot: Annotated[
        str,
        typer.Option(
            "--plot", metavar="FILE", help="plot each query's value, or difference, to a .png or .svg file"
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Evaluate a run against relevance judgments: AP, nDCG@10, P@5, P@10, R@100, R@1000, RR, Bpref, Rprec.

    Means are over all queries of the judgments; a query without results in the run counts as 0. With two
    runs: the difference, the queries that the second wins and loses, and the p-value of the difference.

    \b
    Examples:
      crivello evaluate qrels.txt example.run
      crivello evaluate qrels.txt example.run --measure AP --measure nDCG@20 --per-query --json
      crivello evaluate qrels.txt before.run after.run --plot difference.png
    """
    from pathlib import Path

    from crivello.evaluate import DEFAULT_MEASURES, Evaluator, compare, read_judgments
    from crivello.search.runs import read_run

    if plot:
        from crivello.plots import check_format

        check_format(Path(plot))
    evaluator = Evaluator(read_judgments(judgments, graded=graded), measure or DEFAULT_MEASURES)
    names = [run] if other is None else [run, other]
    evaluations = [evaluator.evaluate(read_run(name)) for name in names]
    for name, evaluation in zip(names, evaluations, strict=True):
        _warn(name, evaluation)
    first, second = evaluations[0], evaluations[1] if other is not None else None
    if plot:
        from crivello.evaluate.plot import draw

        draw(Path(plot), first, second, run if other is None else f"{other} less {run}")
    if second is None:
        if json:
            print_json(first.to_dict(per_query=per_query))
        else:
            _print_one(first, per_query)
        return
    comparisons = compare(first, second)
    if json:
        print_json(_json_of_two(comparisons, first, second, per_query))
    else:
        _print_two(names, comparisons, first, second, per_query)


def _warn(name: str, evaluation: Evaluation) -> None:
    if evaluation.unknown:
        say(
            f"warning: {name} has {len(evaluation.unknown):,} queries that nobody judged, and they count for "
            f"nothing: {_listed(evaluation.unknown)}"
        )
    if evaluation.missing:
        say(
            f"{name} has nothing for {len(evaluation.missing):,} of the {len(evaluation.queries):,} judged queries, "
            f"and they count as 0: {_listed(evaluation.missing)}"
        )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_LISTED]) + (" ..." if len(names) > _LISTED else "")


def _print_one(evaluation: Evaluation, per_query: bool) -> None:
    from rich.table import Table

    means = evaluation.means
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("query" if per_query else "measure", no_wrap=True)
    if per_query:
        for measure in evaluation.measures:
            table.add_column(measure, justify="right")
        for query, values in evaluation.queries.items():
            table.add_row(query, *(f"{value:.4f}" for value in values.values()))
        table.add_row("mean", *(f"{value:.4f}" for value in means.values()))
    else:
        table.add_column("mean", justify="right")
        for measure, value in means.items():
            table.add_row(measure, f"{value:.4f}")
    stdout_console().print(table)
    say(f"{len(evaluation.queries):,} queries")


def _print_two(
    names: list[str], comparisons: list[Comparison], first: Evaluation, second: Evaluation, per_query: bool
) -> None:
    from rich.table import Table

    console = stdout_console()
    if per_query:
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("query", no_wrap=True)
        for measure in first.measures:
            table.add_column(measure, justify="right")
        for query, values in first.queries.items():
            cells = ((values[name], second.queries[query][name]) for name in first.measures)
            table.add_row(query, *(f"{one:.4f} {two:.4f}" for one, two in cells))
        console.print(table)
        console.print()
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("measure", no_wrap=True)
    for column in ("first", "second", "difference", "wins", "losses", "ties", "p, random", "p, t"):
        table.add_column(column, justify="right")
    for row in comparisons:
        table.add_row(
            row.measure,
            f"{row.first:.4f}",
            f"{row.second:.4f}",
            f"{row.difference:+.4f}",
            *(f"{count:,}" for count in (row.wins, row.losses, row.ties)),
            f"{row.p_randomisation:.5f}",
            "-" if row.p_t_test is None else f"{row.p_t_test:.5f}",
        )
    console.print(table)
    say(f"{len(first.queries):,} queries; first: {names[0]}, second: {names[1]}")


def _json_of_two(
    comparisons: list[Comparison], first: Evaluation, second: Evaluation, per_query: bool
) -> dict[str, object]:
    means: dict[str, object] = {row.measure: row.to_dict() for row in comparisons}
    means["NumQ"] = len(first.queries)
    if not per_query:
        return means
    queries = {
        query: {name: [value, second.queries[query][name]] for name, value in values.items()}
        for query, values in first.queries.items()
    }
    return {"mean": means, "queries": queries}
