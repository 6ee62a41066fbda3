"""Phrases, prefixes and fuzzy words."""

from __future__ import annotations

from dataclasses import dataclass

from crivello.errors import InvalidArgument
from crivello.search.operators.base import Interval
from crivello.search.operators.text import check_plain_word, is_whole, quoted, words_of

MOST_CHANGES = 2


@dataclass(frozen=True, slots=True, init=False)
class Phrase(Interval):
    """Adjacent words, in this order."""

    words: tuple[str, ...]
    stands_alone = True

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words_of("a phrase", words))

    def __str__(self) -> str:
        return quoted(" ".join(self.words))


@dataclass(frozen=True, slots=True)
class Prefix(Interval):
    """All words with a prefix of at least two letters."""

    start: str
    stands_alone = True

    def __post_init__(self) -> None:
        check_plain_word("a prefix", self.start)
        if not self.start[-1].isalnum():
            raise InvalidArgument(f"a prefix ends in a letter or a digit, unlike {self.start!r}")
        if len(self.start) < 2:
            raise InvalidArgument("a prefix needs at least two letters")

    def __str__(self) -> str:
        return f"{self.start.lower()}*"


@dataclass(frozen=True, slots=True)
class Fuzzy(Interval):
    """All words within edit distance 1 or 2: insertion, deletion, substitution or transposition."""

    word: str
    changes: int = 1
    stands_alone = True

    def __post_init__(self) -> None:
        check_plain_word("a fuzzy word", self.word)
        if not self.word[-1].isalpha():
            raise InvalidArgument(f"a fuzzy word ends in a letter, unlike {self.word!r}")
        if not is_whole(self.changes) or not 1 <= self.changes <= MOST_CHANGES:
            raise InvalidArgument(f"a fuzzy word has 1 or 2 changes, not {self.changes!r}")

    def __str__(self) -> str:
        return f"{self.word.lower()}~{self.changes}"
