"""Pairs to look at: one from each step of similarity, from the least similar up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from crivello.dedup.ledger import Ledger
from crivello.dedup.outputs import Pairs, steps_of
from crivello.dedup.report import Example
from crivello.dedup.source import Text, readable, shown

_MOST = 8
_SCANNED = 1 << 20


def examples_of(
    found: Pairs, ledger: Ledger, texts_of: Callable[[set[int]], Mapping[int, Text]]
) -> list[Example]:
    """A few pairs of the first million with their texts."""
    ones, others, similarities = map(np.asarray, found.pairs(0, _SCANNED))
    _, chosen = np.unique(steps_of(similarities), return_index=True)
    chosen = chosen[:_MOST]
    numbers = np.concatenate((ones[chosen], others[chosen]))
    texts = texts_of(set(numbers.tolist()))
    rows = zip(
        ones[chosen].tolist(),
        others[chosen].tolist(),
        ledger.ids(ones[chosen]),
        ledger.ids(others[chosen]),
        similarities[chosen].tolist(),
        strict=True,
    )
    return [
        Example(shown(kept), shown(dropped), share, readable(texts[one]), readable(texts[other]))
        for one, other, kept, dropped, share in rows
    ]
