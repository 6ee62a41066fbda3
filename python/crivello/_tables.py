"""Private: results as tables of Arrow, polars and pandas.

Rows go in batches into a table of DuckDB in memory, which takes about as many bytes as their values, and DuckDB
hands them out by Arrow's PyCapsule interface. So whatever reads that (pyarrow, polars, pandas, nanoarrow, DuckDB …)
reads ours, and none of it need be installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from crivello.errors import CrivelloError

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow

_BATCH = 10_000


class Tabular:
    """What is a table: ``pyarrow.table(it)``, ``polars.DataFrame(it)`` and the methods below read it.

    A class names its columns with their types in SQL in ``_columns``, and gives a tuple for each row in ``_rows``.
    """

    __slots__ = ()

    def _columns(self) -> Mapping[str, str]:
        raise NotImplementedError

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's PyCapsule interface."""
        return self._relation().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The table in Arrow; needs the package pyarrow."""
        table: pyarrow.Table = _package("pyarrow").table(self)
        return table

    def to_polars(self) -> polars.DataFrame:
        """The table in polars; needs the package polars."""
        table: polars.DataFrame = _package("polars").DataFrame(self)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """The table in pandas; needs the package pandas."""
        _package("pandas")
        table: pandas.DataFrame = self._relation().df()
        return table

    def _relation(self) -> duckdb.DuckDBPyRelation:
        import duckdb

        columns = self._columns()
        database = duckdb.connect()
        declared = ", ".join(f"{_quoted(name)} {kind}" for name, kind in columns.items())
        database.execute(f"CREATE TABLE found ({declared})")
        rows = iter(self._rows())
        while batch := list(islice(rows, _BATCH)):
            database.register("batch", dict(zip(columns, _arrays(batch), strict=True)))
            database.execute("INSERT INTO found SELECT * FROM batch")
        return database.table("found")


def _arrays(batch: list[tuple[Any, ...]]) -> Iterator[Any]:
    """The columns of some rows."""
    import numpy as np

    for column in zip(*batch, strict=True):
        array = np.empty(len(column), dtype=object)
        array[:] = column
        yield array


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise CrivelloError(
            f"this needs {name}, which is not installed", hint=f"pip install {name}"
        ) from None
