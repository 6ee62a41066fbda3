"""crivello lab tune: fits search settings to relevance judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json, progress_of, say, stdout_console

if TYPE_CHECKING:
    from crivello.lab.tune import Study


def tune(
    folder: Folder,
    judgments: Annotated[
        str, typer.Argument(metavar="QRELS", help="relevance judgments, as for evaluate", show_default=False)
    ],
    topics: Annotated[
        str, typer.Argument(metavar="TOPICS", help="topics, as for search --batch", show_default=False)
    ],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=LOW:HIGH",
            help="a numeric search setting and its range; may be repeated [default: k1=0.4:3, b=0:1]",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[str, typer.Option("--measure", metavar="NAME", help="measure to maximise")] = "AP",
    folds: Annotated[int, typer.Option("--folds", min=2, max=1000, help="number of folds of the topics")] = 5,
    budget: Annotated[int, typer.Option("--budget", min=1, help="maximum number of settings to try")] = 100,
    top: Annotated[
        int, typer.Option("--top", min=1, max=1000, help="number of results per topic to evaluate")
    ] = 100,
    graded: Annotated[
        bool, typer.Option("--graded", help="take the grades of judgments in three columns as they are")
    ] = False,
    json: Json = False,
) -> None:
    """Fit search settings to relevance judgments, by cross-validation.

    Each fold of the topics is evaluated with the settings fitted to the other folds, and with the current
    settings of the collection. The last lines, fitted to all topics, are for crivello.toml; the collection is
    not changed.

    \b
    Examples:
      crivello lab tune example qrels.txt topics.txt
      crivello lab tune example qrels.txt topics.txt --parameter k1=0.4:3 --parameter rank_weight=0:5 --measure nDCG@10
    """
    from crivello.collection import Collection
    from crivello.evaluate import read_judgments
    from crivello.lab.tune import DEFAULT_PARAMETERS, parse_parameter
    from crivello.lab.tune import tune as fit
    from crivello.search.topics import read_topics

    parameters = [parse_parameter(text) for text in parameter or []] or DEFAULT_PARAMETERS
    judged = read_judgments(judgments, graded=graded)
    asked = read_topics(topics)
    collection = Collection(folder)
    with progress_of("settings") as progress:
        study = fit(
            collection.searcher(),
            collection.settings.search,
            asked,
            judged,
            parameters=parameters,
            measure=measure,
            folds=folds,
            budget=budget,
            top=top,
            progress=progress,
        )
    if json:
        print_json(study.to_dict())
    else:
        _print(study)


def _print(study: Study) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("fold")
    for column in (*study.fitted, "train", "test", "now"):
        table.add_column(column, justify="right")
    for number, fold in enumerate(study.folds, 1):
        scores = (f"{score:.4f}" for score in (fold.train, fold.test, fold.now))
        table.add_row(str(number), *map(_shown, fold.values.values()), *scores)
    table.add_row("mean", *[""] * (len(study.fitted) + 1), f"{study.test:.4f}", f"{study.now:.4f}")
    stdout_console().print(table)
    now = ", ".join(f"{name} = {_shown(value)}" for name, value in study.values_now.items())
    say(
        f"{study.measure} of {study.topics:,} topics under {study.evaluations:,} settings; now: {now}; "
        f"p of {study.test - study.now:+.4f} by chance: {study.p:.4f}"
    )
    if study.passed_over:
        say(f"{len(study.passed_over):,} topics have no judgment, and were passed over")
    say(f"fitted to all topics, where {study.measure} is {study.train:.4f}; for crivello.toml:")
    emit("\n[search]")
    for name, value in study.fitted.items():
        emit(f"{name} = {_shown(value)}")


def _shown(value: float) -> str:
    return f"{value:g}"
