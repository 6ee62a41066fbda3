"""Edited copies of texts: the truth of the study.

An edit of kind ``k`` and share ``s`` changes about ``s`` of the words of a text, at least one:

- ``words``: words are replaced by words of other texts;
- ``sentences``: sentences move elsewhere;
- ``paragraphs``: paragraphs are dropped (runs of words, where no paragraph is small enough);
- ``boilerplate``: the same words, those of a page's frame, are added before and after every text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KINDS = ("words", "sentences", "paragraphs", "boilerplate")
SHARES = (0.02, 0.05, 0.1, 0.2)

_WORDS = re.compile(r"\s*\S+")
_SENTENCES = re.compile(r"[^.!?\n]*(?:[.!?\n]+|$)")
_PARAGRAPHS = re.compile(r"[^\n]*(?:\n+|$)")
_VOCABULARY = 20_000


@dataclass(frozen=True, slots=True)
class Copy:
    """An edited copy of the text with the number ``original``."""

    original: int
    kind: str
    share: float
    text: str


class Editor:
    """Makes edited copies; ``texts`` are where new words come from."""

    def __init__(self, texts: Sequence[str], seed: int = 0) -> None:
        self._random = random.Random(seed)
        some = self._random.sample(range(len(texts)), min(len(texts), 200))
        self._vocabulary = [word for number in some for word in texts[number].split()[:200]][:_VOCABULARY]
        # What every page has in common comes from one place, in its order.
        longest = max((texts[number] for number in some), key=len)
        self._frame = longest.split()[:2000]
        self._edits: dict[str, Callable[[str, int], str]] = {
            "words": self._replace_words,
            "sentences": self._move_sentences,
            "paragraphs": self._drop_paragraphs,
            "boilerplate": self._add_boilerplate,
        }

    def copies(self, texts: Sequence[str]) -> list[Copy]:
        """A copy of each text: the kinds and the shares take turns."""
        cases = [(kind, share) for share in SHARES for kind in KINDS]
        made = []
        for number, text in enumerate(texts):
            kind, share = cases[number % len(cases)]
            made.append(Copy(number, kind, share, self.edit(text, kind, share)))
        return made

    def edit(self, text: str, kind: str, share: float) -> str:
        """A copy with about ``share`` of its words changed."""
        return self._edits[kind](text, max(1, round(share * len(text.split()))))

    def _replace_words(self, text: str, count: int) -> str:
        words = _WORDS.findall(text)
        for place in self._random.sample(range(len(words)), min(count, len(words))):
            old = words[place].lstrip()
            new = self._random.choice(self._vocabulary)
            words[place] = words[place][: len(words[place]) - len(old)] + new
        return "".join(words)

    def _move_sentences(self, text: str, count: int) -> str:
        parts = _parts(_SENTENCES, text, count)
        moved = self._some(parts, count)
        rest = [part for place, part in enumerate(parts) if place not in moved]
        for place in sorted(moved):
            rest.insert(self._random.randrange(len(rest) + 1), parts[place])
        return _joined(rest)

    def _drop_paragraphs(self, text: str, count: int) -> str:
        parts = _parts(_PARAGRAPHS, text, count)
        dropped = self._some(parts, count)
        return _joined([part for place, part in enumerate(parts) if place not in dropped])

    def _add_boilerplate(self, text: str, count: int) -> str:
        frame = (self._frame * (count // len(self._frame) + 1))[:count]
        half = (count + 1) // 2
        return f"{' '.join(frame[:half])}\n{text}\n{' '.join(frame[half:])}"

    def _some(self, parts: list[str], count: int) -> set[int]:
        """Random parts that together have about ``count`` words, but not all."""
        chosen: set[int] = set()
        for place in self._random.sample(range(len(parts)), len(parts) - 1):
            size = len(parts[place].split())
            if size <= count:
                chosen.add(place)
                count -= size
            if count <= 0:
                break
        return chosen


def _parts(pattern: re.Pattern[str], text: str, most: int) -> list[str]:
    """The parts of a text; those of more than ``most`` words are cut."""
    parts: list[str] = []
    for part in pattern.findall(text):
        words = _WORDS.findall(part)
        if len(words) <= most:
            parts += [part] if words else []
            continue
        parts += ["".join(words[start : start + most]) for start in range(0, len(words), most)]
    return parts


def _joined(parts: list[str]) -> str:
    return " ".join(part.rstrip(" ") for part in parts)
