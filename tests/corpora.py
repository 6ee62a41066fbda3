"""Corpora that are made on the spot, with edited copies, and the slow and obvious way to find their duplicates."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def made(count: int, seed: int = 1, *, copies: float = 0.3, words: int = 2000) -> list[str]:
    """Texts of random words, of which some are copies of earlier ones with a few words replaced."""
    draw = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(words)]
    texts: list[str] = []
    for _ in range(count):
        if texts and draw.random() < copies:
            text = draw.choice(texts).split()
            for _ in range(draw.choice([0, 1, 2, len(text) // 20, len(text) // 8])):
                text[draw.randrange(len(text))] = draw.choice(vocabulary)
        else:
            text = draw.choices(vocabulary, k=draw.randrange(10, 120))
        texts.append(" ".join(text))
    return texts


def jaccard(one: str, other: str, size: int = 3) -> float:
    """The Jaccard similarity of the sets of word n-grams."""
    return _jaccard(shingles(one, size), shingles(other, size))


def shingles(text: str, size: int = 3) -> set[tuple[str, ...]]:
    """The word n-grams of a text; a shorter text is one n-gram."""
    words = text.split()
    return {tuple(words[start : start + size]) for start in range(max(1, len(words) - size + 1))}


def leaders(texts: Sequence[str], threshold: float, references: int = 0) -> list[int]:
    """Of each text the first earlier one that is kept and similar enough, or itself; over all pairs."""
    sets = [shingles(text) for text in texts]
    found: list[int] = []
    kept: list[int] = []
    for number, mine in enumerate(sets):
        similar = (one for one in kept if _jaccard(sets[one], mine) >= threshold)
        leader = number if number < references else next(similar, number)
        found.append(leader)
        if leader == number:
            kept.append(number)
    return found


def write_json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Writes a file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Reads a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def _jaccard(one: set[Any], other: set[Any]) -> float:
    return len(one & other) / len(one | other)
