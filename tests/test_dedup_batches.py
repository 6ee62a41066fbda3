"""Fingerprints, duplicates in one pass, and tables of other tools in and out."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello import dedup
from crivello.dedup.passages import Passages
from crivello.errors import InvalidArgument
from tests.corpora import jaccard, leaders, made, read_json_lines, shingles, write_json_lines


def in_batches(duplicates: dedup.Deduplicator, texts: list[str], sizes: int) -> list[bool]:
    parts = [duplicates.add(texts[start : start + sizes]) for start in range(0, len(texts), sizes)]
    return [bool(stays) for part in parts for stays in part]


@pytest.mark.parametrize("sizes", [1, 7, 1000])
def test_one_pass_keeps_what_is_not_similar_to_what_was_kept(sizes: int) -> None:
    texts = made(600, seed=sizes)
    duplicates = dedup.Deduplicator(threshold=0.7, recall=0.9999)
    found = in_batches(duplicates, texts, sizes)
    assert found == [leader == number for number, leader in enumerate(leaders(texts, 0.7))]
    assert len(duplicates) == sum(found) < 550


@settings(max_examples=30)
@given(st.integers(0, 9), st.integers(1, 40), st.integers(0, 10**6))
def test_one_pass_of_simhashes_is_the_definition(distance: int, sizes: int, seed: int) -> None:
    texts = made(80, seed=seed, copies=0.6)
    kept: list[int] = []
    wanted = []
    for value in dedup.simhash(texts).tolist():
        wanted.append(all((value ^ one).bit_count() > distance for one in kept))
        kept += [value] if wanted[-1] else []
    assert in_batches(dedup.Deduplicator(method="simhash", distance=distance), texts, sizes) == wanted


def test_one_pass_of_equal_texts() -> None:
    duplicates = dedup.Deduplicator(method="exact", ignore=["case", "space"])
    assert duplicates.add(["a b", "A  b", "c", b"\xff", b"\xfe", None]).tolist() == [1, 0, 1, 1, 1, 1]
    assert duplicates.add(["C", b"\xff", "", "\ud800"]).tolist() == [0, 0, 0, 1]
    assert duplicates.add([]).tolist() == [] and len(duplicates) == 6
    many = dedup.Deduplicator()
    assert many.add(["the same few words again"] * 20_000).sum() == 1


@pytest.mark.parametrize(
    "options",
    [
        {"method": "fingerprint"},
        {"method": "simhash", "bits": 128},
        {"method": "simhash", "weights": "tf-idf"},
        {"linkage": "complete"},
        {"keep": "longest"},
        {"unit": "line"},
    ],
)
def test_what_needs_the_whole_corpus_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        dedup.Deduplicator(**options)
    assert "crivello.dedup.run" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bogus": 1}, "there is no option bogus"),
        ({"method": None}, "method: None is not among the choices"),
        ({"keep": None}, "keep: None is not among the choices"),
        ({"unit": None}, "unit: None is not among the choices"),
        ({"boilerplate": 3}, "boilerplate: 3 is not among the choices"),
        ({"threads": None}, "threads must be a whole number, and not None"),
        ({"bins": 12.5}, "bins must be a whole number, and not 12.5"),
        ({"bins": 2000}, "bins must be from 1 to 1,024, and not 2,000"),
        ({"threshold": "0.7"}, "threshold must be a number, and not '0.7'"),
        ({"threshold": 10**400}, "threshold must be from 0 to 1, and not inf"),
        ({"recall": True}, "recall must be a number, and not True"),
        ({"memory": "some"}, "memory: 'some' is not a size"),
        ({"memory": "1M"}, "memory must be from 16,777,216 to 1,125,899,906,842,624, and not 1,048,576"),
        ({"method": "simhash", "bits": 64.0}, "bits must be a whole number, and not 64.0"),
        ({"method": "simhash", "bits": 48}, "a SimHash has 32, 64 or 128 bits, and not 48"),
        ({"method": "exact", "sampled": "no"}, "sampled must be True or False, and not 'no'"),
        ({"method": "exact", "ignore": 5}, "ignore must be a list of words, and not 5"),
        ({"method": "exact", "ignore": b"case"}, "ignore must be a list of words, and not b'case'"),
        ({"method": "exact", "ignore": ["case", 5]}, "5 is not among what can be ignored"),
        ({"method": "exact", "ignore": [["case"]]}, "['case'] is not among what can be ignored"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", [{"text": "a"}])
    for made_with in (dedup.Deduplicator, lambda **some: dedup.run(source, **some)):
        with pytest.raises(InvalidArgument) as caught:
            made_with(**options)
        assert str(caught.value) == message


def test_options_are_numbers_of_numpy_and_iterators_too(tmp_path: Path) -> None:
    texts = ["a b c", "A b c"]
    for ignore in (iter(["case"]), {"case"}, ("case",), "case"):
        duplicates = dedup.Deduplicator(method="exact", ignore=ignore)
        assert duplicates.add(texts).tolist() == [True, False]
    one, other = dedup.digest(texts, ignore=iter(["case"]))
    assert one == other
    source = write_json_lines(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    assert dedup.run(source, method="exact", ignore=iter(["case"])).kept == 1
    some: dict[str, Any] = {"bits": np.int64(128), "ngram": np.uint8(1)}
    assert dedup.simhash(texts, **some).tolist() == dedup.simhash(texts, bits=128, ngram=1).tolist()
    some = {"bins": np.int32(16), "bits": np.int16(4)}
    assert dedup.minhash(texts, **some).max() < 16
    duplicates = dedup.Deduplicator(
        threshold=np.float32(0.5), bins=np.int64(64), threads=np.int64(1), sampled=np.bool_(False)
    )
    assert duplicates.add(texts).tolist() == [True, False]


def test_fingerprints_have_the_defaults_of_the_options() -> None:
    texts = made(20, seed=5)
    assert dedup.simhash(texts, bits=None, weights=None).tolist() == dedup.simhash(texts).tolist()  # type: ignore[arg-type]
    assert dedup.minhash(texts, bins=None).tolist() == dedup.minhash(texts).tolist()  # type: ignore[arg-type]
    pairs = list(pairwise(texts))
    assert dedup.similarity(pairs, measure=None).tolist() == dedup.similarity(pairs).tolist()  # type: ignore[arg-type]
    for bits in (0, 33, 2.0, None):
        with pytest.raises(InvalidArgument, match="bits must be"):
            dedup.minhash(texts, bits=bits)  # type: ignore[arg-type]


def test_fingerprints_are_arrays() -> None:
    texts = made(60, seed=3)
    pairs = [*pairwise(texts), (texts[0], f"{texts[0]} more words here")]
    measured = dedup.similarity(pairs)
    assert measured.tolist() == pytest.approx([jaccard(one, other) for one, other in pairs])
    contained = dedup.similarity(pairs, measure="containment")
    assert contained[-1] == 1.0 > measured[-1]
    sketches = dedup.minhash(texts, bins=256)
    assert sketches.shape == (60, 256)
    near = dedup.minhash([texts[0], f"{texts[0]} more words here"], bins=1024)
    assert (near[0] == near[1]).mean() == pytest.approx(measured[-1], abs=0.06)
    every = dedup.fingerprints(texts)
    assert [len(one) for one in every] == [len(shingles(text)) for text in texts]
    some = dedup.fingerprints(texts, modulus=4)
    assert all(
        set(few.tolist()) == {one for one in all_.tolist() if one % 4 == 0}
        for few, all_ in zip(some, every, strict=True)
    )
    assert dedup.simhash(texts).dtype == np.uint64 and dedup.simhash(texts, bits=128).shape == (60, 2)
    assert dedup.simhash(texts, bits=32).max() < 2**32
    shuffled = random.Random(1).sample(texts, 60)
    weighted = dict(zip(texts, dedup.simhash(texts, weights="tf-idf").tolist(), strict=True))
    assert [weighted[text] for text in shuffled] == dedup.simhash(shuffled, weights="tf-idf").tolist()
    one, other, third = dedup.digest(["Page 1", "page 2", "book 1"], ignore=["case", "digits"])
    assert one == other != third
    assert (
        dedup.fingerprints([]) == [] and len(dedup.simhash([])) == 0 and dedup.minhash([]).shape == (0, 128)
    )
    with pytest.raises(InvalidArgument, match="one text was given"):
        dedup.simhash("a text")


def test_few_bits_of_a_sketch_agree_by_chance() -> None:
    shared = " ".join(f"w{number}" for number in range(60))
    one, other = f"{shared} {' '.join('abcdefgh')}", f"{shared} {' '.join('stuvwxyz')}"
    (share,) = dedup.similarity([(one, other)])
    for bits in (1, 2, 32):
        equal = []
        for number in range(20):
            # Other words each time: sketches of one pair have bins in common, and errors with them.
            named = [text.replace("w", f"{number}w") for text in (one, other)]
            first, second = dedup.minhash(named, bins=1024, bits=bits)
            equal.append((first == second).mean())
        assert np.mean(equal) == pytest.approx(share + (1 - share) / 2**bits, abs=0.03)


@pytest.mark.parametrize("wrong", [None, 5, np.array("a")])
def test_what_is_no_list_of_texts_is_refused(wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        dedup.simhash,
        dedup.minhash,
        dedup.fingerprints,
        dedup.digest,
        dedup.similarity,
        lambda given: dedup.similarity([given]),
        dedup.Deduplicator().add,
    ]
    for call in calls:
        with pytest.raises(InvalidArgument, match=re.escape(f"{wrong!r} is no list of texts")):
            call(wrong)


def test_missing_values_are_empty_texts_in_batches_only() -> None:
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values: list[Any] = [None, float("nan"), np.float32("nan"), pandas.NA, pa.scalar(None, pa.string())]
    for missing in values:
        duplicates = dedup.Deduplicator(method="exact")
        assert duplicates.add([missing, "a", "", missing]).tolist() == [True, True, False, False]
        with pytest.raises(InvalidArgument, match="is no text"):
            dedup.simhash([missing])
    others: list[Any] = [1.5, 3, ["a"], {}, pa.scalar(3)]
    for wrong in others:
        with pytest.raises(InvalidArgument, match="is no text"):
            dedup.Deduplicator().add([wrong])

    def texts() -> Iterator[str]:
        yield "a"
        raise TypeError("of the caller")

    with pytest.raises(TypeError, match="of the caller"):
        dedup.Deduplicator().add(texts())


def test_arrays_of_other_packages_are_lists_of_texts() -> None:
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    texts = ["a b", None, "a b", "c"]
    for some in (
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([texts[:2], texts[2:]]),
        list(pa.array(texts)),
        pandas.Series(texts),
        pandas.Series(texts, dtype="string"),
        polars.Series(texts),
        np.array(texts, object),
    ):
        assert dedup.Deduplicator(method="exact").add(some).tolist() == [True, True, False, True]
    assert dedup.simhash(pa.array(["a b", "c"])).tolist() == dedup.simhash(["a b", "c"]).tolist()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return made(300, seed=11)


@pytest.fixture(scope="module")
def wanted(texts: list[str]) -> list[str]:
    return [
        text
        for number, (text, leader) in enumerate(zip(texts, leaders(texts, 0.7), strict=True))
        if leader == number
    ]


def test_record_batches_go_in_and_out(texts: list[str], wanted: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"n": range(len(texts)), "body": texts})
    clean = pa.Table.from_batches(dedup.arrow(table, "body"), table.schema)
    assert clean["body"].to_pylist() == wanted and clean.schema == table.schema
    # As Spark's mapInArrow calls it: an iterator of batches in, an iterator of batches out.
    batches = dedup.arrow(iter(table.to_batches(max_chunksize=17)), column="body")
    assert pa.Table.from_batches(batches).equals(clean)
    assert list(dedup.arrow(iter([]))) == []
    alone = pa.record_batch({"text": ["a", None, "a", ""]})
    assert [batch.to_pydict() for batch in dedup.arrow(alone, method="exact")] == [{"text": ["a", None]}]
    with pytest.raises(InvalidArgument, match="there is no column 'text', only n, body"):
        list(dedup.arrow(table))
    with pytest.raises(InvalidArgument, match="int is no table"):
        dedup.arrow(3)


def test_tables_without_one_column_of_texts_are_refused() -> None:
    pa, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    twice = pa.record_batch([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    nothing = pa.table({"n": [1]}).select([])
    tables: list[tuple[Any, Any, str]] = [
        (twice, "text", "there are 2 columns 'text'"),
        (pa.Table.from_batches([twice]), "text", "there are 2 columns 'text'"),
        (nothing, "text", "there is no column 'text', and no other"),
        (twice, None, "column must be a text, and not None"),
        (pa.table({"text": [1]}), "text", "1 is no text"),
        (pa.array(["a"]), "text", "StringArray gives no record batches: .*"),
        (pa.chunked_array([["a"]]), "text", "ChunkedArray gives no record batches: .*"),
        (polars.Series(["a"]), "text", "Series gives no record batches: .*"),
    ]
    for table, column, message in tables:
        with pytest.raises(InvalidArgument) as caught:
            list(dedup.arrow(table, column))
        assert re.fullmatch(message, str(caught.value))


def test_a_stream_without_rows_gives_its_schema() -> None:
    pa = pytest.importorskip("pyarrow")
    fields = [pa.field("number", pa.int64()), pa.field("name", pa.string())]
    types = [
        pa.sparse_union(fields),
        pa.dense_union(fields),
        pa.list_(pa.dense_union(fields)),
        pa.dictionary(pa.int8(), pa.string()),
        pa.string_view(),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ]
    columns = [(f"column {number}", kind) for number, kind in enumerate(types)]
    schema = pa.schema([pa.field("text", pa.string(), nullable=False), *columns])
    (batch,) = dedup.arrow(pa.RecordBatchReader.from_batches(schema, []))
    assert (batch.num_rows, batch.schema) == (0, schema)


def test_tables_of_other_tools_go_in_and_out(texts: list[str], wanted: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    import duckdb

    frame = polars.DataFrame({"text": texts, "tags": [["x"]] * len(texts)})
    clean = polars.DataFrame(pa.Table.from_batches(dedup.arrow(frame)))
    assert clean["text"].to_list() == wanted and clean["tags"].to_list() == [["x"]] * len(wanted)
    table = pandas.DataFrame({"text": texts})
    assert pa.Table.from_batches(dedup.arrow(table)).to_pandas()["text"].tolist() == wanted
    found = duckdb.sql("SELECT unnest($texts) AS text", params={"texts": texts})
    with duckdb.connect() as database:
        database.register("cleaned", pa.Table.from_batches(dedup.arrow(found)))
        assert database.sql("SELECT text FROM cleaned").fetchall() == [(text,) for text in wanted]


def test_datasets_go_in_and_out(texts: list[str], wanted: list[str]) -> None:
    pa, datasets = pytest.importorskip("pyarrow"), pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": texts})
    clean = datasets.Dataset(pa.Table.from_batches(dedup.arrow(dataset, "text")))
    duplicates = dedup.Deduplicator()
    filtered = dataset.filter(lambda rows: duplicates.add(rows["text"]).tolist(), batched=True)
    assert clean["text"][:] == filtered["text"][:] == wanted


def test_spark_maps_batches(texts: list[str], wanted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        frame = session.createDataFrame([(text,) for text in texts], "text string").coalesce(1)
        clean = frame.mapInArrow(lambda batches: dedup.arrow(batches, "text"), frame.schema)
        assert [row.text for row in clean.collect()] == wanted
    finally:
        session.stop()


def without_passages(texts: list[str], size: int, known: list[str]) -> list[str]:
    """The words of each text that are in no window of ``size`` words that occurred before."""
    seen = {tuple(window) for text in known for window in windows(text.split(), size)}
    left = []
    for text in texts:
        words = text.split()
        old: set[int] = set()
        for start, window in enumerate(windows(words, size)):
            if tuple(window) in seen:
                old.update(range(start, start + size))
            seen.add(tuple(window))
        left.append(" ".join(word for place, word in enumerate(words) if place not in old))
    return left


def windows(words: list[str], size: int) -> list[list[str]]:
    return [words[start : start + size] for start in range(len(words) - size + 1)]


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.sampled_from(["a", "B", "é", "c"]), max_size=30).map(" ".join), max_size=12),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(1, 12),
)
def test_passages_go_where_they_occurred_before(texts: list[str], size: int, known: int, sizes: int) -> None:
    report = dedup.Report("substring", "document")
    passages = Passages(size, 1 << 20, report)
    passages.remember(texts[:known])
    mine = texts[known:]
    left = [text for at in range(0, len(mine), sizes) for text in passages.left(mine[at : at + sizes])]
    assert [str(text or "").split() for text in left] == [
        text.split() for text in without_passages(mine, size, texts[:known])
    ]
    assert (report.documents, report.kept) == (len(mine), sum(text is not None for text in left))


def test_passages_are_removed_from_files(tmp_path: Path) -> None:
    passage = " ".join(f"p{number}" for number in range(20))
    texts = [
        f"One. {passage}, end.",
        f"Two «é»\n{passage.upper()}; more.",
        passage,
        "short",
        b"\xff".decode("latin-1"),
    ]
    source = write_json_lines(tmp_path / "a.jsonl", [{"text": text, "n": n} for n, text in enumerate(texts)])
    report = dedup.run(source, method="substring", ngram=20, out=tmp_path / "b.jsonl")
    assert read_json_lines(tmp_path / "b.jsonl") == [
        {"text": texts[0], "n": 0},
        {"text": "Two «é»\nmore.", "n": 1},
        {"text": "short", "n": 3},
        {"text": "ÿ", "n": 4},
    ]
    assert (report.documents, report.kept) == (5, 4) and report.characters_kept < report.characters
    other = write_json_lines(tmp_path / "other.jsonl", [{"text": passage}])
    against = dedup.run(source, method="substring", ngram=20, against=[other], out=tmp_path / "c.jsonl")
    assert [row["text"] for row in read_json_lines(tmp_path / "c.jsonl")] == [
        "One. end.",
        "Two «é»\nmore.",
        "short",
        "ÿ",
    ]
    assert against.kept == 4
    with pytest.raises(InvalidArgument, match="has no pairs and no clusters"):
        dedup.run(source, method="substring", clusters=tmp_path / "d")


def test_one_pass_from_many_threads_keeps_each_text_once() -> None:
    texts = [f"text number {number} of a few" for number in range(300)]
    for method in ("exact", "minhash", "simhash"):
        seen = dedup.Deduplicator(method=method)
        alone = dedup.Deduplicator(method=method).add(texts)
        with ThreadPoolExecutor(6) as threads:
            kept = list(threads.map(seen.add, [texts] * 6))
        assert sum(int(some.sum()) for some in kept) == alone.sum() > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    texts = [f"text number {number}" for number in range(1000)]
    hashes = dedup.simhash(texts)
    table = dedup.HammingTable(hashes, 1)
    child = os.fork()
    if not child:
        # Nothing of the tests may run in it.
        is_equal = (
            (dedup.simhash(texts) == hashes).all()
            and (table.nearest(hashes).distance == 0).all()
            and dedup.Deduplicator().add(texts).any()
        )
        os._exit(0 if is_equal else 1)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
