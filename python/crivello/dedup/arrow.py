"""Arrow in and out: record batches without the rows whose texts are duplicates, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from crivello._tables import _package
from crivello.dedup.arguments import text
from crivello.dedup.deduplicator import Deduplicator
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow

_ROWS = 1000


def arrow(batches: Any, column: str = "text", **options: Any) -> Iterator[pyarrow.RecordBatch]:
    """The record batches of a table or a stream without duplicates; needs the package pyarrow.

    ``batches`` is anything with the Arrow PyCapsule interface (tables of pyarrow, Polars, DuckDB, pandas, ``datasets``), or an iterable of
    record batches, as Spark's ``mapInArrow`` gives them; ``options`` are those of ``Deduplicator``. A table without rows yields one
    batch without rows.

        >>> clean = pl.DataFrame(pa.Table.from_batches(arrow(frame, "text", threshold=0.8)))
        >>> spark_frame.mapInArrow(lambda some: arrow(some, "text"), spark_frame.schema)
    """
    pa = _package("pyarrow")
    duplicates = Deduplicator(**options)
    return _kept(pa, _batches(pa, batches), text("column", column), duplicates)


def _batches(pa: Any, batches: Any) -> Iterable[pyarrow.RecordBatch]:
    try:
        if hasattr(batches, "__arrow_c_stream__"):
            return _of_stream(pa, pa.RecordBatchReader.from_stream(batches))
        if hasattr(batches, "__arrow_c_array__"):
            return [pa.record_batch(batches)]
    except pa.ArrowInvalid as error:
        # An array, and not a table; or a table that is none of Arrow.
        raise InvalidArgument(
            f"{type(batches).__name__} gives no record batches: {error}", hint="give a table, not a column"
        ) from None
    if hasattr(batches, "with_format") and hasattr(batches, "iter"):
        # A dataset of the package datasets: its batches are tables.
        batches = batches.with_format("arrow").iter(_ROWS)
    if not isinstance(batches, Iterable):
        raise _unknown(batches)
    return _flat(pa, batches)


def _of_stream(pa: Any, reader: pyarrow.RecordBatchReader) -> Iterator[pyarrow.RecordBatch]:
    """The batches of a stream; one without rows if there is none, since only batches have the schema."""
    is_empty = True
    for batch in reader:
        is_empty = False
        yield batch
    if is_empty:
        columns = [pa.nulls(0, field.type) for field in reader.schema]
        yield pa.RecordBatch.from_arrays(columns, schema=reader.schema)


def _flat(pa: Any, batches: Iterable[Any]) -> Iterator[pyarrow.RecordBatch]:
    for some in batches:
        if isinstance(some, pa.RecordBatch):
            yield some
        elif isinstance(some, pa.Table):
            yield from _of_stream(pa, some.to_reader())
        else:
            raise _unknown(some)


def _unknown(given: object) -> InvalidArgument:
    return InvalidArgument(
        f"{type(given).__name__} is no table and no stream of record batches",
        hint="give what has __arrow_c_stream__, a dataset, or an iterable of pyarrow.RecordBatch",
    )


def _kept(
    pa: Any, batches: Iterable[pyarrow.RecordBatch], column: str, duplicates: Deduplicator
) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        stays = duplicates.add(batch.column(_place(batch.schema, column)))
        # Slices, since filters do not take all types (views of strings, as Polars has them).
        edges = np.flatnonzero(np.diff(stays, prepend=False, append=False)).reshape(-1, 2).tolist()
        yield pa.concat_batches([batch.slice(start, end - start) for start, end in edges or [[0, 0]]])


def _place(schema: pyarrow.Schema, column: str) -> int:
    """The index of the column with the texts."""
    places = schema.get_all_field_indices(column)
    if not places:
        others = f"only {', '.join(schema.names)}" if schema.names else "and no other"
        raise InvalidArgument(
            f"there is no column {column!r}, {others}", hint="column names the one with the text"
        )
    if len(places) > 1:
        raise InvalidArgument(f"there are {len(places)} columns {column!r}", hint="give each its own name")
    return int(places[0])
