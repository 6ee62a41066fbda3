"""Words of a text that is not a query."""

from __future__ import annotations

import re
import unicodedata

_WITHIN_WORDS = "'’._+#"
_CAPITALS = re.compile(r"[A-Z]{2,}")


def words_of_text(text: str) -> str:
    """All the words of a text that was not written as a query, such as a topic or a title.

    Nothing in it is an operator: a minus before a number excludes nothing, a colon names no field, and a
    hyphen makes no phrase, which would lower recall. A word in capitals becomes lower case, since operators are
    in capitals; ``C++`` and ``C#`` are kept.
    """
    spaced = "".join(" " if _is_a_sign(character) else character for character in text)
    words = (word.lstrip(_WITHIN_WORDS).rstrip("'’._") for word in spaced.split())
    return " ".join(
        word.lower() if _CAPITALS.fullmatch(word) else word for word in words if any(map(str.isalnum, word))
    )


def _is_a_sign(character: str) -> bool:
    # Combining marks, which Indic scripts have within words, are neither punctuation (P) nor symbols (S).
    kind = unicodedata.category(character)
    return kind == "Cc" or (kind[0] in "PS" and character not in _WITHIN_WORDS)
