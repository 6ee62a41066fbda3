"""The exact answer, from DuckDB: an element is a duplicate if and only if it came earlier in the stream.

The native pass leaves 9 bytes for every element, its 64-bit signature and the verdict on it. They go into a
table with their positions; each group of equal signatures has one first element, which is new, and the others are
duplicates. So one aggregation computes all four counts. DuckDB respects its memory limit and spills to the folder
beyond it: about 20 bytes of disk per element.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crivello._extras import optional
from crivello.errors import StorageError
from crivello.stream.confusion import Confusion

with optional():
    import duckdb

ENTRY = np.dtype([("signature", "<u8"), ("judged", "?")])
MEMORY_LIMIT = "1GB"

_ELEMENTS_A_CHUNK = 1 << 20


def entries(record: Path) -> Iterator[NDArray[np.void]]:
    """The records of the native pass, in chunks."""
    with record.open("rb") as file:
        while len(chunk := np.fromfile(file, ENTRY, _ELEMENTS_A_CHUNK)):
            yield chunk


def check(record: Path, folder: Path) -> Confusion:
    """The confusion matrix of the judge; ``folder`` is for temporary files."""
    try:
        return _check(record, folder)
    except duckdb.Error as error:
        raise StorageError(f"{folder}: DuckDB could not work out the exact answer: {error}", folder) from None
    except RuntimeError as error:
        # DuckDB raises this on Ctrl-C while a query runs.
        if "interrupted" in str(error):
            raise KeyboardInterrupt from None
        raise


def _check(record: Path, folder: Path) -> Confusion:
    configuration: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": str(folder / "spilled"),
    }
    with duckdb.connect(str(folder / "truth.duckdb"), config=configuration) as database:
        database.execute("CREATE TABLE stream (position BIGINT, signature UBIGINT, judged BOOLEAN)")
        position = 0
        for chunk in entries(record):
            columns = {
                "position": np.arange(position, position + len(chunk)),
                "signature": np.ascontiguousarray(chunk["signature"]),
                "judged": np.ascontiguousarray(chunk["judged"]),
            }
            database.execute("INSERT INTO stream SELECT * FROM columns")
            position += len(columns["position"])
        firsts = "SELECT arg_min(judged, position) AS judged FROM stream GROUP BY signature"
        distinct, false_positives = _counts(database, f"({firsts})")
        elements, positives = _counts(database, "stream")
    true_positives = positives - false_positives
    return Confusion(
        true_positives=true_positives,
        false_positives=false_positives,
        false_negatives=elements - distinct - true_positives,
        true_negatives=distinct - false_positives,
    )


def _counts(database: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    found = database.execute(f"SELECT count(*), count(*) FILTER (judged) FROM {table}").fetchone()
    assert found is not None
    return found[0], found[1]
