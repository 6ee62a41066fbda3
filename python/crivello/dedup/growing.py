"""An index of documents that grows while it is asked: which earlier documents share a key with a new one?

Keys with the numbers of their documents are in sorted arrays; a new batch is an array of its own, and arrays of like size are
merged, so that n keys take 12 n bytes, O(log n) arrays, and O(log n) merges each.

The keys are the bands of a MinHash (see crates/core/src/duplicates/banding.rs), or every three of the k + 3 blocks of a SimHash:
k different bits touch at most k blocks, so two within the distance agree on three.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crivello import _core
from crivello.dedup.fingerprint import split_at
from crivello.dedup.options import Measure, Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AGREEING = 3
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Sketch(Protocol):
    """The keys of texts, and whether those that share one are similar."""

    def keys(self, texts: list[str]) -> NDArray[np.uint64]:
        """A row of keys for each text of a batch."""

    def is_similar(self, place: int, kept: Iterable[int]) -> bool:
        """Whether a text of the batch is similar to one of those that were kept."""

    def keep(self, place: int) -> None:
        """Remembers a text of the batch: its number is the next one."""


class Growing:
    """Documents that are not similar to any before them."""

    def __init__(self, sketch: Sketch) -> None:
        self._sketch = sketch
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = []
        self._count = 0

    def add(self, texts: list[str]) -> NDArray[np.bool_]:
        """Which of the texts are new; these are remembered."""
        keys = self._sketch.keys(texts)
        before = self._candidates(keys)
        # Only keys that occur twice in the batch can make two of its texts candidates.
        found, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = (counts > 1)[places].reshape(keys.shape)
        buckets: dict[int, list[int]] = {}
        is_new = np.ones(len(texts), np.bool_)
        first = self._count
        for place in range(len(texts)):
            names = found[places.reshape(keys.shape)[place][shared[place]]].tolist()
            candidates = before.get(place, set()).union(*(buckets.get(name, ()) for name in names))
            if candidates and self._sketch.is_similar(place, sorted(candidates)):
                is_new[place] = False
                continue
            for name in names:
                buckets.setdefault(name, []).append(self._count)
            self._sketch.keep(place)
            self._count += 1
        self._insert(keys[is_new], np.arange(first, self._count, dtype=np.uint32))
        return is_new

    def _candidates(self, keys: NDArray[np.uint64]) -> dict[int, set[int]]:
        """The earlier documents that share a key with each text."""
        candidates: dict[int, set[int]] = {}
        for known, numbers in self._runs:
            starts = np.searchsorted(known, keys, "left")
            ends = np.searchsorted(known, keys, "right")
            for place, band in np.argwhere(ends > starts).tolist():
                some = numbers[starts[place, band] : ends[place, band]]
                candidates.setdefault(place, set()).update(some.tolist())
        return candidates

    def _insert(self, keys: NDArray[np.uint64], numbers: NDArray[np.uint32]) -> None:
        run = (keys.ravel(), np.repeat(numbers, keys.shape[1]))
        while True:
            order = np.argsort(run[0], kind="stable")
            run = (run[0][order], run[1][order])
            if not self._runs or len(self._runs[-1][0]) > 2 * len(run[0]):
                break
            last = self._runs.pop()
            run = (np.concatenate((last[0], run[0])), np.concatenate((last[1], run[1])))
        self._runs.append(run)


class MinHashBands:
    """Bands of MinHash sketches, verified on the sets of n-grams, which are in a temporary file."""

    def __init__(self, options: Options) -> None:
        self._shingle, self._bins = options.shingle, options.sketch_bins
        self._threshold, self._measure = options.least, options.measure or Measure.JACCARD
        self._rows = options.rows_of_band
        self._bands = self._bins // self._rows
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this
        weakref.finalize(self, self._file.close)
        self._ends = array("Q", [0])
        self._batch: list[NDArray[np.uint64]] = []

    def keys(self, texts: list[str]) -> NDArray[np.uint64]:
        """A hash of the numbers of each band."""
        ends, signals = _core.fingerprints(texts, *self._shingle)
        self._batch = split_at(signals, ends)
        sketches = np.asarray(_core.minhashes(texts, *self._shingle, self._bins, 32))
        used = sketches.reshape(len(texts), self._bins)[:, : self._bands * self._rows]
        bands = used.reshape(len(texts), self._bands, self._rows).astype(np.uint64)
        keys = np.arange(self._bands, dtype=np.uint64)[None, :].repeat(len(texts), axis=0)
        for row in range(self._rows):
            keys = _mixed(keys ^ bands[:, :, row])
        return keys

    def is_similar(self, place: int, kept: Iterable[int]) -> bool:
        """By the measure on the sets."""
        mine = self._batch[place]
        return any(self._similarity(mine, self._signals(number)) >= self._threshold for number in kept)

    def keep(self, place: int) -> None:
        """Appends the set to the file."""
        signals = self._batch[place]
        self._file.write(signals.tobytes())
        self._ends.append(self._ends[-1] + 8 * len(signals))

    def _signals(self, number: int) -> NDArray[np.uint64]:
        self._file.flush()
        start, end = self._ends[number], self._ends[number + 1]
        return np.frombuffer(os.pread(self._file.fileno(), end - start, start), np.uint64)

    def _similarity(self, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
        common = len(np.intersect1d(one, other, assume_unique=True))
        whole = {
            Measure.JACCARD: len(one) + len(other) - common,
            Measure.CONTAINMENT: len(one),
            Measure.OVERLAP: min(len(one), len(other)),
        }[Measure(self._measure)]
        return common / whole if whole else float(len(one) == len(other))


class SimHashBlocks:
    """Blocks of SimHashes of up to 64 bits, verified by their Hamming distance."""

    def __init__(self, options: Options) -> None:
        self._shingle, self._weights = options.shingle, str(options.weights or "frequency")
        self._bits, self._distance = options.hash_bits, options.most_bits
        blocks = self._distance + _AGREEING
        self._cuts = [self._bits * number // blocks for number in range(blocks + 1)]
        self._kept = array("Q")
        self._batch = np.empty(0, np.uint64)

    def keys(self, texts: list[str]) -> NDArray[np.uint64]:
        """A hash of every three blocks."""
        self._batch = np.asarray(_core.simhashes(texts, *self._shingle, self._weights, self._bits))
        blocks = [
            (self._batch >> np.uint64(start)) & np.uint64((1 << (end - start)) - 1)
            for start, end in zip(self._cuts, self._cuts[1:], strict=False)
        ]
        some: Sequence[tuple[int, ...]] = list(combinations(range(len(blocks)), _AGREEING))
        keys = np.empty((len(texts), len(some)), np.uint64)
        for column, chosen in enumerate(some):
            key = np.full(len(texts), column, np.uint64)
            for number in chosen:
                key = _mixed(key ^ blocks[number])
            keys[:, column] = key
        return keys

    def is_similar(self, place: int, kept: Iterable[int]) -> bool:
        """By the number of bits that differ."""
        others = np.array([self._kept[number] for number in kept], np.uint64)
        return bool((np.bitwise_count(others ^ self._batch[place]) <= self._distance).any())

    def keep(self, place: int) -> None:
        """Remembers the SimHash."""
        self._kept.append(int(self._batch[place]))


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64 bits that spreads every bit."""
    keys = keys * _ODD
    keys ^= keys >> np.uint64(32)
    return keys * _ODD
