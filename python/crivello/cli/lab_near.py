"""crivello lab near: compares methods and thresholds for near-duplicates on a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.options import Json
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.lab.near import Method, Point, Study

# Of the tables: in a file their rows are lines.
_WIDTH = 140


def near(
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="JSON lines, plain, gzip or Zstandard; a folder of text files; or a collection",
            show_default=False,
        ),
    ],
    field: Annotated[str, typer.Option("--field", metavar="NAME", help="field of the text in JSON")] = "text",
    documents: Annotated[
        int, typer.Option("--documents", min=2, max=1_000_000, help="number of documents to sample")
    ] = 1000,
    method: Annotated[
        str,
        typer.Option("--method", metavar="LIST", help="some of exact, simhash, fingerprint, minhash"),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, help="random seed of sample and edits")] = 0,
    plot: Annotated[
        str, typer.Option("--plot", metavar="FILE", help="plot the results to a .png or .svg file")
    ] = "",
    json: Json = False,
) -> None:
    """Compare methods for near-duplicates on a corpus: precision and recall over their thresholds, time, size.

    Of each sampled document an edited copy is made (words replaced, sentences moved, paragraphs dropped,
    boilerplate added; 2, 5, 10 or 20 % of its words), and every method looks for these pairs.

    \b
    Examples:
      crivello lab near pages.jsonl --field body --plot near.svg
      crivello lab near texts/ --documents 5000 --method simhash,minhash
      crivello lab near example --json
    """
    from pathlib import Path

    from crivello.cli.output import print_json, progress_of, say
    from crivello.lab.near import sample, study
    from crivello.lab.near.plot import draw
    from crivello.plots import check_format

    if plot:
        check_format(Path(plot))
    chosen = _methods(method)
    texts = sample(corpus, field=field, documents=documents, seed=seed)
    with progress_of("methods") as progress:
        found = study(texts, methods=chosen, seed=seed, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        _print(found)
    if plot:
        draw(found, Path(plot))
        say(f"drew {plot}")


def _methods(text: str) -> list[Method]:
    from crivello.lab.near import METHODS

    families = list(dict.fromkeys(method.family for method in METHODS))
    wanted = [part.strip() for part in text.split(",") if part.strip()] or families
    for name in wanted:
        if name not in families:
            raise InvalidArgument(f"there is no method {name!r}", hint=f"there are {', '.join(families)}")
    return [method for method in METHODS if method.family in wanted]


def _print(found: Study) -> None:
    title = (
        f"{found.documents:,} documents, each with an edited copy ({found.left_out:,} left out as near-duplicates): "
        "every method with its best threshold"
    )
    _table(title, [found.best(family, method) for family, method in found.methods()])
    for family in dict.fromkeys(family for family, _ in found.methods()):
        if family != "exact":
            best = found.best(family).method
            _table(f"{family}, {best}: every threshold", found.of(family, best))


def _table(title: str, points: list[Point]) -> None:
    from rich.table import Table

    from crivello.cli.output import stdout_console

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    shares = list(points[0].recall_by_share)
    header = ("method", "", "threshold", "precision", "recall", "F1", *shares, "seconds", "bytes a document")
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place > 1 else "left")
    for point in points:
        table.add_row(
            point.family,
            point.method,
            f"{point.threshold:g}",
            *(f"{value:.3f}" for value in (point.precision, point.recall, point.f1)),
            *(f"{value:.3f}" for value in point.recall_by_share.values()),
            f"{point.seconds:.2f}",
            f"{point.bytes_per_document:,.0f}",
        )
    console = stdout_console()
    console.width = max(console.width, _WIDTH)
    console.print(table)
