"""Compares the cost and the error rates of dictionaries.

Times are those of batches through the public API, hashing included; a ``dict`` is queried in a Python loop,
whose cost is included in its time. Sizes are those of a structure's bytes; for a ``dict``, those of its table
and of its strings.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from crivello.dictionaries import ApproximateDictionary, Construction, FrontCodedList, Ranks
from crivello.errors import InvalidArgument
from crivello.filters import BlockedBloom, Bloom
from crivello.lab.terms.keys import strangers

Made = TypeVar("Made")

# A NumPy array stores every string at the length of the longest; above this size the array is left out.
_LARGEST_ARRAY = 1 << 31

_RANKS: tuple[tuple[str, Construction, bool], ...] = (
    ("fuse", "fuse", False),
    ("fuse, compacted", "fuse", True),
    ("peeling", "peeling", False),
    ("peeling, compacted", "peeling", True),
    ("pairs", "pairs", False),
    ("pairs, compacted", "pairs", True),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The lookups: keys in random order, and terms that are not keys."""

    keys: list[str]
    ranks: list[int]
    strangers: list[str]


@dataclass(frozen=True, slots=True)
class Row:
    """A dictionary from terms to ranks."""

    name: str
    bits_per_key: float
    build_seconds: float
    nanoseconds: float

    def beyond(self, keys: int) -> float:
        """The bits per key beyond log2 n, which any dictionary of ranks needs."""
        return self.bits_per_key - math.log2(keys)


@dataclass(frozen=True, slots=True)
class Rate:
    """An approximate structure: its error rate and its cost; ``misses`` are cache misses per key."""

    name: str
    bits: int
    bits_per_key: float
    build_seconds: float
    nanoseconds: float
    misses: int
    measured: float
    expected: float


@dataclass(frozen=True, slots=True)
class Study:
    """The results: ``ranks`` of terms, ``sets`` of terms, ``signatures`` of ranks by their width."""

    keys: int
    asked: int
    signature_bits: int
    ranks: list[Row]
    signatures: list[Rate]
    sets: list[Rate]

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        rows = [{**_fields(row), "beyond": row.beyond(self.keys)} for row in self.ranks]
        return {
            "keys": self.keys,
            "asked": self.asked,
            "signature_bits": self.signature_bits,
            "log2_keys": math.log2(self.keys),
            "ranks": rows,
            "signatures": [_fields(rate) for rate in self.signatures],
            "sets": [_fields(rate) for rate in self.sets],
        }


def study(
    keys: list[str],
    *,
    signature_bits: int = 8,
    rates: Iterable[int] = (4, 8, 16),
    lookups: int = 1_000_000,
    seed: int = 0,
) -> Study:
    """Measures every dictionary on ``keys``, which must be sorted and distinct, with ``lookups`` lookups."""
    if len(keys) < 2 or any(one >= other for one, other in pairwise(keys)):
        raise InvalidArgument("the terms must be at least two, sorted and different")
    picks = np.random.default_rng(seed).integers(0, len(keys), lookups).tolist()
    asked = Asked([keys[pick] for pick in picks], picks, strangers(lookups, keys, seed + 1))
    rows = [_ranks_row(keys, asked, signature_bits, *one) for one in _RANKS]
    rows += [_dict_row(keys, asked), *_array_row(keys, asked), _front_coded_row(keys, asked)]
    signatures = [_signature_rate(keys, asked, bits) for bits in rates]
    sets = [rate for bits in rates for rate in _set_rates(keys, asked, bits)]
    return Study(len(keys), lookups, signature_bits, rows, signatures, sets)


def _ranks_row(
    keys: list[str], asked: Asked, bits: int, name: str, construction: Construction, compact: bool
) -> Row:
    made, build = _timed(lambda: Ranks(keys, signature_bits=bits, construction=construction, compact=compact))
    found, lookup = _best(lambda: made.get(asked.keys))
    _check(name, found.tolist() == asked.ranks)
    return Row(name, made.bits_per_key, build, 1e9 * lookup / len(asked.keys))


def _dict_row(keys: list[str], asked: Asked) -> Row:
    made, build = _timed(lambda: {key: rank for rank, key in enumerate(keys)})
    found, lookup = _best(lambda: [made[key] for key in asked.keys])
    _check("dict", found == asked.ranks)
    numbers = sum(map(sys.getsizeof, range(257, len(keys))))
    size = sys.getsizeof(made) + sum(map(sys.getsizeof, keys)) + numbers
    return Row("Python dict", 8 * size / len(keys), build, 1e9 * lookup / len(asked.keys))


def _array_row(keys: list[str], asked: Asked) -> list[Row]:
    encoded = [key.encode() for key in keys]
    if max(map(len, encoded)) * len(keys) > _LARGEST_ARRAY:
        return []
    made, build = _timed(lambda: np.array(encoded))
    wanted = np.array([key.encode() for key in asked.keys])
    found, lookup = _best(lambda: np.searchsorted(made, wanted))
    _check("array", found.tolist() == asked.ranks)
    return [Row("sorted array, NumPy", 8 * made.nbytes / len(keys), build, 1e9 * lookup / len(asked.keys))]


def _front_coded_row(keys: list[str], asked: Asked) -> Row:
    made, build = _timed(lambda: FrontCodedList(keys))
    found, lookup = _best(lambda: made.ranks(asked.keys))
    _check("front-coded list", found.tolist() == asked.ranks)
    return Row("front-coded list", made.bits_per_key, build, 1e9 * lookup / len(asked.keys))


def _signature_rate(keys: list[str], asked: Asked, bits: int) -> Rate:
    made, build = _timed(lambda: Ranks(keys, signature_bits=bits))
    _, lookup = _best(lambda: made.get(asked.keys))
    measured = float((made.get(asked.strangers) >= 0).mean())
    nanoseconds = 1e9 * lookup / len(asked.keys)
    return Rate("ranks", bits, made.bits_per_key, build, nanoseconds, 4, measured, made.expected_error)


def _set_rates(keys: list[str], asked: Asked, bits: int) -> Iterable[Rate]:
    for name, construction, compact in _RANKS[::2]:
        made, build = _timed(
            lambda: ApproximateDictionary(keys, bits=bits, construction=construction, compact=compact)  # noqa: B023
        )
        yield _set_rate(name, made, asked, bits, build, 2 if construction == "pairs" else 3)
    for kind, name in ((Bloom, "Bloom"), (BlockedBloom, "blocked Bloom")):
        empty = kind(capacity=len(keys), error=2.0**-bits)
        _, build = _timed(lambda: empty.update(keys))  # noqa: B023
        yield _set_rate(name, empty, asked, bits, build, 1 if kind is BlockedBloom else empty.hashes)


def _set_rate(
    name: str, made: ApproximateDictionary | Bloom, asked: Asked, bits: int, build: float, misses: int
) -> Rate:
    found, lookup = _best(lambda: made.contains(asked.keys))
    _check(name, bool(found.all()))
    measured = float(made.contains(asked.strangers).mean())
    nanoseconds = 1e9 * lookup / len(asked.keys)
    return Rate(name, bits, made.bits_per_key, build, nanoseconds, misses, measured, 2.0**-bits)


def _timed(work: Callable[[], Made]) -> tuple[Made, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def _best(work: Callable[[], Made]) -> tuple[Made, float]:
    """The shortest of several runs: in the first one the strings are not in the cache."""
    runs = [_timed(work) for _ in range(3)]
    return runs[0][0], min(seconds for _, seconds in runs)


def _check(name: str, right: bool) -> None:
    assert right, f"the {name} gave a wrong answer"


def _fields(row: Row | Rate) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}
