"""Looks for edited copies with every method and threshold.

A corpus may have near-duplicates of its own: of texts that share half of their word triples or more one is kept, so that
the planted pairs are the only right ones. Then

    precision = planted pairs among those found,   recall = those found among the planted pairs.

Times are those of a search from the texts to verified pairs; the size is that of the files that it keeps.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.lab.near.edits import KINDS, SHARES, Copy, Editor
from crivello.lab.near.methods import METHODS, Method

_BATCH = 1000
_PAIRS = 1 << 16
_OWN = Method("minhash", "own", "word", 3, {"bins": 128, "recall": 0.99}, (0.5,))


@dataclass(frozen=True, slots=True)
class Search:
    """The pairs of documents, with their similarities; the seconds, and the bytes of the files."""

    ones: NDArray[Any]
    others: NDArray[Any]
    similarities: NDArray[Any]
    seconds: float
    bytes: int

    def pairs(self, method: Method, threshold: float) -> set[tuple[int, int]]:
        """The pairs that are found with a threshold."""
        chosen = method.found(self.similarities, threshold)
        return set(zip(self.ones[chosen].tolist(), self.others[chosen].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Point:
    """What a method found with a threshold: recall is also told by the share and by the kind of edit."""

    family: str
    method: str
    threshold: float
    found: int
    precision: float
    recall: float
    f1: float
    recall_by_share: dict[str, float]
    recall_by_kind: dict[str, float]
    seconds: float
    bytes_per_document: float


@dataclass(frozen=True, slots=True)
class Study:
    """The results, and how many documents of the corpus were left out because they are near-duplicates."""

    documents: int
    copies: int
    left_out: int
    points: list[Point]

    def of(self, family: str, method: str | None = None) -> list[Point]:
        """The points of a family, or of one method of it."""
        return [
            point
            for point in self.points
            if point.family == family and (method is None or point.method == method)
        ]

    def best(self, family: str, method: str | None = None) -> Point:
        """The point with the highest F1; of equal ones the first."""
        return max(self.of(family, method), key=lambda point: point.f1)

    def methods(self) -> list[tuple[str, str]]:
        """The methods by family and name."""
        return list(dict.fromkeys((point.family, point.method) for point in self.points))

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return asdict(self)


def study(
    texts: Sequence[str],
    *,
    methods: Sequence[Method] = METHODS,
    memory: int = 256 << 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Compares the methods on the texts."""
    clean = _without_duplicates(texts, memory)
    if len(clean) < 2:
        raise InvalidArgument("the texts are near-duplicates of each other", hint="take more of them")
    copies = Editor(clean, seed).copies(clean)
    planted = {(copy.original, len(clean) + copy.original): copy for copy in copies}
    corpus = clean + [copy.text for copy in copies]
    points: list[Point] = []
    for number, method in enumerate(methods):
        if progress is not None:
            progress(number, len(methods))
        points += _points(method, corpus, planted, memory)
    return Study(len(clean), len(copies), len(texts) - len(clean), points)


def _points(
    method: Method, corpus: Sequence[str], planted: dict[tuple[int, int], Copy], memory: int
) -> Iterator[Point]:
    searches = {threshold: search(corpus, method, threshold, memory) for threshold in method.searched()}
    for threshold in method.thresholds:
        done = searches.get(threshold) or searches[method.loosest]
        found = done.pairs(method, threshold)
        right = [copy for pair, copy in planted.items() if pair in found]
        precision = len(right) / len(found) if found else 1.0
        recall = len(right) / len(planted)
        yield Point(
            family=method.family,
            method=method.name,
            threshold=threshold,
            found=len(found),
            precision=precision,
            recall=recall,
            f1=2 * precision * recall / (precision + recall) if right else 0.0,
            recall_by_share={
                f"{share:.0%}": _recall(planted.values(), right, "share", share) for share in SHARES
            },
            recall_by_kind={kind: _recall(planted.values(), right, "kind", kind) for kind in KINDS},
            seconds=done.seconds,
            bytes_per_document=done.bytes / len(corpus),
        )


def _recall(planted: Iterable[Copy], right: Iterable[Copy], field: str, value: object) -> float:
    """The recall of the copies whose field has the value."""
    found, made = (sum(getattr(copy, field) == value for copy in copies) for copies in (right, planted))
    return float(found / max(1, made))


def search(corpus: Sequence[str], method: Method, threshold: float, memory: int) -> Search:
    """Searches a corpus, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="crivello-near-") as folder:
        started = time.perf_counter()
        discovery = _core.Discovery(folder, msgspec.msgpack.encode(method.encoded(threshold)), memory, 0)
        for start in range(0, len(corpus), _BATCH):
            discovery.add(list(corpus[start : start + _BATCH]))
        discovery.find()
        columns: list[tuple[NDArray[Any], ...]] = []
        while not columns or len(columns[-1][0]):
            start = sum(len(column[0]) for column in columns)
            columns.append(tuple(np.asarray(column) for column in discovery.pairs(start, _PAIRS)))
        ones, others, similarities = (np.concatenate(column) for column in zip(*columns, strict=True))
        seconds = time.perf_counter() - started
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        return Search(ones, others, similarities, seconds, size)


def _without_duplicates(texts: Sequence[str], memory: int) -> list[str]:
    later = set(search(texts, _OWN, _OWN.loosest, memory).others.tolist())
    return [text for number, text in enumerate(texts) if number not in later]
