"""Filters: what was added is there, errors are what theory says at every size and rate, files are the
filter."""

from __future__ import annotations

import copy
import math
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crivello.errors import CorruptFile, InvalidArgument, StorageError
from crivello.filters import BlockedBloom, Bloom, Decay, Filter, Keys, StableBloom, signatures

RATES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
SIZES = [1000, 1023, 1024, 1025, 4096, 10_000, 65_535, 65_536, 65_537, 100_000, 1 << 20, 10_000_000]
BLOOMS = [Bloom, BlockedBloom]
MASK = (1 << 64) - 1


def numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """Signatures of keys: as many different ones as you like, and others for every seed."""
    return np.random.default_rng(seed).integers(0, 1 << 64, count, dtype=np.uint64)


def agrees(errors: float, asked: int, rate: float) -> bool:
    """Whether the number of errors is as ``rate`` predicts, within 4 standard deviations and 5 %."""
    expected = rate * asked
    return abs(errors - expected) <= 4 * math.sqrt(expected) + 0.05 * expected


# --- keys ---------------------------------------------------------------------------------------------------


def make_all() -> list[Filter]:
    return [
        Bloom(capacity=1000, error=0.001),
        BlockedBloom(capacity=1000, error=0.001),
        StableBloom.for_bound(bits=1 << 20, false_positives=0.001),
    ]


@settings(max_examples=30)
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40), max_size=40))
def test_a_str_its_bytes_and_its_signature_are_the_same_key(texts: list[str]) -> None:
    for filter in make_all():
        filter.add(texts)
        answers = filter.contains(texts)
        assert answers.all() or filter.kind == "stable"
        forms: list[Keys] = [[text.encode() for text in texts], signatures(texts)]
        assert all((filter.contains(form) == answers).all() for form in forms)
        assert [text in filter for text in texts] == answers.tolist()


def test_add_tells_what_was_there_before() -> None:
    for filter in make_all():
        answers = filter.add(["a", "b", "a"])
        assert answers.dtype == np.dtype(np.bool_)
        assert answers.tolist() == [False, False, True]
        assert filter.contains(["b", "c"]).tolist() == [True, False]
        answers[0] = True  # the answers are the caller's own
        filter.update(["c"])
        assert filter.contains(["c"]).tolist() == [True]
        assert filter.add([]).tolist() == filter.contains(np.array([], dtype=np.uint64)).tolist() == []


def test_arrays_may_be_slices_and_read_only() -> None:
    every = numbers(1000, 1)
    every.flags.writeable = False
    filter = Bloom(capacity=500, error=1e-6)
    filter.update(every[::2])
    assert filter.contains(every).tolist() == [True, False] * 500


@pytest.mark.parametrize(
    "keys",
    [
        "a string",
        ("a", "b"),
        ["a", 1],
        [None],
        ["\ud800"],
        np.array([1.5]),
        np.array([1], dtype=np.int32),
        None,
    ],
)
def test_what_is_no_batch_of_keys_is_refused(keys: Keys) -> None:
    filter = Bloom(capacity=10, error=0.1)
    calls: list[Callable[[Keys], object]] = [filter.add, filter.update, filter.contains]
    for call in calls:
        with pytest.raises(InvalidArgument, match="key"):
            call(keys)
    assert len(filter) == 0


def test_threads_share_a_filter() -> None:
    filter = BlockedBloom(capacity=400_000, error=1e-3)
    parts = [numbers(100_000, seed) for seed in range(4)]
    threads = [threading.Thread(target=filter.update, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert 0 <= filter.fill <= 0.5
    assert all(filter.contains(part).all() for part in parts)


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BLOOMS)
@pytest.mark.parametrize("size", SIZES)
def test_the_error_is_the_stated_one_at_every_size_and_rate(kind: type[Bloom], size: int) -> None:
    # The fill of a small filter, and the load of few blocks, vary: many small filters, or one large.
    filters = max(1, min(64, 2_000_000 // size))
    asked = 2_000_000 // filters
    strangers = numbers(asked, 0)
    for rate in RATES:
        empty = kind(capacity=size, error=rate)
        errors, expected = 0, 0.0
        for number in range(filters):
            filter = empty.copy()
            members = numbers(size, number + 1)
            filter.update(members)
            errors += int(filter.contains(strangers).sum())
            expected += filter.expected_error / filters
            assert filter.contains(members[:1000]).all()
            assert abs(len(filter) - size) <= 5 + size * rate
        assert agrees(errors, asked * filters, expected), (rate, errors)
        assert expected <= 1.08 * rate, rate
        # A filter of few blocks has up to one more than it needs.
        spare = 512 / empty.bits if kind is BlockedBloom else 0
        assert expected >= 0.92 * rate * (1 - spare) ** empty.hashes, rate


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(BLOOMS),
    st.one_of(st.integers(1000, 60_000), st.integers(10, 15).map(lambda power: 1 << power)),
    st.floats(-5, -1).map(lambda power: 10.0**power),
    st.integers(0, 1 << 32),
)
def test_the_error_is_the_expected_one_at_any_size(
    kind: type[Bloom], size: int, rate: float, seed: int
) -> None:
    filter = kind(capacity=size, error=rate)
    filter.update(numbers(size, seed))
    asked = 400_000
    assert agrees(int(filter.contains(numbers(asked, seed + 1)).sum()), asked, filter.expected_error)


@pytest.mark.parametrize("bits", [(1 << power) + step for power in (12, 14, 16, 20) for step in (-1, 0, 1)])
@pytest.mark.parametrize("hashes", [1, 2, 4, 8])
def test_bits_may_be_powers_of_two_or_not(bits: int, hashes: int) -> None:
    keys = int(bits * math.log(2) / hashes)
    asked = 1_000_000
    filter = Bloom(bits=bits, hashes=hashes)
    filter.update(numbers(keys, bits))
    assert agrees(int(filter.contains(numbers(asked, 1)).sum()), asked, filter.expected_error)
    assert filter.fill == pytest.approx(0.5, abs=4 * 0.3 / math.sqrt(bits) + 1e-3)
    assert filter.expected_error == pytest.approx(filter.fill**hashes)


def test_signatures_that_are_no_hashes_are_spread() -> None:
    for kind in BLOOMS:
        filter = kind(capacity=100_000, error=0.01)
        filter.update(np.arange(100_000, dtype=np.uint64))
        strangers = np.arange(100_000, 1_100_000, dtype=np.uint64)
        assert agrees(int(filter.contains(strangers).sum()), len(strangers), filter.expected_error)
        assert filter.expected_error == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("kind", BLOOMS)
def test_the_smallest_filters_work(kind: type[Bloom]) -> None:
    for size in [1, 2, 3, 7, 8, 9, 63, 64, 65]:
        for rate in [0.9, 0.5, 1e-3, 1e-9]:
            filter = kind(capacity=size, error=rate)
            filter.update(numbers(size, size))
            assert filter.contains(numbers(size, size)).all()
            assert filter.contains(numbers(20_000, 1)).mean() <= 2 * rate + 0.02


@pytest.mark.parametrize(("bits", "keys"), [(100_000, 10_000), (1 << 20, 100_000), (65_536, 30_000)])
def test_bits_and_keys_give_the_best_number_of_hashes(bits: int, keys: int) -> None:
    best = bits / keys * math.log(2)
    filter = Bloom(bits=bits, capacity=keys)
    assert filter.bits == bits and abs(filter.hashes - best) < 1
    filter.update(numbers(keys, 1))
    others = [Bloom(bits=bits, hashes=hashes) for hashes in {max(1, filter.hashes - 2), filter.hashes + 2}]
    for other in others:
        other.update(numbers(keys, 1))
        assert filter.expected_error < other.expected_error
    blocked = BlockedBloom(bits=bits, capacity=keys)
    assert blocked.bits >= bits and blocked.hashes <= math.ceil(best)
    asked = 400_000
    assert agrees(int(filter.contains(numbers(asked, 2)).sum()), asked, filter.expected_error)


def test_plain_double_hashing_errs_more_in_a_small_filter_and_as_stated_in_a_large_one() -> None:
    rates = {}
    for hashing in ("double", "enhanced"):
        errors = 0
        for seed in range(100):
            filter = Bloom(capacity=1000, error=1e-5, hashing=hashing)
            filter.update(numbers(1000, seed))
            errors += int(filter.contains(numbers(100_000, seed + 1000)).sum())
        rates[hashing] = errors / 1e7
    # Kirsch and Mitzenmacher's theorem is about the limit: with a thousand keys the rate is 1.7 times as high.
    assert 1.35e-5 < rates["double"] < 2.1e-5 and 0.6e-5 < rates["enhanced"] < 1.4e-5
    large = Bloom(capacity=300_000, error=0.01, hashing="double")
    large.update(numbers(300_000, 1))
    assert agrees(int(large.contains(numbers(400_000, 2)).sum()), 400_000, 0.01)


def test_beyond_its_capacity_a_filter_errs_more_and_says_so() -> None:
    filter = Bloom(capacity=10_000, error=0.01)
    assert (filter.fill, filter.expected_error, filter.bits_per_key) == (0, 0, math.inf)
    filter.update(numbers(20_000, 1))
    assert filter.expected_error == pytest.approx(0.157, rel=0.05)
    assert filter.bits_per_key == pytest.approx(filter.bits / 20_000, rel=0.06)
    assert agrees(int(filter.contains(numbers(200_000, 2)).sum()), 200_000, filter.expected_error)
    filter.update(numbers(1_000_000, 3))
    assert filter.expected_error > 0.999


# --- the stable filter --------------------------------------------------------------------------------------


def uniform_stream(length: int, distinct: float, seed: int) -> NDArray[np.uint64]:
    """Uniform draws from as many keys as make a share ``distinct`` of the elements distinct."""
    low, high = 0.01 * length, 100.0 * length
    for _ in range(60):
        keys = math.sqrt(low * high)
        low, high = (keys, high) if keys * -math.expm1(-length / keys) < distinct * length else (low, keys)
    return np.random.default_rng(seed).integers(0, int(keys), length, dtype=np.uint64)


def rates_of(filter: StableBloom, stream: NDArray[np.uint64]) -> tuple[float, float]:
    """The rates of false negatives and false positives over a whole stream."""
    flags = filter.add(stream)
    new = np.zeros(len(stream), dtype=np.bool_)
    new[np.unique(stream, return_index=True)[1]] = True
    return float((~flags[~new]).mean()), float(flags[new].mean())


@pytest.mark.parametrize(
    ("length", "distinct", "bits", "false_negatives", "false_positives"),
    [(10_000_000, 0.49, 262_144, 0.881, 0.1086), (100_000, 0.76, 65_536, 0.742, 0.082)],
)
def test_the_published_rates_are_reproduced(
    length: int, distinct: float, bits: int, false_negatives: float, false_positives: float
) -> None:
    stream = uniform_stream(length, distinct, 1)
    filter = StableBloom(bits=bits, max=1, k=2, p=4)
    negatives, positives = rates_of(filter, stream)
    assert negatives == pytest.approx(false_negatives, abs=0.01)
    assert positives == pytest.approx(false_positives, abs=0.01)
    assert positives <= filter.bound


@settings(deadline=None, max_examples=30)
@given(
    bits=st.integers(10_000, 50_000),
    false_positives=st.floats(-3, -0.5).map(lambda power: 10.0**power),
    max=st.sampled_from([1, 2, 3, 7]),
    k=st.sampled_from([None, 1, 2, 4]),
    distinct=st.floats(0.2, 1),
    seed=st.integers(0, 1 << 32),
)
def test_the_bound_on_false_positives_holds(
    bits: int, false_positives: float, max: int, k: int | None, distinct: float, seed: int
) -> None:
    try:
        filter = StableBloom.for_bound(bits=bits, false_positives=false_positives, max=max, k=k, seed=seed)
    except InvalidArgument as refused:
        assert "too few" in str(refused)
        assume(False)
    assert filter.bound <= false_positives
    stream = uniform_stream(60_000, min(distinct, 0.99), seed)
    news = len(np.unique(stream))
    _, measured = rates_of(filter, stream)
    # A rate that is measured varies around its expectation: the bound is on the latter.
    assert measured <= false_positives + 4 * math.sqrt(false_positives / news)


@pytest.mark.parametrize("decay", ["consecutive", "independent"])
@pytest.mark.parametrize(("max", "k", "p"), [(1, 2, 4), (1, 4, 12), (3, 3, 20), (7, 2, 30)])
def test_what_is_recalled_is_what_theory_says(max: int, k: int, p: int, decay: Decay) -> None:
    bits = 60_000
    stream = numbers(400_000, 3)
    start = 100_000
    # Odd gaps: every other element repeats one that is no repetition itself.
    for gap in (501, 5_001, 30_001):
        repeated = stream.copy()
        repeated[start::2] = stream[start - gap : -gap : 2]
        filter = StableBloom(bits=bits, max=max, k=k, p=p, decay=decay)
        recognised = filter.add(repeated)[start::2]
        assert recognised.mean() == pytest.approx(filter.recall(gap), abs=0.015), gap


def test_a_stable_filter_never_fills_up_and_is_the_same_everywhere() -> None:
    stream = numbers(300_000, 9)
    filters = [StableBloom.for_bound(bits=1 << 14, false_positives=0.05, seed=seed) for seed in (1, 1, 2)]
    whole = filters[0].add(stream)
    parts = np.concatenate([filters[1].add(part) for part in np.array_split(stream, 7)])
    other = filters[2].add(stream)
    assert (whole == parts).all()
    assert (whole != other).any()
    assert whole[100_000:].mean() == pytest.approx(filters[0].bound, rel=0.05)
    assert filters[0].fill ** filters[0].k == pytest.approx(filters[0].bound, rel=0.2)
    assert (filters[0].count, len(filters[0])) == (300_000, 300_000)


@pytest.mark.parametrize("k", [1, 4, 12])
def test_a_stable_filter_without_decrements_is_a_bloom_filter(k: int) -> None:
    stream = uniform_stream(50_000, 0.5, 4)
    stable, bloom = StableBloom(bits=200_000, max=1, k=k, p=0), Bloom(bits=200_000, hashes=k)
    assert (stable.add(stream) == bloom.add(stream)).all()
    assert (stable.fill, stable.bound, stable.recall(1e9)) == (bloom.fill, 1.0, 1.0)
    others = numbers(50_000, 8)
    assert (stable.contains(others) == bloom.contains(others)).all()


def test_independent_cells_keep_the_bound() -> None:
    stream = numbers(300_000, 9)
    filters = [
        StableBloom.for_bound(bits=1 << 14, false_positives=0.05, max=max, decay="independent", seed=seed)
        for max, seed in ((1, 1), (3, 1), (1, 2))
    ]
    answers = [filter.add(stream) for filter in filters]
    for filter, flags in zip(filters, answers, strict=True):
        assert flags[100_000:].mean() == pytest.approx(filter.bound, rel=0.06)
    assert (answers[0] != answers[2]).any()
    again = StableBloom.for_bound(bits=1 << 14, false_positives=0.05, decay="independent", seed=1)
    assert (np.concatenate([again.add(part) for part in np.array_split(stream, 5)]) == answers[0]).all()


def test_parameters_of_the_stable_filter_are_told() -> None:
    filter = StableBloom(bits=1000, max=5, k=3, p=10)
    assert (filter.bits, filter.max, filter.k, filter.p) == (999, 5, 3, 10)
    assert repr(filter) == "StableBloom(bits=999, max=5, k=3, p=10, count=0)"
    assert repr(Bloom(bits=99, hashes=3)) == "Bloom(bits=99, hashes=3, count=0)"
    assert repr(BlockedBloom(bits=99, hashes=3)) == "BlockedBloom(bits=512, hashes=3, count=0)"


# --- files --------------------------------------------------------------------------------------------------


def test_filters_are_saved_loaded_and_copied(tmp_path: Path) -> None:
    keys = numbers(1000, 1)
    for filter in make_all():
        filter.update(keys[:500])
        path = tmp_path / filter.kind
        filter.save(path)
        others = [type(filter).load(path), copy.copy(filter), copy.deepcopy(filter), filter.copy()]
        answers = filter.add(keys)
        for other in others:
            assert type(other) is type(filter)
            assert (other.add(keys) == answers).all()
            assert repr(other) == repr(filter)
            assert other.fill == filter.fill


def test_a_filter_lives_in_a_file(tmp_path: Path) -> None:
    makes: list[tuple[str, Callable[[Path], Filter], Callable[[Path], Filter]]] = [
        ("bloom", lambda path: Bloom.map(path, capacity=1000, error=0.01), Bloom.map),
        ("blocked", lambda path: BlockedBloom.map(path, bits=9000, hashes=4), BlockedBloom.map),
        ("stable", lambda path: StableBloom.map(path, bits=100_000, p=1), StableBloom.map),
    ]
    for name, make, open in makes:
        path = tmp_path / name
        filter = make(path)
        filter.update(["a"])
        with pytest.raises(CorruptFile, match="not closed") as refused:
            open(path)
        assert (refused.value.path, refused.value.offset) == (path, 51)
        filter.flush()
        code = (
            f"from crivello.filters import *; f = {type(filter).__name__}.map({str(path)!r}); f.update(['b'])"
        )
        del filter
        subprocess.run([sys.executable, "-c", code], check=True)
        again = open(path)
        assert again.contains(["a", "b", "c"]).tolist() == [True, True, False]
        assert len(again) == 2
        with pytest.raises(InvalidArgument, match="has its size already"):
            make(path)


def test_damage_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "filter"
    Bloom(capacity=1000, error=0.01).save(path)
    whole = path.read_bytes()
    for offset, place in [(0, 0), (20, 60), (61, 60), (64, 64), (len(whole) - 1, 64)]:
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        with pytest.raises(CorruptFile) as damaged:
            Bloom.load(path)
        assert (damaged.value.path, damaged.value.offset) == (path, place)
    with pytest.raises(StorageError, match="No such file"):
        Bloom.load(tmp_path / "nothing")


def random_number(state: int, index: int) -> int:
    """SplitMix64."""
    mixed = (state + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return mixed ^ (mixed >> 31)


def bits_of(contents: bytes) -> set[int]:
    return {at for at in range(8 * len(contents)) if contents[at // 8] >> (at % 8) & 1}


def test_files_are_what_their_description_says(tmp_path: Path) -> None:
    (signature,) = map(int, signatures(["https://example.org/"]))
    path = tmp_path / "filter"

    bloom = Bloom(bits=1000, hashes=4)
    bloom.update(["https://example.org/"])
    bloom.save(path)
    file = path.read_bytes()
    contents = file[64:]
    expected = b"CRVLBLOM" + struct.pack(
        "<II QQQQ HBBII", 2, 0, 1000, 0, 0, 1, 4, 1, 0, zlib.crc32(contents), 0
    )
    assert file[:64] == expected + struct.pack("<I", zlib.crc32(expected))
    place, step, change, places = random_number(signature, 0), random_number(signature, 1), 0, set()
    for _ in range(4):
        places.add(place * 1000 >> 64)
        place, step = (place + step) & MASK, (step + change) & MASK
        change = (change + 0x9E3779B97F4A7C15) & MASK
    assert bits_of(contents) == places

    blocked = BlockedBloom(bits=5120, hashes=9)
    blocked.update(["https://example.org/"])
    blocked.save(path)
    block = random_number(signature, 0) * 10 >> 64
    picks = [random_number(signature, 1 + bit // 7) >> 9 * (bit % 7) & 511 for bit in range(9)]
    assert bits_of(path.read_bytes()[64:]) == {512 * block + pick for pick in picks}


# --- arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bloom(),
        lambda: Bloom(capacity=10),
        lambda: Bloom(capacity=10, error=0.1, bits=10),
        lambda: Bloom(capacity=0, error=0.1),
        lambda: Bloom(capacity=-1, error=0.1),
        lambda: Bloom(capacity=10, error=1.5),
        lambda: Bloom(capacity=10, error=math.nan),
        lambda: Bloom(bits=0, hashes=1),
        lambda: Bloom(bits=1 << 60, hashes=1),
        lambda: BlockedBloom(bits=10, hashes=65),
        lambda: Bloom(bits=10, capacity=0),
        lambda: Bloom(bits=10, hashes=2, hashing="triple"),  # type: ignore[arg-type]
        lambda: BlockedBloom(bits=10, hashes=2, hashing="double"),
        lambda: StableBloom(bits=100, decay="slow"),  # type: ignore[arg-type]
        lambda: StableBloom(bits=1, k=2),
        lambda: StableBloom(bits=100, max=0),
        lambda: StableBloom(bits=100, max=256),
        lambda: StableBloom(bits=100, p=101),
        lambda: StableBloom.for_bound(bits=1000, false_positives=0),
        lambda: StableBloom.for_bound(bits=1000, false_positives=1e-9, k=1),
        lambda: StableBloom.map("does/not/exist"),
    ],
)
def test_bad_arguments_are_one_clear_sentence(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_importing_crivello_does_not_load_numpy() -> None:
    code = "import crivello, crivello._core, sys; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
