"""Corpora with known near-duplicates, made of real pages.

``planted(n)``: ``n`` documents of random paragraphs of the pages, with lengths as on the web (log-normal, median 300
words); a fifth of them are edited copies of others, and no other two have most of their paragraphs in common. ``guides()``: the installation guides for two machines among other
pages; two pages are a pair if their paths are equal without the machine's name.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from bench._pages import documents
from crivello.lab.near import Copy, Editor

_LEAST_WORDS, _MOST_WORDS = 12, 100
_LEAST_PARAGRAPHS = 4
_MACHINE = re.compile(r"amd64|arm64")
OTHERS = 20_000


@dataclass(frozen=True)
class Planted:
    """The texts, of which the last ones are ``copies``."""

    texts: list[str]
    copies: list[Copy]


@dataclass(frozen=True)
class Guides:
    """The texts, and the pairs among them."""

    texts: list[str]
    pairs: set[tuple[int, int]]


def planted(count: int, seed: int = 1) -> Planted:
    drawn = random.Random(seed)
    lines = {line for page in documents() for line in page.body.split("\n")}
    sized = sorted((line, len(line.split())) for line in lines)
    paragraphs = [(line, size) for line, size in sized if _LEAST_WORDS <= size <= _MOST_WORDS]
    originals = []
    for _ in range(count - count // 5):
        left = min(max(drawn.lognormvariate(5.7, 0.8), 50), 3000)
        chosen: list[str] = []
        while left > 0 or len(chosen) < _LEAST_PARAGRAPHS:
            paragraph, size = drawn.choice(paragraphs)
            chosen.append(paragraph)
            left -= size
        originals.append("\n".join(chosen))
    copies = Editor(originals, seed).copies(originals[: count // 5])
    return Planted(originals + [copy.text for copy in copies], copies)


def guides(seed: int = 1) -> Guides:
    pages = documents()
    ours = [page for page in pages if "//install-" in page.url]
    others = [page for page in pages if "//install-" not in page.url]
    others = random.Random(seed).sample(others, min(len(others), OTHERS))
    by_path: dict[str, list[int]] = {}
    for number, page in enumerate(ours):
        by_path.setdefault(_MACHINE.sub("", page.url), []).append(number)
    pairs = {(same[0], same[1]) for same in by_path.values() if len(same) == 2}
    return Guides([page.body for page in ours + others], pairs)
