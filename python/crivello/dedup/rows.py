"""Corpora of rows: CSV, read by Python's own module, and Parquet, read and written by DuckDB."""

from __future__ import annotations

import csv
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, cast

from crivello._extras import optional
from crivello.dedup.compressed import MARK, head, reading
from crivello.dedup.source import BATCH_BYTES, Batch, Id, Source, Text, Verdicts, readable
from crivello.dedup.units import Whole
from crivello.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    import duckdb

_ROWS = 256
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
# Without the columns that DuckDB makes of folders such as year=2020.
_FILE = "read_parquet(?, hive_partitioning = false)"
_NUMBER = "file_row_number"
_DELIMITERS = ",\t;|"


class Csv(Source):
    """A table of separated values: its first row names the columns.

    The separator is the one with which there is a column of texts, of several such the one that makes the most columns. Bytes that are not UTF-8 are copied as they are.
    """

    form: ClassVar[str] = "csv"
    is_text: ClassVar[bool] = True

    def __init__(self, path: Path, name: str, limit: int, field: str, id: str) -> None:
        super().__init__(path, name, limit)
        first = head(path).removeprefix(MARK).decode(errors="surrogateescape")
        headers = {delimiter: _first_row(first, delimiter) for delimiter in _DELIMITERS}
        self._delimiter = max(headers, key=lambda one: (field in headers[one], len(headers[one])))
        columns = headers[self._delimiter]
        if field not in columns and columns:
            named = ", ".join(" ".join(readable(one).split()) for one in columns)
            raise InvalidArgument(
                f"{name} has no column {field!r}, only {named}",
                hint="--field names the column with the text",
            )
        self._columns = columns
        self._text = columns.index(field) if columns else 0
        self._name = next((columns.index(one) for one in (id, "url") if one in columns), None)
        self._first = self
        self._order = list(range(len(columns)))

    def prepare(self, first: Source, name: str) -> Source:
        """The first table with columns has their order and the separator; columns of other tables are found by their names."""
        del name
        self._first = first if isinstance(first, Csv) and first._columns else self
        theirs, mine = self._first._columns, self._columns
        if mine and mine != theirs:
            self._check_columns(self._first)
            self._order = [mine.index(one) for one in theirs]
        return self._first

    def _check_columns(self, first: Csv) -> None:
        """Raises an error if the columns are not those of another table."""
        theirs, mine = first._columns, self._columns
        if missing := next((one for one in theirs if one not in mine), None):
            said = f"{self.name} has no column {missing!r}, which {first.name} has"
        elif more := next((one for one in mine if one not in theirs), None):
            said = f"{self.name} has a column {more!r}, which {first.name} has not"
        elif twice := next((one for one in mine if max(mine.count(one), theirs.count(one)) > 1), None):
            said = f"{self.name} and {first.name} have columns in another order, and {twice!r} more than once"
        else:
            return
        raise InvalidArgument(said, hint="let --out be a folder, as in --out clean/, or end in .jsonl")

    def batches(self, at: Any = None) -> Iterator[Batch]:
        number = int(at or 0)
        ids: list[Id] = []
        texts: list[Text] = []
        size = done = 0
        for row, done in self._rows(number):
            number += 1
            self._check(row, number)
            ids.append(row[self._name] if self._name is not None and row[self._name] else self.place(number))
            texts.append(_text(row[self._text]))
            size += len(row[self._text])
            if size >= BATCH_BYTES or len(ids) >= 64 * _ROWS:
                yield Batch(ids, texts, number, done)
                ids, texts, size = [], [], 0
        if ids:
            yield Batch(ids, texts, number, done)

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        written = io.TextIOWrapper(
            cast("Any", out), "utf-8", "surrogateescape", newline="", write_through=True
        )
        table = csv.writer(written, delimiter=self._first._delimiter, lineterminator="\n")
        if self._first is self and self._columns:
            table.writerow(self._columns)
        rows = (row for row, _ in self._rows(0))
        while some := list(islice(rows, _ROWS)):
            texts = [_text(row[self._text]) for row in some]
            for row, text, left in zip(some, texts, verdicts.left(texts), strict=True):
                if left is not None:
                    if left is not text:
                        row[self._text] = readable(left)
                    table.writerow(self._ordered(row))
        written.flush()
        written.detach()

    def _ordered(self, row: list[str]) -> list[str]:
        """A row with its cells in the order of the first table; cells past the columns stay at the end."""
        if self._columns == self._first._columns:
            return row
        cells = row + [""] * (len(self._columns) - len(row))
        return [cells[place] for place in self._order] + cells[len(self._columns) :]

    def _rows(self, start: int) -> Iterator[tuple[list[str], int]]:
        """The rows after the first ``start``, and the bytes of the file read."""
        csv.field_size_limit(min(self.limit, sys.maxsize))
        with reading(self.path) as file:
            lines = io.TextIOWrapper(cast("Any", file.content), "utf-8-sig", "surrogateescape", newline="")
            table = csv.reader(lines, delimiter=self._delimiter)
            number = -1
            try:
                for number, row in enumerate((row for row in table if row), start=0):
                    if number > start:
                        yield row, file.done
            except csv.Error as error:
                if "field larger" in str(error):
                    raise self.too_long(number + 1, "row") from None
                raise InvalidArgument(f"{self.name}, row {number + 1}: {error}") from None

    def _check(self, row: list[str], number: int) -> None:
        if len(row) <= max(self._text, self._name or 0):
            raise InvalidArgument(
                f"{self.name}, row {number} has {len(row)} columns, and the first row has {len(self._columns)}"
            )


class Parquet(Source):
    """A Parquet file. A copy has the same columns; DuckDB filters the rows by a string of bits, one for each row."""

    form: ClassVar[str] = "parquet"

    def __init__(self, path: Path, name: str, limit: int, field: str, id: str) -> None:
        super().__init__(path, name, limit)
        with _database(path, name) as database:
            found = database.execute(f"DESCRIBE SELECT * FROM {_FILE}", [str(path)]).fetchall()
            counted = database.execute(f"SELECT count(*) FROM {_FILE}", [str(path)]).fetchone()
        columns = [column[0] for column in found]
        self._number = _NUMBER
        self._numbered = f"read_parquet(?, hive_partitioning = false, {_NUMBER} = true)"
        if _NUMBER in map(str.lower, columns):
            while self._number in map(str.lower, columns):
                self._number += "_"
            self._numbered = f"(SELECT *, row_number() OVER () - 1 AS {self._number} FROM {_FILE})"
        if field not in columns:
            raise InvalidArgument(
                f"{name} has no column {field!r}, only {', '.join(columns)}",
                hint="--field names the column with the text",
            )
        self.size_in_rows = counted[0] if counted else 0
        self._text = _quoted(field)
        self._name = next((_quoted(one) for one in (id, "url") if one in columns), "NULL")
        if dict(column[:2] for column in found).get(id) not in _WHOLE:
            self._name = f"CAST({self._name} AS VARCHAR)"

    @property
    def size(self) -> int:
        return int(self.size_in_rows)

    def batches(self, at: Any = None) -> Iterator[Batch]:
        number = int(at or 0)
        query = (
            f"SELECT {self._name}, CAST({self._text} AS VARCHAR) "
            f"FROM {self._numbered} WHERE {self._number} >= {number}"
        )
        with _database(self.path, self.name) as database:
            rows = database.execute(query, [str(self.path)])
            ids: list[Id] = []
            texts: list[Text] = []
            size = 0
            while some := rows.fetchmany(_ROWS):
                for name, text in some:
                    number += 1
                    ids.append(self.place(number) if name is None or name == "" else name)
                    texts.append(text or "")
                    size += len(texts[-1])
                if size >= BATCH_BYTES or len(ids) >= 64 * _ROWS:
                    yield Batch(ids, texts, number, number)
                    ids, texts, size = [], [], 0
            if ids:
                yield Batch(ids, texts, number, number)

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        with tempfile.TemporaryDirectory(prefix="crivello-dedup-") as folder:
            target = Path(folder, "clean.parquet")
            with _database(self.path, self.name) as database:
                database.execute("SET preserve_insertion_order = true")
                self._select(database, verdicts, target)
            with target.open("rb") as made:
                shutil.copyfileobj(made, out, 1 << 20)

    def _select(self, database: duckdb.DuckDBPyConnection, verdicts: Verdicts, target: Path) -> None:
        file, place = self._numbered, self._number
        written = "TO ? (FORMAT parquet, COMPRESSION zstd)"
        rows = self.size_in_rows
        if isinstance(verdicts, Whole):
            stays = "".join("1" if stays else "0" for stays in verdicts.take(rows).tolist()) or "0"
            kept = f"SELECT * EXCLUDE {place} FROM {file} WHERE get_bit(?::BIT, {place}::INT) = 1"
            database.execute(f"COPY ({kept}) {written}", [str(self.path), stays, str(target)])
            return
        database.execute("CREATE TABLE cleaned (row_number BIGINT, text VARCHAR)")
        number = 0
        for batch in self.batches():
            left = verdicts.left(batch.texts)
            some = [(number + at, readable(text)) for at, text in enumerate(left) if text is not None]
            number += len(left)
            if some:
                database.executemany("INSERT INTO cleaned VALUES (?, ?)", some)
        kept = (
            f"SELECT p.* EXCLUDE {place} REPLACE (c.text AS {self._text}) FROM {file} p "
            f"JOIN cleaned c ON c.row_number = p.{place} ORDER BY p.{place}"
        )
        database.execute(f"COPY ({kept}) {written}", [str(self.path), str(target)])


@contextmanager
def _database(path: Path, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with optional():
        import duckdb
    try:
        with duckdb.connect() as database:
            yield database
    except duckdb.IOException as error:
        raise StorageError(f"{name}: {str(error).splitlines()[0]}", path) from None
    except duckdb.Error as error:
        raise InvalidArgument(
            f"{name} is not a Parquet file that can be read: {str(error).splitlines()[0]}"
        ) from None


def _first_row(text: str, delimiter: str) -> list[str]:
    """The first row that is not blank of the beginning of a table."""
    try:
        return next(
            (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row), []
        )
    except csv.Error:
        return []


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(cell: str) -> Text:
    """A cell; as bytes if it is not UTF-8."""
    try:
        cell.encode()
    except UnicodeEncodeError:
        return cell.encode(errors="surrogateescape")
    return cell
