"""Benchmark queries: some drawn from the words of the pages, and a public set for comparing engines.

The latter are in ``CRIVELLO_DATA/queries/queries.txt`` (default: ``../shared/data``): lines of JSON with a
``query`` and its ``tags``, the first of which is its class.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from crivello._core import analyze
from crivello.index import Document

LANGUAGE = "en"
CLASSES = ("union", "intersection", "phrase", "intersection_union", "negated")
_ROOT = Path(__file__).resolve().parent.parent
_WORD = re.compile(r"[A-Za-z]{2,15}")
_WINDOW = 120


@dataclass(frozen=True)
class Question:
    """Required, optional and excluded words; in a ``phrase`` they must occur in this order.

    Each word is one term, stop words included, so that both engines search for exactly the same.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    phrase: bool = False

    def text(self) -> str:
        """The query in our query language."""
        if self.phrase:
            return f'"{" ".join(self.required)}"'
        if not self.excluded and not (self.required and self.optional):
            return (" AND " if self.required else " OR ").join(
                f'"{word}"' for word in self.required or self.optional
            )
        signed = [("+", self.required), ("", self.optional), ("-", self.excluded)]
        return " ".join(f'{sign}"{word}"' for sign, words in signed for word in words)

    def tantivy(self, schema: Any) -> Any:
        """The query as a tantivy object, over the field ``body``."""
        from tantivy import Occur, Query

        if self.phrase:
            return Query.phrase_query(schema, "body", [_term(word) for word in self.required])
        signed = [(Occur.Must, self.required), (Occur.Should, self.optional), (Occur.MustNot, self.excluded)]
        return Query.boolean_query(
            [
                (occur, Query.term_query(schema, "body", _term(word), "freq"))
                for occur, words in signed
                for word in words
            ]
        )


def drawn(pages: Sequence[Document], count: int = 1_000, seed: int = 7) -> list[tuple[str, ...]]:
    """Sequences of two to four adjacent words of English pages."""
    random = Random(seed)
    found: list[tuple[str, ...]] = []
    while len(found) < count:
        page = random.choice(pages)
        if page.language not in (None, LANGUAGE) or len(page.body) <= _WINDOW:
            continue
        start = random.randrange(len(page.body) - _WINDOW)
        # The first piece may be the end of a word.
        words = page.body[start : start + _WINDOW].split()[1 : 1 + random.choice((2, 3, 4))]
        if len(words) > 1 and all(map(_WORD.fullmatch, words)):
            found.append(tuple(word.lower() for word in words))
    return found


def of_words(words: Sequence[tuple[str, ...]]) -> dict[str, list[Question]]:
    """The same words as unions, as intersections and as phrases."""
    return {
        "union": [Question(optional=one) for one in words],
        "intersection": [Question(required=one) for one in words],
        "phrase": [Question(required=one, phrase=True) for one in words],
    }


def compared() -> dict[str, list[Question]]:
    """The public queries, by class; empty if the file does not exist."""
    file = Path(os.environ.get("CRIVELLO_DATA", _ROOT.parent / "shared" / "data"), "queries", "queries.txt")
    found: dict[str, list[Question]] = defaultdict(list)
    for line in file.read_text().splitlines() if file.exists() else ():
        one = json.loads(line)
        if (kind := one["tags"][0]) in CLASSES:
            found[kind].append(_parsed(one["query"]))
    return {kind: found[kind] for kind in CLASSES if found[kind]}


def _parsed(query: str) -> Question:
    if query.startswith('"'):
        return Question(required=tuple(query.strip('"').split()), phrase=True)
    words = query.split()
    return Question(
        required=tuple(word[1:] for word in words if word[0] == "+"),
        optional=tuple(word for word in words if word[0] not in "+-"),
        excluded=tuple(word[1:] for word in words if word[0] == "-"),
    )


def _term(word: str) -> str:
    [(term, *_)] = analyze(word, LANGUAGE)
    return term
