"""Pages like a page: a search for its most characteristic words.

The words of the page are weighted by tf-idf, (1 + ln tf) · ln(N / df), and the best of them are searched as a
disjunction, each boosted by its weight. The cost is one look-up in the term dictionary for each of at most
``_LOOKED_UP`` distinct words, and one search.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from crivello import _core
from crivello.search.operators import Boost, Operator, Or, Term

if TYPE_CHECKING:
    from crivello.search.searcher import Search

_MOST_CHARACTERS = 100_000
_LOOKED_UP = 300
_WORDS = 25
_SHORTEST = 3


def characteristic(searcher: Search, text: str, language: str | None) -> Operator | None:
    """The query for the most characteristic words of a text; ``None`` if it has none that another page could
    have."""
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    text = text[:_MOST_CHARACTERS]
    for term, _, start, end, _, is_stop_word in _core.analyze(text, language):
        if not is_stop_word and len(term) >= _SHORTEST and any(map(str.isalpha, term)):
            counts[term] += 1
            spelled.setdefault(term, text[start:end])
    documents = searcher.documents
    weights = {}
    looked_up = counts.most_common(_LOOKED_UP)
    frequencies = searcher.frequencies([term for term, _ in looked_up])
    for (term, count), holders in zip(looked_up, frequencies, strict=True):
        if 0 < holders < documents:
            weights[term] = (1 + math.log(count)) * math.log(documents / holders)
    best = sorted(weights.items(), key=lambda weighted: (-weighted[1], weighted[0]))[:_WORDS]
    parts = [Boost(Term(spelled[term]), round(weight, 4)) for term, weight in best if weight >= 0.0001]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Or(*parts)
