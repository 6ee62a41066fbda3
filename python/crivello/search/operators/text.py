"""Texts as words of a query: quoting and validation."""

from __future__ import annotations

import unicodedata

from crivello._core import analyze
from crivello.errors import InvalidArgument

WIDEST = 1_000_000
"""The upper limit on the positions of a window, and on a margin."""


def sound(text: str) -> str:
    """The text with lone surrogates replaced, such as undecodable bytes of a shell argument."""
    return text.encode(errors="replace").decode()


def quoted(text: str) -> str:
    """The text in quotes, in which signs and operators have no effect."""
    return '"' + text.replace('"', " ") + '"'


def count_words(text: str) -> int:
    """The number of words in a text; fails if there are none."""
    if not isinstance(text, str):
        raise InvalidArgument(f"{text!r} is not a text")
    count = parts = 0
    for term, _, _, _, its_parts, _ in analyze(sound(text.replace('"', " "))):
        if parts:
            parts -= 1
        elif term:
            parts = its_parts
            count += 1
    if not count:
        raise InvalidArgument(f"there is no word in {text!r}")
    return count


def words_of(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The texts, each of which must have words; fails if there are none."""
    if not words:
        raise InvalidArgument(f"{name} needs at least one word")
    for word in words:
        count_words(word)
    return words


def check_plain_word(name: str, word: str) -> None:
    """Fails unless the text is a single word of letters and digits."""
    plain = isinstance(word, str) and all(unicodedata.category(letter)[0] in "LMN" for letter in word)
    if not plain or count_words(word) > 1:
        raise InvalidArgument(f"{name} is one word of letters and digits, not {word!r}")


def is_whole(number: object) -> bool:
    """Whether it is a whole number."""
    return isinstance(number, int) and not isinstance(number, bool)
