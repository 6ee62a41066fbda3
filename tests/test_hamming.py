"""Search among SimHashes, against a comparison with all of them."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crivello.dedup import HammingFile, HammingTable, simhash
from crivello.errors import CorruptFile, InvalidArgument, OlderFormat, StorageError


def near_words(base: int, flips: list[int]) -> int:
    for flip in flips:
        base ^= 1 << flip
    return base


# Few base values with some bits flipped, so that near pairs are common.
WORDS = st.lists(
    st.builds(
        near_words,
        st.sampled_from([0, 2**64 - 1, 0x0123456789ABCDEF]),
        st.lists(st.integers(0, 63), max_size=9),
    ),
    max_size=60,
).map(lambda words: np.array(words, np.uint64))


def distances(known: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = np.bitwise_count(known[None, :] ^ asked[:, None])
    return found


@settings(max_examples=60, deadline=None)
@given(known=WORDS, asked=WORDS, distance=st.integers(0, 10))
def test_a_table_finds_what_brute_force_finds(
    known: NDArray[np.uint64], asked: NDArray[np.uint64], distance: int
) -> None:
    table = HammingTable(known, distance=distance)
    assert (len(table), table.distance) == (len(known), distance)
    compared = distances(known, asked)
    nearest = table.nearest(asked)
    within = table.within(asked)
    assert len(nearest.index) == len(nearest.distance) == len(within) == len(asked)
    for row, index, least, found in zip(compared, nearest.index, nearest.distance, within, strict=True):
        order = sorted((int(far), number) for number, far in enumerate(row) if far <= distance)
        assert (least, index) == (order[0] if order else (-1, -1))
        assert list(zip(found.distance.tolist(), found.index.tolist(), strict=True)) == order
    one, other = np.nonzero(np.triu(distances(known, known) <= distance, 1))
    pairs = table.pairs()
    assert pairs.one.tolist() == one.tolist()
    assert pairs.other.tolist() == other.tolist()
    assert pairs.distance.tolist() == distances(known, known)[one, other].tolist()


@settings(max_examples=15, deadline=None)
@given(known=WORDS, asked=WORDS, distance=st.integers(0, 8))
def test_a_file_finds_what_a_table_finds(
    tmp_path_factory: pytest.TempPathFactory,
    known: NDArray[np.uint64],
    asked: NDArray[np.uint64],
    distance: int,
) -> None:
    path = tmp_path_factory.mktemp("hamming") / "hashes.run"
    HammingFile.write(path, known, distance=distance, memory=1 << 20)
    file, table = HammingFile(path), HammingTable(known, distance=distance)
    assert (len(file), file.distance) == (len(np.unique(known)), distance)
    found, expected = file.nearest(asked), table.nearest(asked)
    assert found.index.tolist() == expected.index.tolist()
    assert found.distance.tolist() == expected.distance.tolist()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_parts_that_do_not_fit_in_the_memory_are_merged(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    known = random.integers(0, 2**64, 100_000, np.uint64)
    asked = known[::200] ^ (np.uint64(1) << random.integers(0, 64, 500, np.uint64))
    HammingFile.write(tmp_path / "hashes.run", known, distance=5, memory=1 << 20)
    found, expected = (
        HammingFile(tmp_path / "hashes.run").nearest(asked),
        HammingTable(known, distance=5).nearest(asked),
    )
    assert found.index.tolist() == expected.index.tolist() == list(range(0, 100_000, 200))


def test_texts_are_found_by_their_simhashes() -> None:
    texts = [" ".join(f"w{base * 100 + word}" for word in range(100)) for base in range(5)]
    table = HammingTable(simhash(texts), distance=0)
    assert table.nearest(simhash(reversed(texts))).index.tolist() == [4, 3, 2, 1, 0]
    assert [(lead.bits, lead.radius) for lead in table.layout] == [(64, 0)]
    assert table.nbytes >= 12 * len(texts)


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="0 to 16"):
        HammingTable(np.zeros(1, np.uint64), distance=17)
    with pytest.raises(InvalidArgument, match="one dimension"):
        HammingTable(np.zeros((2, 2), np.uint64))
    with pytest.raises(InvalidArgument, match="64 bits"):
        HammingTable([1.5])
    with pytest.raises(InvalidArgument, match="64 bits"):
        HammingTable([-1])
    with pytest.raises(InvalidArgument, match="64 bits"):
        HammingTable([[1], [2, 3]])
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(CorruptFile):
        HammingFile(tmp_path / "other")


@pytest.mark.parametrize("distance", ["3", None, 3.5, 3.0, True, -1, np.uint8(17)])
def test_a_distance_is_a_whole_number(tmp_path: Path, distance: Any) -> None:
    known = np.zeros(1, np.uint64)
    with pytest.raises(InvalidArgument, match=r"^distance must be"):
        HammingTable(known, distance)
    with pytest.raises(InvalidArgument, match=r"^distance must be"):
        HammingFile.write(tmp_path / "hashes.run", known, distance)
    assert HammingTable(known, np.int8(5)).distance == 5  # type: ignore[arg-type]


def test_a_memory_budget_is_a_size(tmp_path: Path) -> None:
    path, known = tmp_path / "hashes.run", np.arange(9, dtype=np.uint64)
    budgets: list[Any] = ["1M", "64 MiB", 1 << 20, np.int64(1 << 20)]
    for memory in budgets:
        HammingFile.write(path, known, memory=memory)
        assert len(HammingFile(str(path))) == 9
        path.unlink()
    others: list[Any] = ["much", "1K", 0, -1, 1.5e8, None, 1 << 60]
    for memory in others:
        with pytest.raises(InvalidArgument, match=r"^memory"):
            HammingFile.write(path, known, memory=memory)
    assert not path.exists()


def test_only_regular_files_are_read_and_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "folder", "link"):
        with pytest.raises(StorageError, match=f"{name} is not a regular file"):
            HammingFile.write(tmp_path / name, [1])
        with pytest.raises(StorageError, match=f"{name} is not a regular file"):
            HammingFile(tmp_path / name)
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()
    paths: list[Any] = ["", None, 5, b"a", "a\0b"]
    for path in paths:
        with pytest.raises(InvalidArgument):
            HammingFile.write(path, [1])
        with pytest.raises(InvalidArgument):
            HammingFile(path)


def test_a_file_of_the_version_before_is_refused(tmp_path: Path) -> None:
    HammingFile.write(tmp_path / "hashes.run", np.zeros(1, np.uint64), distance=3)
    content = bytearray((tmp_path / "hashes.run").read_bytes())
    content[8] = 1
    (tmp_path / "hashes.run").write_bytes(content)
    with pytest.raises(OlderFormat) as caught:
        HammingFile(tmp_path / "hashes.run")
    assert str(caught.value) == (
        f"{tmp_path / 'hashes.run'} has format version 1, and this version of Crivello reads 2 only"
    )
    assert caught.value.hint == "write it anew: HammingFile.write"


def test_a_table_has_the_hashes_that_it_was_given() -> None:
    known = np.array([0, 1, 2**63, 2**63 + 1], np.uint64)
    table = HammingTable(known, distance=1)
    known[:] = 12345
    assert sorted(zip(*table.pairs()[:2], strict=True)) == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_a_file_with_many_equally_near_hashes_answers_as_a_table(tmp_path: Path) -> None:
    # All 2,024 hashes are three bits from the one that is asked for, and nearer to each other.
    bits = itertools.combinations(range(24), 3)
    known = np.array([sum(1 << bit for bit in some) for some in bits], np.uint64)
    HammingFile.write(tmp_path / "hashes", known, distance=3)
    asked = np.concatenate([np.zeros(5000, np.uint64), known, known ^ np.uint64(1 << 40)])
    found, expected = HammingFile(tmp_path / "hashes").nearest(asked), HammingTable(known, 3).nearest(asked)
    assert (found.index == expected.index).all() and (found.distance == expected.distance).all()
