"""Ranks and sets of ten million terms, compared with a Python dict, a sorted array and Bloom filters.

Terms are generated words with numbers. A million of them are looked up in random order, in batches of 10,000
through the public API, including hashing; the time of the dict includes a Python loop.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from bench import Measurement
from crivello.dictionaries import ApproximateDictionary, Construction, FrontCodedList, Ranks
from crivello.filters import BlockedBloom, Bloom
from crivello.lab.terms import generate, strangers

KEYS = 10_000_000
LOOKUPS = 1_000_000
STRANGERS = 10_000_000
BATCH = 10_000
TURNS = 3

Made = TypeVar("Made")


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def nanoseconds(ask: Callable[[list[str]], object], keys: list[str]) -> float:
    """The time of one lookup: the best of several rounds."""
    best = float("inf")
    for _ in range(TURNS):
        started = time.perf_counter()
        for start in range(0, len(keys), BATCH):
            ask(keys[start : start + BATCH])
        best = min(best, time.perf_counter() - started)
    return 1e9 * best / len(keys)


def dict_of(keys: list[str], asked: list[str]) -> tuple[float, float, float]:
    """Bits per key, seconds to build and nanoseconds per lookup of a dict."""
    model, build = timed(lambda: dict(zip(keys, range(len(keys)), strict=True)))
    # Integers above 256 are objects of 28 bytes, allocated in multiples of 16.
    size = sys.getsizeof(model) + sum(map(sys.getsizeof, keys)) + 32 * len(keys)
    return 8 * size / len(keys), build, nanoseconds(lambda batch: [model[key] for key in batch], asked)


def array_of(keys: list[str], asked: list[str]) -> tuple[float, float, float]:
    """The same for a sorted NumPy array, in which every key takes the space of the longest."""
    encoded = [key.encode() for key in keys]
    array, build = timed(lambda: np.array(encoded))

    def ask(batch: list[str]) -> object:
        return np.searchsorted(array, np.array([key.encode() for key in batch]))

    return 8 * array.nbytes / len(keys), build, nanoseconds(ask, asked)


def ranks_beside_a_dict(keys: list[str], asked: list[str]) -> Iterator[Measurement]:
    model_bits, model_build, model_time = dict_of(keys, asked)
    array_bits, array_build, array_time = array_of(keys, asked)
    needed = math.log2(len(keys))
    plans: list[tuple[Construction, bool]] = [
        ("fuse", False),
        ("fuse", True),
        ("peeling", False),
        ("peeling", True),
    ]
    for construction, compact in plans:
        name = f"{construction}{', compacted' if compact else ''}"
        made, build = timed(
            lambda: Ranks(keys, signature_bits=8, construction=construction, compact=compact)  # noqa: B023
        )
        function = made.function_bits_per_key
        yield Measurement(f"{name}: function, bits a key", function, "log2 n", needed, "bits", None, True)
        yield Measurement(
            f"{name}: with 8 of signature", made.bits_per_key, "dict", model_bits, "bits", 0.1, True
        )
        yield Measurement(f"{name}: build", build, "dict", model_build, "s", None, True)
        lookup = nanoseconds(made.get, asked)
        yield Measurement(f"{name}: lookup", lookup, "dict in a loop", model_time, "ns", None, True)
        yield Measurement(f"{name}: lookup", lookup, "sorted array, NumPy", array_time, "ns", 0.5, True)
    yield Measurement("sorted array: bits a key", array_bits, "dict", model_bits, "bits", None, True)
    yield Measurement("sorted array: build", array_build, "dict", model_build, "s", None, True)
    listed, build = timed(lambda: FrontCodedList(keys))
    yield Measurement(
        "front-coded list: bits a key", listed.bits_per_key, "sorted array", array_bits, "bits", None, True
    )
    lookup = nanoseconds(listed.ranks, asked)
    yield Measurement("front-coded list: lookup", lookup, "sorted array, NumPy", array_time, "ns", None, True)


def signatures(keys: list[str], others: list[str]) -> Iterator[Measurement]:
    within = float((Ranks(keys, signature_bits=0).get(others) >= 0).mean())
    for bits in (4, 8, 16):
        found = float((Ranks(keys, signature_bits=bits).get(others) >= 0).mean())
        yield Measurement(
            f"ranks, r = {bits}: false positives", found, "n / 2^(b + r)", within * 2.0**-bits, "rate"
        )
        yield Measurement(
            f"ranks, r = {bits}: of those with f(x) < n", found / within, "2^-r", 2.0**-bits, "rate"
        )


def sets_beside_bloom(keys: list[str], asked: list[str], others: list[str]) -> Iterator[Measurement]:
    for bits in (4, 8, 16):
        made, build = timed(lambda: ApproximateDictionary(keys, bits=bits))  # noqa: B023
        yield Measurement(
            f"self-signed, r = {bits}: false positives",
            float(made.contains(others).mean()),
            "2^-r",
            2.0**-bits,
            "rate",
        )
        lookup = nanoseconds(made.contains, asked)
        for kind in (Bloom, BlockedBloom):
            bloom = kind(capacity=len(keys), error=2.0**-bits)
            _, bloom_build = timed(lambda: bloom.update(keys))  # noqa: B023
            name = f"self-signed, r = {bits}"
            peer = kind.__name__
            yield Measurement(
                f"{name}: bits a key", made.bits_per_key, peer, bloom.bits_per_key, "bits", None, True
            )
            yield Measurement(f"{name}: build", build, peer, bloom_build, "s", None, True)
            yield Measurement(
                f"{name}: lookup", lookup, peer, nanoseconds(bloom.contains, asked), "ns", None, True
            )


def measure() -> Iterator[Measurement]:
    """All measurements of the dictionaries."""
    keys = generate(KEYS)
    picks = np.random.default_rng(1).integers(0, KEYS, LOOKUPS).tolist()
    asked = [keys[pick] for pick in picks]
    others = strangers(STRANGERS, asked)
    yield from ranks_beside_a_dict(keys, asked)
    yield from signatures(keys, others)
    yield from sets_beside_bloom(keys, asked, others)
