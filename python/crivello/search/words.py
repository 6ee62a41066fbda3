"""Words without what the query language makes of them.

The query language is the parser's business: here its signs are only taken away, so that what is left is
words that always parse.
"""

from __future__ import annotations

import re
import unicodedata

from crivello.search.filters import NAMES

_SIGNS = re.compile(r'["“”„()\[\]{}*~^:]')
_FILTER = re.compile(rf"(?:^|(?<=[\s(]))[-+]?(?:{'|'.join(NAMES)}):[^\s)]+", re.IGNORECASE)
_FIELD = re.compile(r"(?<!\S)\(?\w+:(?=[^\s/])")
_NEGATED = re.compile(r'(?:^|(?<=[\s(]))(?:-|NOT\s+)(?:"[^"]*"?|\([^)]*\)?|[^\s)]+)')
_OPERATORS = frozenset({"AND", "OR", "NOT"})

_WITHIN_WORDS = "'’._+#"
_CAPITALS = re.compile(r"[A-Z]{2,}")


def plain_words(query: str) -> str:
    """The words that a query wants: no signs, no operators, no filters, and none that it excludes."""
    wanted = _FIELD.sub(" ", _NEGATED.sub(" ", _FILTER.sub(" ", query)))
    words = (word.lstrip("-+") for word in _SIGNS.sub(" ", wanted).split())
    return " ".join(word for word in words if word and word not in _OPERATORS)


def words_of_text(text: str) -> str:
    """All the words of a text that nobody wrote as a query, such as a topic or a title.

    Nothing in it is an operator: a minus before a number excludes nothing, a colon names no field, and a hyphen makes
    no phrase, which finds less of what such a text is about. A word in capitals is written small, since operators are
    in capitals; ``C++`` and ``C#`` stay what they are.
    """
    spaced = "".join(" " if _is_a_sign(character) else character for character in text)
    words = (word.lstrip(_WITHIN_WORDS).rstrip("'’._") for word in spaced.split())
    return " ".join(
        word.lower() if _CAPITALS.fullmatch(word) else word for word in words if any(map(str.isalnum, word))
    )


def _is_a_sign(character: str) -> bool:
    # Marks, which Indic scripts have within words, are neither punctuation (P) nor symbols (S).
    kind = unicodedata.category(character)
    return kind == "Cc" or (kind[0] in "PS" and character not in _WITHIN_WORDS)
