"""Private: results as Arrow, polars and pandas tables.

Rows are inserted in batches into an in-memory DuckDB table, about as large as their values, which DuckDB
exports through the Arrow PyCapsule interface. Any library that reads it (pyarrow, polars, pandas, nanoarrow,
DuckDB …) can read these tables, and none has to be installed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from crivello._extras import optional
from crivello.errors import CrivelloError

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow

_BATCH = 10_000


class Tabular(ABC):
    """Base class of tables: ``pyarrow.table(it)``, ``polars.DataFrame(it)`` and the methods below convert it.

    Subclasses define ``_columns`` (names with SQL types) and ``_rows`` (a tuple per row).
    """

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> Mapping[str, str]: ...

    @abstractmethod
    def _rows(self) -> Iterable[tuple[Any, ...]]: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface."""
        return self._relation().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """Converts to an Arrow table; needs the package pyarrow."""
        table: pyarrow.Table = _package("pyarrow").table(self)
        return table

    def to_polars(self) -> polars.DataFrame:
        """Converts to a polars data frame; needs the package polars."""
        table: polars.DataFrame = _package("polars").DataFrame(self)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Converts to a pandas data frame; needs the package pandas."""
        _package("pandas")
        table: pandas.DataFrame = self._relation().df()
        return table

    def _relation(self) -> duckdb.DuckDBPyRelation:
        with optional():
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
    """Transposes rows to columns."""
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
