"""Private: the pages of a collection, as an iterable and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from crivello._figures import table_html
from crivello._tables import Tabular
from crivello.store import Row, Table

_SHOWN = 20
_COLUMNS = {
    "url": "VARCHAR",
    "outcome": "VARCHAR",
    "status": "SMALLINT",
    "depth": "INTEGER",
    "fetched_at": "TIMESTAMPTZ",
    "content_type": "VARCHAR",
    "language": "VARCHAR",
    "title": "VARCHAR",
    "digest": "VARCHAR",
    "redirect": "VARCHAR",
    "duplicate_of": "VARCHAR",
    "near_duplicate_of": "VARCHAR",
    "near_bits": "TINYINT",
    "canonical": "VARCHAR",
    "noindex": "BOOLEAN",
    "address": "VARCHAR",
    "attempts": "INTEGER",
    "seconds": "DOUBLE",
    "detail": "VARCHAR",
}


class Pages(Tabular):
    """The newest version of each URL of a collection, or of a part of it: iterate over the rows, or convert
    them to a table.

    The length of a part takes a pass over it.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        site: str | None = None,
        prefix: str | None = None,
        since: float | None = None,
    ) -> None:
        self._name = name
        self._table = table
        self._site, self._prefix, self._since = site, prefix, since

    def __iter__(self) -> Iterator[Row]:
        since = self._since or 0.0
        return (row for rows in self._batches() for row in rows if row.fetched_at >= since)

    def __len__(self) -> int:
        if (self._site, self._prefix, self._since) == (None, None, None):
            return len(self._table)
        return sum(1 for _ in self)

    def _batches(self) -> Iterable[list[Row]]:
        if self._site is None and self._prefix is None:
            return (rows for rows, _ in self._table.batches(newest=True))
        return self._table.scan(site=self._site, prefix=self._prefix)

    def __repr__(self) -> str:
        return f"<Pages: {len(self):,} of {self._name}>"

    def _repr_html_(self) -> str:
        columns = ("status", "outcome", "url", "title")
        rows = ([getattr(row, column) for column in columns] for row in islice(self, _SHOWN))
        first = f", the first {_SHOWN}" if len(self) > _SHOWN else ""
        return table_html(f"{len(self):,} pages of {self._name}{first}", columns, rows)

    def _columns(self) -> Mapping[str, str]:
        return _COLUMNS

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        for row in self:
            yield tuple(_value(row, column) for column in _COLUMNS)


def _value(row: Row, column: str) -> Any:
    value = getattr(row, column)
    match column:
        case "fetched_at":
            return datetime.fromtimestamp(value, UTC)
        case "outcome":
            return str(value)
        case _:
            return value
