"""Results, pages, ranks and evaluations as tables of other tools, through Arrow's PyCapsule interface."""

from __future__ import annotations

import datetime
import gc
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from crivello._tables import Tabular
from crivello.errors import CrivelloError
from crivello.evaluate import Evaluation
from crivello.search import Hit, Results, Snippet

MOMENT = datetime.datetime(2026, 5, 1, 12, 30, tzinfo=datetime.UTC)
ROWS = [
    ("a", 1, 0.5, True, MOMENT.date(), MOMENT),
    (None, None, None, None, None, None),
    ('"quoted"\n', -(2**40), 1e300, False, datetime.date(1901, 1, 1), MOMENT),
]


class Sample(Tabular):
    """Rows of every type that the tables have."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._given = rows

    def _columns(self) -> Mapping[str, str]:
        kinds = ("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMPTZ")
        return dict(zip(("text", "number", "real", 'a "b"', "day", "time"), kinds, strict=True))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._given)


RESULTS = Results(
    "bees",
    2,
    100,
    (
        Hit(1, 2.5, "https://a.example/", "Bees", Snippet((("a ", False), ("bee", True))), language="en"),
        Hit(2, 1.5, "https://b.example/", "", Snippet(()), date=datetime.date(2024, 5, 1), similar=3),
    ),
)
EVALUATION = Evaluation({"1": {"AP": 0.25, "P@5": 0.2}, "2": {"AP": 0.5, "P@5": 0.0}}, (), ())


@pytest.mark.parametrize("rows", [ROWS, [], ROWS * 7_000], ids=["some", "none", "batches"])
def test_polars_reads_what_was_given(rows: list[tuple[Any, ...]]) -> None:
    polars = pytest.importorskip("polars")
    table = Sample(rows).to_polars()
    gc.collect()
    assert table.rows() == rows
    assert table.columns == ["text", "number", "real", 'a "b"', "day", "time"]
    assert table.schema["text"] == polars.String and table.schema["number"] == polars.Int64
    assert repr(table.schema["time"]).startswith("Datetime(time_unit='us'")


def test_arrow_reads_what_was_given() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = Sample(ROWS).to_arrow()
    gc.collect()
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS
    assert pyarrow.types.is_date32(table.schema.field("day").type)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # DuckDB calls pandas in an older way
def test_pandas_reads_what_was_given() -> None:
    pandas = pytest.importorskip("pandas")
    table = Sample(ROWS).to_pandas()
    assert list(table["text"])[::2] == ["a", '"quoted"\n'] and pandas.isna(table["number"][1])
    assert table["time"][0] == MOMENT


def test_a_capsule_needs_no_package_and_may_be_left_unread() -> None:
    capsule = Sample(ROWS).__arrow_c_stream__()
    assert 'object "arrow_array_stream"' in repr(capsule)
    del capsule
    gc.collect()


def test_results_have_a_row_for_each_hit() -> None:
    pytest.importorskip("polars")
    first, second = RESULTS.to_polars().to_dicts()
    assert (first["rank"], first["score"], first["title"], first["snippet"]) == (1, 2.5, "Bees", "a bee")
    assert (first["date"], second["date"]) == (None, datetime.date(2024, 5, 1))
    assert (first["language"], second["similar"]) == ("en", 3)
    assert Results("bees", 0, 1, ()).to_polars().columns == list(first)


def test_an_evaluation_has_a_row_for_each_query() -> None:
    pytest.importorskip("polars")
    table = EVALUATION.to_polars()
    assert table.columns == ["query", "AP", "P@5"]
    assert table.rows() == [("1", 0.25, 0.2), ("2", 0.5, 0.0)]


@pytest.mark.parametrize("package", ["pyarrow", "polars", "pandas"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    method = {"pyarrow": "to_arrow"}.get(package, f"to_{package}")
    with pytest.raises(CrivelloError, match=f"this needs {package}, which is not installed") as caught:
        getattr(RESULTS, method)()
    assert caught.value.hint == f"pip install {package}"
