"""Passages: runs of n words or more that occurred before, in the same document or in another, are removed.

Every window of n words is looked up in an exact set of 64-bit hashes, which is in memory and past that in sorted files, and then added to it;
the words of the windows that were there go. One pass, O(words), and 8 to 11 bytes for each word. It errs for n² / 2⁶⁵ of n
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crivello import _core
from crivello.dedup.report import Report
from crivello.dedup.source import Text, comparable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Passages:
    """Documents without the passages that occurred before; one without words left goes. Counts into a report."""

    def __init__(self, words: int, memory: int, report: Report) -> None:
        self._words, self._report = words, report
        self._seen = _core.ExactSet(memory)

    def left(self, texts: Sequence[Text]) -> list[Text | None]:
        """What is left of the next documents."""
        given = [comparable(text) for text in texts]
        counts, starts, is_old = self._look_up(given)
        left: list[Text | None] = []
        end = 0
        for text, plain, count in zip(texts, given, counts.tolist(), strict=True):
            begin, end = end, end + count
            old = is_old[begin:end]
            rest: Text | None = text
            if old.any():
                rest = None if old.all() else _without(plain, starts[begin:end], old)
            left.append(rest)
            self._report.documents += 1
            self._report.kept += rest is not None
            self._report.characters += len(text)
            self._report.characters_kept += len(rest or "")
        return left

    def remember(self, texts: Sequence[Text]) -> None:
        """Takes the passages of another corpus for old."""
        self._look_up([comparable(text) for text in texts])

    def _look_up(self, texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The number of words of each text, where each word starts, and whether it belongs to an old window."""
        found = _core.word_windows(texts, self._words)
        counts, starts = (np.asarray(column).astype(np.int64) for column in found[:2])
        is_old = np.frombuffer(self._seen.add(np.asarray(found[2])), np.bool_)
        # The first word of each window: all but the last ones of each text.
        before_end = np.repeat(np.cumsum(counts), counts) - np.arange(len(starts))
        firsts = np.flatnonzero(before_end >= self._words)[is_old]
        change = np.zeros(len(starts) + 1, np.int64)
        np.add.at(change, firsts, 1)
        np.add.at(change, firsts + self._words, -1)
        return counts, starts, np.cumsum(change[:-1]) > 0


def _without(text: str, starts: NDArray[np.int64], old: NDArray[np.bool_]) -> str:
    """A text without some words, and what is between each and the next word."""
    encoded = text.encode()
    edges = np.flatnonzero(np.diff(old, prepend=False)).tolist()
    cuts = [0, *starts[edges].tolist(), len(encoded)]
    kept = b"".join(encoded[cuts[place] : cuts[place + 1]] for place in range(0, len(cuts) - 1, 2))
    return kept.decode()
