"""Private, but for ``crivello.analyze``: from text to terms, as the index and queries see it.

    >>> import crivello
    >>> [word.term for word in crivello.analyze("The std::vectors of C++", "en")]
    ['the', 'std::vectors', 'std', 'vector', 'of', 'c++']

The rules are in docs/analysis.md.
"""

from __future__ import annotations

from typing import NamedTuple

from crivello import _core


class Word(NamedTuple):
    """A token of a text: the text of it is ``text[start:end]``."""

    term: str
    position: int
    start: int
    end: int


def analyze(text: str, language: str | None = None) -> list[Word]:
    """The terms of a text in order of position, an identifier before its parts.

    ``language`` is a tag such as ``it`` or ``pt-BR``; without one, English. A word that is too long to be indexed has
    an empty term.
    """
    return [Word(*found[:4]) for found in _core.analyze(text, language)]
