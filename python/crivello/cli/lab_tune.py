"""crivello lab tune: which settings of the search fit these judgments?"""

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
        str, typer.Argument(metavar="QRELS", help="judgments of relevance, as for eval", show_default=False)
    ],
    topics: Annotated[
        str, typer.Argument(metavar="TOPICS", help="topics, as for search --batch", show_default=False)
    ],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=LOW:HIGH",
            help="a number among the settings of the search, and where to look for it; may be repeated [default: k1=0.4:3, b=0:1]",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", metavar="NAME", help="what to make as high as possible")
    ] = "AP",
    folds: Annotated[
        int, typer.Option("--folds", min=2, max=1000, help="into how many folds the topics are dealt")
    ] = 5,
    budget: Annotated[int, typer.Option("--budget", min=1, help="how many settings are tried at most")] = 100,
    top: Annotated[
        int, typer.Option("--top", min=1, max=1000, help="how many results of a topic are looked at")
    ] = 100,
    graded: Annotated[
        bool, typer.Option("--graded", help="take the grades of judgments in three columns as they are")
    ] = False,
    json: Json = False,
) -> None:
    """Fit settings of the search to judgments of relevance, by cross-validation.

    Each fold of the topics is measured with what was fitted to the others, beside the settings that the collection
    has now. The last lines, fitted to all topics, are for crivello.toml; the collection is not changed.

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
