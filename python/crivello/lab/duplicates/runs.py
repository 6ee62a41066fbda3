"""The runs of a study: every combination over the entire stream, on all processors."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crivello.lab.duplicates.grid import Combination
from crivello.lab.duplicates.stream import Stream
from crivello.stream import Confusion, Exact

WINDOWS = 100

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Run:
    """A filter's results on the stream: in total, and in windows of equal length."""

    combination: Combination
    whole: Confusion
    windows: tuple[Confusion, ...]
    seconds: float
    fill: float


class Stopped(Exception):
    """The study was interrupted."""


def truth_of(stream: Stream) -> Flags:
    """Whether each element is a duplicate; the exact set takes at most 32 bytes per element, or 64 KiB."""
    return Exact(max(1 << 16, 32 * len(stream))).add(stream.signatures)


def run_all(
    stream: Stream,
    truth: Flags,
    combinations: Sequence[Combination],
    seed: int,
    progress: Callable[[], None],
) -> list[Run]:
    """Runs all combinations in parallel; Ctrl-C ends them within a window."""
    stop = threading.Event()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(_run, stream, truth, one, seed, stop) for one in combinations]
        try:
            for future in as_completed(futures):
                future.result()
                progress()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _run(stream: Stream, truth: Flags, combination: Combination, seed: int, stop: threading.Event) -> Run:
    filter = combination.make(seed)
    seconds = 0.0
    windows = []
    for start, end in window_bounds(len(stream)):
        if stop.is_set():
            raise Stopped
        started = time.perf_counter()
        judged = filter.add(stream.signatures[start:end])
        seconds += time.perf_counter() - started
        windows.append(confusion_of(judged, truth[start:end]))
    return Run(combination, total(windows), tuple(windows), seconds, filter.fill)


def window_bounds(elements: int) -> list[tuple[int, int]]:
    """The start and end of each window of a stream; a short stream has fewer windows."""
    edges = np.unique(np.linspace(0, elements, WINDOWS + 1).astype(int)).tolist()
    return list(itertools.pairwise(edges))


def confusion_of(judged: Flags, truth: Flags) -> Confusion:
    """The confusion matrix of the answers."""
    positives, duplicates = int(np.count_nonzero(judged)), int(np.count_nonzero(truth))
    hits = int(np.count_nonzero(judged & truth))
    return Confusion(
        true_positives=hits,
        false_positives=positives - hits,
        false_negatives=duplicates - hits,
        true_negatives=len(truth) - positives - duplicates + hits,
    )


def total(parts: Sequence[Confusion]) -> Confusion:
    """The sum of the parts."""
    return Confusion(
        sum(part.true_positives for part in parts),
        sum(part.false_positives for part in parts),
        sum(part.false_negatives for part in parts),
        sum(part.true_negatives for part in parts),
    )
