"""Filters from Python, in batches of 10,000 URLs, compared with rbloom at the same false-positive rate.

URLs have 70 to 100 bytes, and each measurement uses new strings: a str caches its hash, and a crawler's URLs
are new. Filters are filled before they are measured, so that their memory is mapped and half of their bits
are set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rbloom import Bloom as RustBloom

from bench import Measurement
from crivello.filters import BlockedBloom, Bloom, Filter, StableBloom, signatures

BATCH = 10_000
BATCHES = 10
TURNS = 10
ERROR = 0.01
SMALL = 1_000_000
MEDIUM = 20_000_000
MIB = 8 << 20

Key = TypeVar("Key")

_random = np.random.default_rng(1)


def urls() -> list[list[str]]:
    """Batches of new URLs."""
    count = BATCH * BATCHES
    digits = _random.bytes(25 * count).hex()
    lengths = _random.integers(20, 50, count).tolist()
    made = [
        f"https://www.site-{length:03}.example.org/archive/{digits[50 * at : 50 * at + length]}.html"
        for at, length in enumerate(lengths)
    ]
    return [made[start : start + BATCH] for start in range(0, count, BATCH)]


def numbers(count: int) -> NDArray[np.uint64]:
    """Signatures of new keys."""
    return _random.integers(0, 1 << 64, count, dtype=np.uint64)


def rates(*works: Callable[[list[str]], object]) -> list[float]:
    """Keys per second of each, from lists of str: the best of several rounds, each with new strings."""
    return best_turns(urls, *works)


def rates_of_signatures(*works: Callable[[NDArray[np.uint64]], object]) -> list[float]:
    """Keys per second of each, from arrays of signatures."""
    return best_turns(lambda: [signatures(batch) for batch in urls()], *works)


def best_turns(make: Callable[[], list[Key]], *works: Callable[[Key], object]) -> list[float]:
    best = [float("inf")] * len(works)
    # Alternating, so that other load affects all of them.
    for _ in range(TURNS):
        for number, work in enumerate(works):
            batches = make()
            started = time.perf_counter()
            for batch in batches:
                work(batch)
            best[number] = min(best[number], time.perf_counter() - started)
    return [BATCH * BATCHES / shortest for shortest in best]


def fill(filter: Filter, keys: int) -> None:
    for start in range(0, keys, 10_000_000):
        filter.update(numbers(min(10_000_000, keys - start)))


def beside_rbloom(capacity: int) -> Iterator[Measurement]:
    ours, theirs = Bloom(capacity=capacity, error=ERROR), RustBloom(capacity, ERROR)
    fill(ours, capacity)
    theirs.update(range(capacity))

    def ask_one_by_one(batch: list[str]) -> None:
        for url in batch:
            url in theirs  # noqa: B015

    million = f"{capacity // 1_000_000} M keys at 1 %"
    updates = rates(ours.update, theirs.update)
    yield Measurement(f"Bloom update, {million}", updates[0], "rbloom update", updates[1], "keys/s", 2)
    asks = rates(ours.contains, ask_one_by_one)
    yield Measurement(f"Bloom contains, {million}", asks[0], "rbloom in a loop", asks[1], "keys/s", 3)


def blocked_beside_plain() -> Iterator[Measurement]:
    # As many keys as fit a plain filter of 256 MiB.
    capacity = int(256 * MIB * np.log(2) ** 2 / -np.log(ERROR))
    plain, blocked = Bloom(capacity=capacity, error=ERROR), BlockedBloom(capacity=capacity, error=ERROR)
    fill(plain, capacity)
    fill(blocked, capacity)
    answers = np.concatenate([blocked.contains(numbers(1_000_000)) for _ in range(4)])
    yield Measurement(
        "blocked Bloom error, 256 MiB", float(answers.mean()), "stated", ERROR, "errors/key", 1.1, True
    )
    rows = [
        ("update", rates(blocked.update, plain.update)),
        ("contains", rates(blocked.contains, plain.contains)),
        ("update, signatures", rates_of_signatures(blocked.update, plain.update)),
    ]
    for what, (ours, theirs) in rows:
        yield Measurement(f"blocked Bloom {what}, 256 MiB", ours, "our Bloom", theirs, "keys/s", 1.5)


def stable() -> Iterator[Measurement]:
    for name, bits in (("32 KiB", 1 << 18), ("64 MiB", 64 * MIB)):
        filter = StableBloom(bits=bits, max=1, k=2, p=4)
        fill(filter, min(bits, 20_000_000))
        (strings,) = rates(filter.add)
        yield Measurement(f"stable Bloom add, {name}", strings, "asked", 8e6, "keys/s", 1)
        (arrays,) = rates_of_signatures(filter.add)
        yield Measurement(f"stable Bloom add, signatures, {name}", arrays, "asked", 15e6, "keys/s", 1)


def published_rates() -> Iterator[Measurement]:
    """The deviation of the rates over an entire stream from the published ones, in percentage points.

    A stream is drawn uniformly from U keys, with U such that the published share of its elements is distinct:
    N draws yield U (1 - exp(-N / U)) distinct ones.
    """
    rows = [(10_000_000, 6_067_397, 262_144, 88.1, 10.86), (100_000, 173_463, 65_536, 74.2, 8.2)]
    for length, keys, bits, negatives, positives in rows:
        stream = _random.integers(0, keys, length, dtype=np.uint64)
        flags = StableBloom(bits=bits, max=1, k=2, p=4).add(stream)
        new = np.zeros(length, dtype=np.bool_)
        new[np.unique(stream, return_index=True)[1]] = True
        measured = 100 * float((~flags[~new]).mean()), 100 * float(flags[new].mean())
        for what, found, published in zip(("FNR", "FPR"), measured, (negatives, positives), strict=True):
            name = f"{what} of {length:,} keys is {found:.2f} %"
            peer = f"{published} % ± 1"
            yield Measurement(name, abs(found - published), peer, 1.0, "points", 1, True)


def measure() -> Iterator[Measurement]:
    """All measurements of the filters."""
    yield from beside_rbloom(SMALL)
    yield from beside_rbloom(MEDIUM)
    yield from blocked_beside_plain()
    yield from stable()
    yield from published_rates()
