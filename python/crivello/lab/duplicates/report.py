"""The report of a study: Markdown with tables and plots, made from the DuckDB file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crivello._extras import optional
from crivello.lab.duplicates.grid import best_hashes, bound_of
from crivello.lab.duplicates.plots import draw_all, reference, short
from crivello.lab.duplicates.results import FILE

with optional():
    import duckdb

REPORT = "report.md"

# The three best combinations of the study, on a stream of Common Crawl URLs: K, F1, seconds in Python.
STUDY_CELLS, STUDY_P = 40_000_000, 4
STUDY = ((8, 0.748, 136.5), (6, 0.730, 123.5), (4, 0.666, 103.1))

_BEST = """
    SELECT filter, cells, bits / 8e6, k, max, p, wanted, f1, precision, recall, fpr, seconds
    FROM runs WHERE {condition} ORDER BY f1 DESC NULLS LAST, seconds LIMIT {limit}
"""
_HEADER = ("filter", "m", "MB", "K", "Max", "P", "FPS", "F1", "precision", "recall", "FPR", "time (s)")


def write(folder: Path, seconds: float) -> Path:
    """Draws the plots and writes the report; ``seconds`` is the time the study took so far."""
    with duckdb.connect(str(folder / FILE), read_only=True) as database:
        plots = draw_all(database, folder)
        text = "\n".join(_sections(database, seconds)) + "\n"
        for plot in plots:
            text += f"\n## {plot.title}\n\n![{plot.title}]({plot.file})\n\n{plot.caption}\n"
    path, fresh = folder / REPORT, folder / f"{REPORT}.new"
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
    return path


def best(database: duckdb.DuckDBPyConnection, condition: str, limit: int) -> list[tuple[Any, ...]]:
    """The best combinations by F1."""
    return database.execute(_BEST.format(condition=condition, limit=limit)).fetchall()


def _sections(database: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[str]:
    stream = database.execute("SELECT * FROM stream").fetchone()
    counted = database.execute("SELECT count(*), sum(seconds) FROM runs").fetchone()
    assert stream is not None and counted is not None
    source, elements, distinct, skew, seed, distance = stream
    share = 1 - distinct / elements
    yield "# Duplicates in a stream: Bloom against Stable Bloom\n"
    how = f"duplicates {distance:,} elements apart" if distance else f"skew {skew or 0:g}"
    made = f", {how}, seed {seed}" if source == "generated" else ""
    yield f"- Stream: {source}{made}; {elements:,} elements, {distinct:,} distinct ({1 - share:.1%})."
    yield f"- {counted[0]} combinations in {seconds:.0f} s, {os.cpu_count()} at a time. A combination's time is that of its"
    yield f"  own calls while the others ran; all together {counted[1]:.0f} s."
    yield f"- Who calls every element a duplicate has F1 = {2 * share / (1 + share):.3f}; a filter below that is of"
    yield "  use for its precision alone."
    yield f"- Everything that was measured is in `{FILE}` (tables `stream`, `runs`, `series`).\n"
    yield "## The best combinations\n"
    yield from _table(best(database, "filter = 'stable'", 10))
    yield "\nand of the Bloom filter\n"
    yield from _table(best(database, "filter = 'bloom'", 5))
    yield "\n## Bloom and Stable Bloom, best for each number of cells\n"
    cells = database.execute("SELECT DISTINCT cells FROM runs ORDER BY cells").fetchall()
    kinds = ("filter = 'bloom'", "filter = 'stable'", reference(database))
    yield from _table(
        [
            row
            for (size,) in cells
            for kind in kinds
            for row in best(database, f"{kind} AND cells = {size}", 1)
        ]
    )
    yield "\nThe third of each is the best one with the P of the reference bound, so that its false positives stay level"
    yield "however long the stream is. Without a bound a stable filter with a small P is nearly a Bloom filter."
    yield from _best_hashes(database, distinct)
    yield from _beside_the_study(database)


def _best_hashes(database: duckdb.DuckDBPyConnection, distinct: int) -> Iterator[str]:
    """The Bloom filters whose K is the best for the stream's distinct elements, with what theory expects."""
    yield "\n## Bloom with K = ln 2 · m/n\n"
    yield f"For the n = {distinct:,} distinct elements. The rate is the one at the end of the stream, in its last window; it"
    yield "is expected to be (1 − e^(−Kn/m))^K.\n"
    rows = []
    for (cells,) in database.execute("SELECT DISTINCT cells FROM runs ORDER BY cells").fetchall():
        k = best_hashes(cells, distinct)
        found = database.execute(
            "SELECT f1, (SELECT fp / (fp + tn) FROM series s WHERE s.run = r.run AND fp + tn > 0 "
            "ORDER BY position DESC LIMIT 1) FROM runs r WHERE filter = 'bloom' AND cells = ? AND k = ?",
            [cells, k],
        ).fetchone()
        if found is None:
            continue
        expected = -math.expm1(-k * distinct / cells)
        shown = [_rate(number, 4) for number in (*found, expected**k)]
        rows.append((short(cells), f"{math.log(2) * cells / distinct:.2f}", k, *shown))
    yield from _markdown(("m", "ln 2 · m/n", "K", "F1", "FPR at the end", "expected"), rows)


def _beside_the_study(database: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Our runs compared with the three best rows of the study, if the grid has them."""
    rows = []
    for k, f1, seconds in STUDY:
        condition = f"filter = 'stable' AND p = {STUDY_P} AND max = 1 AND k = {k} AND cells = {STUDY_CELLS}"
        found = best(database, condition, 1)
        if found:
            bound = f"{bound_of(STUDY_CELLS, k, 1, STUDY_P):.4f}"
            rows.append((k, bound, f"{f1:.3f}", _rate(found[0][7]), seconds, f"{found[0][11]:.1f}"))
    if not rows:
        return
    yield "\n## Beside the study\n"
    yield f"Its best rows (FPS 0.05, m = 40 M, Max 1, P = {STUDY_P}), measured there on URLs of Common Crawl, and the same"
    yield f"filters here. With K = 4 and P = {STUDY_P} the bound is above the 0.05 asked for: it takes P = 5.\n"
    yield from _markdown(("K", "bound", "F1 there", "F1 here", "time there (s)", "time here (s)"), rows)


def _table(rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    shown = []
    for filter, cells, megabytes, k, maximum, p, wanted, *rates, seconds in rows:
        parameters = (short(cells), f"{megabytes:g}", k)
        stable = (maximum, p, "" if wanted is None else f"{wanted:g}") if filter == "stable" else ("", "", "")
        numbers = map(_rate, rates)
        shown.append((filter, *parameters, *stable, *numbers, f"{seconds:.2f}"))
    yield from _markdown(_HEADER, shown)


def _rate(rate: float | None, digits: int = 3) -> str:
    """A rate as it is shown; a stream without duplicates, or of nothing else, leaves some undefined."""
    return "-" if rate is None else f"{rate:.{digits}f}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
