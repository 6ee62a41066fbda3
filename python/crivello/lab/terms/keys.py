"""Terms for testing dictionaries: generated ones, and others that are not among them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

_SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "la",
    "me",
    "ni",
    "po",
    "ru",
    "sa",
    "te",
    "vi",
    "zo",
    "tra",
    "vel",
)


def generate(count: int, seed: int = 0) -> list[str]:
    """``count`` distinct terms, sorted: made-up words with numbers, as in an index of web pages."""
    random = np.random.default_rng(seed)
    picks = random.integers(0, len(_SYLLABLES), (count, 3))
    words = ["".join(_SYLLABLES[pick] for pick in row) for row in picks.tolist()]
    # The number makes each of them unique.
    return sorted(f"{word}{number}" for number, word in enumerate(words))


def strangers(count: int, keys: Collection[str], seed: int = 1) -> list[str]:
    """Up to ``count`` distinct terms of the same kind that are not among ``keys``."""
    known = set(keys)
    random = np.random.default_rng(seed)
    numbers = random.integers(1 << 40, 1 << 62, count, dtype=np.uint64).tolist()
    made = [f"{_SYLLABLES[number % len(_SYLLABLES)]}{number}" for number in numbers]
    return [term for term in dict.fromkeys(made) if term not in known]
