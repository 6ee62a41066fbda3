"""Private, except ``crivello.analyze``: text analysis, from text to terms, as for documents and queries.

    >>> import crivello
    >>> [word.term for word in crivello.analyze("The std::vectors of C++", "en")]
    ['the', 'std::vectors', 'std', 'vector', 'of', 'c++']

The rules are in docs/analysis.md.
"""

from __future__ import annotations

from typing import NamedTuple

from crivello import _core


class Word(NamedTuple):
    """A token of a text; its surface form is ``text[start:end]``."""

    term: str
    position: int
    start: int
    end: int


def analyze(text: str, language: str | None = None) -> list[Word]:
    """Tokenizes and stems a text; returns the tokens in order of position, an identifier before its parts.

    ``language`` is a tag such as ``it`` or ``pt-BR``; the default is English. The term of a word that is too
    long to be indexed is empty.
    """
    return [Word(*found[:4]) for found in _core.analyze(text, language)]
