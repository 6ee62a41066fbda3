"""Dictionaries: keys have their values, strangers are found as often as stated, files are the dictionary."""

from __future__ import annotations

import json
import math
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crivello.dictionaries import (
    ApproximateDictionary,
    Construction,
    FrontCodedList,
    Ranks,
    StaticFunction,
)
from crivello.errors import CorruptFile, CrivelloError, InvalidArgument, StorageError
from crivello.filters import Bloom
from crivello.lab.terms import generate, strangers, study
from tests.shell import says

CONSTRUCTIONS: tuple[Construction, ...] = ("pairs", "peeling", "fuse")
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)


def numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """Keys: as many different ones as you like, and others for every seed."""
    return np.random.default_rng(seed).integers(0, 1 << 64, count, dtype=np.uint64)


def near(count: float, asked: int, rate: float) -> bool:
    """Whether a count is within five standard deviations of its mean."""
    return abs(count - asked * rate) <= 5 * math.sqrt(asked * rate) + 1


# --- answers ------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.dictionaries(TEXT, st.integers(0, 2**64 - 1), max_size=60),
    st.sampled_from(CONSTRUCTIONS),
    st.booleans(),
)
def test_a_function_is_a_dict_without_its_keys(
    model: dict[str, int], construction: Construction, compact: bool
) -> None:
    function = StaticFunction(list(model), list(model.values()), construction=construction, compact=compact)
    assert len(function) == len(model)
    assert function.get(list(model)).tolist() == list(model.values())
    assert function.get([key.encode() for key in model]).tolist() == list(model.values())
    assert function.value_bits == max(model.values(), default=0).bit_length()
    assert (function.construction, function.compact) == (construction, compact and function.value_bits > 0)
    assert all(function[key] == value for key, value in model.items())


@settings(max_examples=40)
@given(st.sets(TEXT, max_size=60), st.sampled_from(CONSTRUCTIONS), st.booleans(), st.integers(0, 32))
def test_ranks_are_places_in_the_list(
    model: set[str], construction: Construction, compact: bool, bits: int
) -> None:
    keys = sorted(model)
    ranks = Ranks(keys, signature_bits=bits, construction=construction, compact=compact)
    assert len(ranks) == len(keys) and ranks.signature_bits == bits
    assert ranks.get(keys).tolist() == list(range(len(keys)))
    assert all(key in ranks for key in keys)
    assert keys or ranks.get(["a", "b"]).tolist() == [-1, -1]


@settings(max_examples=40)
@given(st.lists(TEXT, max_size=60), st.sampled_from(CONSTRUCTIONS), st.booleans(), st.integers(1, 32))
def test_a_set_has_its_keys(keys: list[str], construction: Construction, compact: bool, bits: int) -> None:
    made = ApproximateDictionary(keys, bits=bits, construction=construction, compact=compact)
    assert len(made) == len(set(keys))
    assert made.contains(keys).all() and all(key in made for key in keys)
    assert keys or "a" not in made


@settings(max_examples=60)
@given(st.sets(TEXT, max_size=60), st.integers(1, 9), TEXT, st.integers(-70, 70), st.integers(-70, 70))
def test_a_front_coded_list_is_a_sorted_list(
    model: set[str], block: int, asked: str, start: int, end: int
) -> None:
    keys = sorted(model)
    made = FrontCodedList(keys, block=block)
    assert list(made) == keys and len(made) == len(keys)
    assert made[start:end] == keys[start:end]
    assert made.ranks([*keys, asked]).tolist()[:-1] == list(range(len(keys)))
    assert (asked in made) == (asked in model)
    prefix = asked[:1]
    assert [made[rank] for rank in made.prefix(prefix)] == [key for key in keys if key.startswith(prefix)]
    assert [made[-place - 1] for place in range(len(keys))] == keys[::-1]
    for outside in (len(keys), -len(keys) - 1):
        with pytest.raises(IndexError):
            made[outside]


def test_numbers_are_keys_themselves() -> None:
    keys = numbers(100_000, 1)
    ranks = Ranks(keys)
    assert (ranks.get(keys) == np.arange(100_000)).all()
    assert (ranks.get(keys[::-7]) == np.arange(100_000)[::-7]).all()
    assert ranks.get([int(key).to_bytes(8, "little") for key in keys[:9]]).tolist() == list(range(9))
    answers = ranks.get(keys[:2])
    answers[0] = 7  # the answers are the caller's own


def test_more_keys_than_one_shard_has() -> None:
    keys = np.arange(2_200_000, dtype=np.uint64)
    ranks = Ranks(keys, signature_bits=2)
    assert (ranks.get(keys) == keys.astype(np.int64)).all()
    assert ranks.function_bits_per_key / 22 == pytest.approx(1.117, abs=0.005)


def test_threads_share_a_dictionary() -> None:
    keys = numbers(200_000, 2)
    ranks = Ranks(keys, compact=True)
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(bool((ranks.get(keys) >= 0).all()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


# --- what it costs, and how it errs ----------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [4, 8, 16])
def test_strangers_are_found_as_often_as_stated(bits: int) -> None:
    keys, others = numbers(60_000, 3), numbers(4_000_000, 4)
    ranks = Ranks(keys, signature_bits=bits)
    found = int((ranks.get(others) >= 0).sum())
    assert ranks.expected_error == 60_000 / 2**16 * 2**-bits
    assert near(found, len(others), ranks.expected_error)
    # Of those that the function gives a rank at all, one in 2^bits is taken for a key.
    within = int((Ranks(keys, signature_bits=0).get(others) >= 0).sum())
    assert near(found, within, 2**-bits)
    made = ApproximateDictionary(keys, bits=bits)
    assert made.expected_error == 2**-bits
    assert near(int(made.contains(others).sum()), len(others), 2**-bits)


def test_it_costs_what_is_stated() -> None:
    keys = numbers(1_000_000, 5)
    for construction, factor in (("pairs", 2.09), ("peeling", 1.23), ("fuse", 1.1176)):
        plain = Ranks(keys, signature_bits=8, construction=construction)  # type: ignore[arg-type]
        assert plain.bits_per_key == pytest.approx(factor * 20 + 8, abs=0.05)
        compact = Ranks(keys, signature_bits=8, construction=construction, compact=True)  # type: ignore[arg-type]
        assert compact.bits_per_key == pytest.approx(20 + 1.125 * factor + 8, abs=0.05)
    self_signed = ApproximateDictionary(keys, bits=10)
    bloom = Bloom(capacity=len(keys), error=2**-10)
    assert self_signed.bits_per_key / 10 == pytest.approx(1.1176, abs=0.005)
    assert bloom.bits / len(keys) / 10 == pytest.approx(1.44, abs=0.005)


# --- what is refused ----------------------------------------------------------------------------------------


def test_what_is_no_dictionary_is_refused() -> None:
    refused: list[Any] = [
        lambda: StaticFunction(["a"], [1, 2]),
        lambda: StaticFunction(["a", "b"], [1, 4], bits=2),
        lambda: StaticFunction(["a"], [-1]),
        lambda: StaticFunction(["a"], np.array([-1])),
        lambda: StaticFunction(["a"], [1.5]),  # type: ignore[list-item]
        lambda: StaticFunction(["a"], [2**64]),
        lambda: StaticFunction(["a"], np.array([[1]])),
        lambda: StaticFunction(["a"], [1], bits=65),
        lambda: StaticFunction(["a", "a"], [1, 2]),
        lambda: Ranks(["a", "a"]),
        lambda: Ranks(["a"], signature_bits=33),
        lambda: Ranks(["a"], signature_bits=-1),
        lambda: Ranks(["a"], construction="other"),  # type: ignore[arg-type]
        lambda: Ranks("abc"),  # type: ignore[arg-type]
        lambda: Ranks(["\ud800"]),
        lambda: Ranks([1]),  # type: ignore[arg-type]
        lambda: ApproximateDictionary(["a"], bits=0),
        lambda: FrontCodedList(["b", "a"]),
        lambda: FrontCodedList(["a", "a"]),
        lambda: FrontCodedList(["a"], block=0),
        lambda: FrontCodedList(["\ud800"]),
        lambda: FrontCodedList([b"a"]),  # type: ignore[list-item]
        lambda: FrontCodedList(["a"])[::2],
    ]
    for make in refused:
        with pytest.raises(InvalidArgument):
            make()
    assert StaticFunction(["a", "a"], [3, 3]).get(["a"]).tolist() == [3]


# --- files --------------------------------------------------------------------------------------------------


def test_files_are_the_dictionary_and_damage_is_refused(tmp_path: Path) -> None:
    keys = generate(2000)
    made: list[Any] = [
        StaticFunction(keys, range(2000), construction="peeling", compact=True),
        Ranks(keys, signature_bits=5),
        ApproximateDictionary(keys),
        FrontCodedList(keys),
    ]
    for one in made:
        path = tmp_path / type(one).__name__
        one.save(path)
        loaded = type(one).load(path)
        assert repr(loaded) == repr(one) and len(loaded) == 2000
        ask = {"ApproximateDictionary": "contains", "FrontCodedList": "ranks"}.get(path.name, "get")
        assert (getattr(loaded, ask)(keys) == getattr(one, ask)(keys)).all()
        loaded.save(tmp_path / "again")
        whole = path.read_bytes()
        assert (tmp_path / "again").read_bytes() == whole
        for damaged in (whole[:-1], whole[:20], whole + b"\0", whole[:40] + b"\xff" + whole[41:], b""):
            other = tmp_path / "damaged"
            other.write_bytes(damaged)
            with pytest.raises(CorruptFile):
                type(one).load(other)
            other.unlink()
    with pytest.raises(CorruptFile, match="KRNK"):
        Ranks.load(tmp_path / "StaticFunction")
    with pytest.raises(StorageError):
        Ranks.load(tmp_path / "absent")


# --- the study ----------------------------------------------------------------------------------------------


def lab(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = says("lab", "terms", *arguments)
    assert done.returncode == code, done.stderr
    return done


def test_generated_terms_are_sorted_and_different_and_strangers_are_none_of_them() -> None:
    keys = generate(5000, seed=3)
    assert keys == sorted(set(keys)) and len(keys) == 5000 and keys != generate(5000, seed=4)
    others = strangers(5000, keys)
    assert len(set(others)) == len(others) > 4990 and not set(others) & set(keys)
    with pytest.raises(CrivelloError):
        study(["b", "a"])


def test_the_command_compares_dictionaries(tmp_path: Path) -> None:
    plot = tmp_path / "terms.png"
    done = lab("--keys", "20000", "--lookups", "20000", "--json", "--plot", plot)
    assert plot.stat().st_size > 10_000
    found = json.loads(done.stdout)
    assert found["keys"] == 20_000
    rows = {row["name"]: row for row in found["ranks"]}
    assert list(rows)[:4] == ["fuse", "fuse, compacted", "peeling", "peeling, compacted"]
    assert 8 < rows["fuse"]["beyond"] < rows["peeling"]["beyond"] < rows["front-coded list"]["beyond"]
    assert rows["Python dict"]["bits_per_key"] > 500
    assert {one["bits"] for one in found["signatures"]} == {4, 8, 16}
    for one in found["sets"]:
        assert near(20_000 * one["measured"], 20_000, one["expected"])
    by_name = {(one["name"], one["bits"]): one["bits_per_key"] for one in found["sets"]}
    assert by_name["fuse", 16] < by_name["peeling", 16] < by_name["Bloom", 16]


def test_the_command_takes_terms_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "terms.txt"
    file.write_text("".join(f"{key}\n" for key in [*generate(300)[::-1], "bee", "bee"]))
    done = lab(file, "--lookups", "1000")
    assert "301 terms to ranks" in done.stdout and "front-coded list" in done.stdout
    assert "leave out the file" in lab(file, "--keys", "10", code=2).stderr
    assert "terms.txt" in lab(file, "--plot", "terms.txt", code=2).stderr
    file.write_text("one\n")
    assert "fewer than two" in lab(file, code=2).stderr
    lab(tmp_path / "absent", code=3)
