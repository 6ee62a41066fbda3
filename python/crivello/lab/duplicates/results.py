"""The results of a study, as a DuckDB file that can be queried further.

stream  one row: source, elements, distinct, skew, seed, distance
runs    one row per combination: filter, cells, bits, k, max, p, wanted (the bound that P was solved from),
        tp, fp, fn, tn, precision, recall, f1, fpr, fnr, fill, seconds
series  one row per combination and window of the stream: run, position (the window's end), tp, fp, fn, tn
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crivello._extras import optional
from crivello.lab.duplicates.runs import Run, window_bounds
from crivello.lab.duplicates.stream import Stream

with optional():
    import duckdb

FILE = "duplicates.duckdb"

_COUNTS = ("tp", "fp", "fn", "tn")
_RATES = ("precision", "recall", "f1", "fpr", "fnr")


def save(folder: Path, stream: Stream, distinct: int, runs: Sequence[Run]) -> Path:
    """Writes the file atomically (temporary file, then rename); returns its path."""
    path, fresh = folder / FILE, folder / f"{FILE}.new"
    fresh.unlink(missing_ok=True)
    with duckdb.connect(str(fresh)) as database:
        database.execute(
            "CREATE TABLE stream AS SELECT $1::VARCHAR AS source, $2::BIGINT AS elements, "
            "$3::BIGINT AS distinct_elements, $4::DOUBLE AS skew, $5::BIGINT AS seed, $6::BIGINT AS distance",
            [stream.source, len(stream), distinct, stream.skew, stream.seed, stream.distance],
        )
        _create(database, "runs", [_run_row(number, run) for number, run in enumerate(runs)])
        ends = [end for _, end in window_bounds(len(stream))]
        _create(
            database,
            "series",
            [
                {"run": number, "position": end, **_counts(window.to_dict())}
                for number, run in enumerate(runs)
                for end, window in zip(ends, run.windows, strict=True)
            ],
        )
    fresh.replace(path)
    return path


def _run_row(number: int, run: Run) -> dict[str, Any]:
    one, rates = run.combination, run.whole.to_dict()
    return {
        "run": number,
        "filter": one.filter,
        "cells": one.cells,
        "bits": one.bits,
        "k": one.k,
        "max": one.max,
        "p": one.p,
        "wanted": np.nan if one.wanted is None else one.wanted,
        **_counts(rates),
        **{name: np.nan if rates[name] is None else rates[name] for name in _RATES},
        "fill": run.fill,
        "seconds": run.seconds,
    }


def _counts(rates: dict[str, float | None]) -> dict[str, float | None]:
    return {name: rates[name] for name in _COUNTS}


def _create(database: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    """Creates a table of these rows; missing numbers are passed as NaN and stored as NULL."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    database.register("columns", columns)
    chosen = [
        f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}" if column.dtype.kind == "f" else name
        for name, column in columns.items()
    ]
    database.execute(f"CREATE TABLE {table} AS SELECT {', '.join(chosen)} FROM columns")
    database.unregister("columns")
