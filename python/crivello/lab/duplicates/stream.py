"""The stream of a study: read from a file or a table, or generated.

A generated stream has a given fraction of distinct elements, and a skew, or a distance of its duplicates.

A generated element is drawn from a population of U keys; the r-th has a probability proportional to the
integral of x^-skew from r to r + 1, a form of Zipf's law that can be inverted: with a uniform u from [0, 1)

    r = ((1 - u) + u (U + 1)^(1 - s))^(1 / (1 - s))        (s = 1: r = (U + 1)^u)

rounded down. Skew 0 draws uniformly. The expected number of distinct elements among n, the sum of
1 - (1 - p_r)^n, grows with U, so U is found by bisection. A skew above 1 leaves so little for the rare keys
that some fractions cannot be reached; that is an error.

With a distance g instead of a skew, every element is a repetition with probability 1 - distinct: of the one x before
it, where x is drawn from an exponential distribution of mean g. So the share of duplicates and how far they
are from what they repeat vary independently of each other.

10 million elements take about two seconds and 8 bytes each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from crivello.errors import InvalidArgument

_MOST_KEYS = 10.0**15
_STEPS_OF_THE_SUM = 4000


@dataclass(frozen=True, slots=True)
class Stream:
    """Signatures in order, and their source; skew or distance, and seed, only if it was generated."""

    signatures: NDArray[np.uint64]
    source: str
    skew: float | None = None
    seed: int | None = None
    distance: int | None = None

    def __len__(self) -> int:
        return len(self.signatures)


def read(path: str | Path) -> Stream:
    """The stream of a file's lines, or of the URLs of a Common Crawl index."""
    from crivello.filters import Bloom
    from crivello.stream.sift import record_stream
    from crivello.stream.truth import entries

    with TemporaryDirectory(prefix="crivello-lab-") as temporary:
        record = Path(temporary, "record")
        # The filter's answers are not used here: any filter will do.
        record_stream([path], Bloom(bits=64, hashes=1)._native, record=record)
        chunks = [np.ascontiguousarray(chunk["signature"]) for chunk in entries(record)]
    if not chunks:
        raise InvalidArgument(f"{path} has no lines to study")
    return Stream(np.concatenate(chunks), str(path))


def generate(elements: int, distinct: float = 0.49, skew: float = 0.8, seed: int = 0) -> Stream:
    """A stream of ``elements``, of which an expected fraction ``distinct`` is new."""
    if elements < 1:
        raise InvalidArgument("a stream has at least one element")
    if not 0 < distinct <= 1:
        raise InvalidArgument(f"the distinct share must be above 0 and at most 1, and {distinct} is not")
    if not 0 <= skew <= 3:
        raise InvalidArgument(f"the skew must be from 0 to 3, and {skew} is not")
    drawn = np.random.default_rng(seed).random(elements)
    if distinct == 1:
        return Stream(_mixed(np.arange(elements, dtype=np.uint64), seed), "generated", skew, seed)
    ranks = _ranks(drawn, _population(elements, distinct, skew), skew)
    return Stream(_mixed(ranks.astype(np.uint64), seed), "generated", skew, seed)


def generate_at_distance(
    elements: int, distinct: float = 0.49, distance: int = 1000, seed: int = 0
) -> Stream:
    """A stream of ``elements`` whose duplicates are ``distance`` elements apart on average."""
    if elements < 1 or distance < 1:
        raise InvalidArgument("a stream has at least one element, and duplicates a distance of at least 1")
    if not 0 < distinct <= 1:
        raise InvalidArgument(f"the distinct share must be above 0 and at most 1, and {distinct} is not")
    random = np.random.default_rng(seed)
    positions = np.arange(elements)
    before = positions - np.ceil(random.exponential(distance, elements)).astype(np.int64)
    repeats = (random.random(elements) >= distinct) & (before >= 0)
    sources = np.where(repeats, before, positions)
    # A repetition of a repetition is one of the first: half of the remaining steps at a time.
    while (further := sources[sources]).tobytes() != sources.tobytes():
        sources = further
    return Stream(_mixed(sources.astype(np.uint64), seed), "generated", None, seed, distance)


def of_common_crawl(file: Path, crawl: str, parts: int) -> Stream:
    """The stream of the URLs of a crawl's index, of at most ``parts`` parts: see ``common_crawl``."""
    from crivello.lab.duplicates.common_crawl import signatures_of

    signatures, read = signatures_of(file, crawl, parts)
    return Stream(signatures, f"{crawl}, {read:,} part{'' if read == 1 else 's'} of its index")


def _ranks(drawn: NDArray[np.float64], keys: float, skew: float) -> NDArray[np.float64]:
    if skew == 1:
        return np.asarray(np.floor((keys + 1) ** drawn))
    power = 1 - skew
    return np.asarray(np.floor(((1 - drawn) + drawn * (keys + 1) ** power) ** (1 / power)))


def expected_distinct(elements: int, keys: float, skew: float) -> float:
    """The expected number of distinct keys among ``elements`` elements."""
    # The terms change slowly with the rank: each of a few thousand ranks represents those up to the next.
    ranks = np.unique(np.floor(np.geomspace(1, keys + 1, _STEPS_OF_THE_SUM)))
    widths = np.diff(ranks)
    shares = np.diff(_cumulated(ranks, keys, skew)) / widths
    return float(np.sum(widths * -np.expm1(elements * np.log1p(-np.minimum(shares, 1 - 1e-16)))))


def _cumulated(ranks: NDArray[np.float64], keys: float, skew: float) -> NDArray[np.float64]:
    if skew == 1:
        return np.asarray(np.log(ranks) / math.log(keys + 1))
    return np.asarray((ranks ** (1 - skew) - 1) / ((keys + 1) ** (1 - skew) - 1))


def _population(elements: int, distinct: float, skew: float) -> float:
    wanted = distinct * elements
    reached = expected_distinct(elements, _MOST_KEYS, skew)
    if reached < wanted:
        raise InvalidArgument(
            f"with a skew of {skew:g} at most {reached / elements:.1%} of {elements:,} elements are distinct",
            hint="ask for a smaller distinct share, or a smaller skew",
        )
    low, high = 1.0, _MOST_KEYS
    while high - low > 1 and high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if expected_distinct(elements, middle, skew) < wanted else (low, middle)
    return math.floor(high)


def _mixed(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Numbers as signatures: a bijection in which all bits depend on all (SplitMix64)."""
    start = seed * 0x9E3779B97F4A7C15 % (1 << 64)
    mixed = numbers + np.uint64(start)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
