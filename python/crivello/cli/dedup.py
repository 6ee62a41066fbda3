"""crivello dedup: finds duplicates and near-duplicates in corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from crivello.cli.options import Json, size
from crivello.cli.output import print_json, print_table, say, stderr_console

_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("dedup")(dedup)


def dedup(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="files, folders, collections or patterns; -: standard input",
            show_default=False,
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="exact|simhash|fingerprint|minhash|substring",
            help="what makes documents duplicates; substring: passages are removed",
        ),
    ] = "minhash",
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help="the corpus without duplicates; DIR/: a file for each input"
        ),
    ] = "",
    clusters: Annotated[
        str, typer.Option("--clusters", metavar="FILE", help='JSON lines {"keep": id, "drop": [ids]}')
    ] = "",
    pairs: Annotated[
        str, typer.Option("--pairs", metavar="FILE", help='JSON lines {"a": id, "b": id, "similarity": x}')
    ] = "",
    report: Annotated[
        str, typer.Option("--report", metavar="FILE", help="a report: .md, .html, or a folder for both")
    ] = "",
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="FILE", help="remove what is in this corpus, too; may be repeated"),
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="document|paragraph|line", help="what is compared and removed")
    ] = "document",
    boilerplate: Annotated[
        str,
        typer.Option(
            "--boilerplate",
            metavar="keep|drop",
            help="drop: lines that many documents of a site share do not count",
        ),
    ] = "keep",
    keep: Annotated[
        str, typer.Option("--keep", metavar="first|longest", help="which document of a cluster is kept")
    ] = "first",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", metavar="X", help="least similarity of duplicates, 0 to 1 [default: 0.7]"
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", metavar="jaccard|containment|overlap", help="the similarity [default: jaccard]"
        ),
    ] = None,
    confirm: Annotated[
        str | None,
        typer.Option(
            "--confirm",
            metavar="ngrams|words",
            help="what candidates must have in common; words: 0.9 of them by default [default: ngrams]",
        ),
    ] = None,
    linkage: Annotated[
        str | None,
        typer.Option(
            "--linkage",
            metavar="leader|complete",
            help="a document is similar to the first one of its cluster, or to all [default: leader]",
        ),
    ] = None,
    signals: Annotated[
        str | None,
        typer.Option("--signals", metavar="words|characters", help="units of n-grams [default: words]"),
    ] = None,
    ngram: Annotated[
        int | None,
        typer.Option(
            "--ngram",
            metavar="N",
            help="units of an n-gram [default: 3 words, of simhash 2; 5 characters]; substring: words [50]",
        ),
    ] = None,
    distance: Annotated[
        int | None,
        typer.Option("--distance", metavar="N", help="simhash: bits that may differ [default: 5 of 64]"),
    ] = None,
    bits: Annotated[
        int | None, typer.Option("--bits", metavar="32|64|128", help="simhash: its bits [default: 64]")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="set|frequency|tf-idf", help="simhash: of an n-gram [default: frequency]"
        ),
    ] = None,
    bins: Annotated[
        int | None, typer.Option("--bins", metavar="N", help="minhash: numbers of a sketch [default: 128]")
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            "--recall",
            metavar="X",
            help="minhash: share of pairs at the threshold to be found [default: 0.99]",
        ),
    ] = None,
    modulus: Annotated[
        int | None,
        typer.Option("--modulus", metavar="N", help="fingerprint: one n-gram in N is kept [default: 8]"),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", help="fingerprint: winnowing, the least of N n-grams is kept"),
    ] = None,
    ignore: Annotated[
        str, typer.Option("--ignore", metavar="LIST", help="exact: of markup,case,digits,dates,space")
    ] = "",
    sampled: Annotated[
        bool, typer.Option("--sampled", help="exact: read only three samples of large documents")
    ] = False,
    field: Annotated[
        str, typer.Option("--field", metavar="NAME", help="field or column with the text")
    ] = "text",
    id: Annotated[
        str, typer.Option("--id", metavar="NAME", help="field or column with the id; else url, or the number")
    ] = "id",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="auto, jsonl, parquet, csv, lines, files, warc or collection; auto: by content",
        ),
    ] = "auto",
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="SIZE", help="memory budget [default: 32 bytes a document, up to 1G]"
        ),
    ] = "",
    threads: Annotated[int, typer.Option("--threads", min=0, metavar="N", help="0: one for each core")] = 0,
    work: Annotated[
        str,
        typer.Option(
            "--work", metavar="DIR", help="folder for temporary files [default: beside the outputs]"
        ),
    ] = "",
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="let the workers of the Ray cluster at this address read the inputs, one task each, and compare; "
            "local: of one started on this machine",
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Remove duplicates and near-duplicates from a corpus, or list them as pairs or clusters.

    Reads JSON lines, Parquet, CSV, text (a document a line), WARC and WET, plain or compressed, folders of
    files and collections. A copy has the form of the input, or is JSON lines if its name ends in .jsonl. Every
    pair is verified. Without outputs it only counts. After Ctrl-C or a crash the same command goes on.

    \b
    Examples:
      crivello dedup pages.jsonl --threshold 0.8 --out clean.jsonl --clusters clusters.jsonl
      crivello dedup crawl.warc.gz --out clean.warc.gz --report report.html
      crivello dedup crawl.warc.gz --boilerplate drop --out clean.jsonl
      crivello dedup 'train-*.parquet' --against test.jsonl --out clean/
      crivello dedup 'crawl-*.warc.gz' --out clean/ --cluster 192.0.2.7:6379
      crivello dedup book.txt --method exact --ignore case,space --out -
      crivello dedup pages.jsonl --method substring --ngram 50 --out clean.jsonl
      crivello dedup posts.csv --field body --unit paragraph --method exact --out clean.csv
    """
    from crivello.dedup import run
    from crivello.errors import InvalidArgument

    if json and "-" in (out, clusters, pairs):
        raise InvalidArgument("--json and another output both go to standard output", hint="name a file")
    with _shown() as progress:
        try:
            found = run(
                inputs,
                out=out,
                pairs=pairs,
                clusters=clusters,
                report=report,
                against=against or (),
                field=field,
                id=id,
                format=format,
                work=work,
                cluster=cluster,
                progress=progress,
                method=method,
                unit=unit,
                boilerplate=boilerplate,
                keep=keep,
                threshold=threshold,
                measure=measure,
                confirm=confirm,
                linkage=linkage,
                signals=signals,
                ngram=ngram,
                distance=distance,
                bits=bits,
                weights=weights,
                bins=bins,
                recall=recall,
                modulus=modulus,
                window=window,
                ignore=[word for word in ignore.split(",") if word] or None,
                sampled=sampled or None,
                memory=size(memory, "--memory") if memory else None,
                threads=threads,
            )
        except KeyboardInterrupt:
            say(f"stopped; the same command {'begins anew' if method == 'substring' else 'goes on'}")
            raise
    for damage in found.damage[:_SHOWN]:
        say(f"warning: {damage}")
    if (more := len(found.damage) - _SHOWN) > 0:
        say(f"warning: {more:,} more damaged places")
    if json:
        print_json(found.to_dict())
    else:
        print_table("", found._figures())


@contextmanager
def _shown() -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar with a line for each stage; ``None`` without a terminal."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import Progress, TaskID

    tasks: dict[str, TaskID] = {}
    with Progress(console=console, transient=True) as bar:

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield told
