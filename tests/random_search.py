"""Random pages and random queries of every operator, the same for the same seed.

The words follow Zipf's law and are like each other, so that phrases, prefixes and misspellings find something; pages
have several sites, languages, types and days, and are replaced and deleted as the index grows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from crivello.index import Document, Index, IndexOptions
from crivello.search import (
    After,
    Aligned,
    And,
    Before,
    Boost,
    Containing,
    Everything,
    Fuzzy,
    Group,
    In,
    Inside,
    Lang,
    Not,
    NotContaining,
    NotInside,
    Operator,
    Or,
    Ordered,
    Phrase,
    Prefix,
    Site,
    Term,
    Type,
    Window,
)
from crivello.search.operators.filters import FIRST_DAY, TYPES
from crivello.search.operators.modifiers import ZONES
from tests.slow_search import MEDIA_TYPES, SlowIndex

WORDS = """wind winds windy window kind mind rose roses prose arose compose composer composing computer compute compile
sail sails sailing snail tail mail light lighthouse night città citta acqua l'acqua std::vector vector C++ well-known
foo_bar 東京都 東京 naïve the of and 3.14 Straße größer""".split()  # noqa: SIM905
SITES = (
    "a.example",
    "www.a.example",
    "deep.www.a.example",
    "bada.example",
    "b.example",
    "xn--mnchen-3ya.example",
)
LANGUAGES = ("en", "en", "it", "de", "pt-BR", "xx", None)
FIRST, LAST = date(2020, 1, 1), date(2025, 1, 1)
HAS_FACTS = "day" in Document._fields

Maker = Callable[["Queries", int], Operator]


class Pages:
    """Random documents."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._words = random.sample(WORDS, len(WORDS))
        self._weights = list(accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))

    def text(self, most: int) -> str:
        count = self._random.randrange(most + 1)
        words = self._random.choices(self._words, cum_weights=self._weights, k=count)
        return "".join(word + self._random.choice("      .\n") for word in words)

    def document(self, number: int) -> Document:
        random = self._random
        site = SITES[number % len(SITES)]
        word = WORDS[number % len(WORDS)]
        url = f"https://{site}/{word}/{number}"
        document = Document(
            url,
            self.text(4),
            self.text(random.choice((5, 20, 40))),
            random.choice(LANGUAGES),
            self.text(5),
            self.text(random.choice((0, 0, 8))),
            f"page {number}",
        )
        return document._replace(**self._facts()) if HAS_FACTS else document

    def _facts(self) -> dict[str, Any]:
        random = self._random
        day = (FIRST + timedelta(random.randrange((LAST - FIRST).days)) - FIRST_DAY).days
        return {"kind": random.choice(["", *MEDIA_TYPES]), "day": random.choice((0, day, day, day))}


def build(folder: Path, seed: int, pages: int) -> tuple[Index, SlowIndex]:
    """An index of several segments, with replaced and deleted documents, and the same as a slow one."""
    random = Random(seed)
    made = Pages(random)
    order = random.choice(("arrival", "url", "bisection"))
    index = Index(folder, options=IndexOptions(order=order, quantum=random.choice((16, 32, 128))))
    slow = SlowIndex()
    for step in range(4):
        numbers = random.sample(range(pages), pages // 2)
        documents = [made.document(number) for number in numbers]
        index.add(documents)
        slow.add(documents)
        if step % 2:
            gone = [document.url for document in random.sample(documents, len(documents) // 8)]
            index.delete(gone)
            slow.delete(gone)
        if step == 2 and seed % 3 == 0:
            index.merge()
            slow.merge()
    return index, slow


class Queries:
    """Random trees of some kinds of operators."""

    def __init__(self, random: Random, kinds: dict[str, Maker]) -> None:
        self.random = random
        self._kinds = list(kinds.values())

    def tree(self, depth: int = 3) -> Operator:
        if depth == 0 or self.random.random() < 0.2:
            return self.words()
        return self.random.choice(self._kinds)(self, depth - 1)

    def some(self, depth: int, most: int = 3) -> list[Operator]:
        return [self.tree(depth) for _ in range(self.random.randint(1, most))]

    def word(self) -> str:
        return self.random.choice(WORDS)

    def plain_word(self) -> str:
        return self.random.choice([word for word in WORDS if word.isascii() and word.isalpha()])

    def words(self) -> Operator:
        return self.random.choice(
            (
                Term(self.word()),
                Term(self.word().upper()),
                Term(
                    self.random.choice(("absent", 'a "wind" (rose', "NOT", "wind OR *", "-sail +title:rose"))
                ),
            )
        )

    def interval(self, depth: int) -> Operator:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice((phrase, window, prefix, fuzzy, words, words, words))(self, 0)
        return self.random.choice((ordered, relation, aligned, in_zone_interval, all_of, any_of))(
            self, depth - 1
        )

    def margins(self) -> tuple[int, int]:
        return self.random.choice(((0, 0), (0, 0), (1, 0), (0, 2), (3, 3)))

    def day(self) -> date:
        return FIRST + timedelta(self.random.randrange((LAST - FIRST).days))


def words(queries: Queries, _depth: int) -> Operator:
    return queries.words()


def phrase(queries: Queries, _depth: int) -> Operator:
    return Phrase(*(queries.word() for _ in range(queries.random.randint(1, 3))))


def window(queries: Queries, _depth: int) -> Operator:
    chosen = [queries.word() for _ in range(queries.random.randint(2, 3))]
    return Window(queries.random.choice((6, 8, 20)), *chosen)


def prefix(queries: Queries, _depth: int) -> Operator:
    word = queries.plain_word()
    return Prefix(word[: queries.random.randint(2, len(word))])


def fuzzy(queries: Queries, _depth: int) -> Operator:
    return Fuzzy(queries.plain_word(), queries.random.randint(1, 2))


def all_of(queries: Queries, depth: int) -> Operator:
    return And(queries.interval(depth), queries.interval(depth))


def any_of(queries: Queries, depth: int) -> Operator:
    return Or(queries.interval(depth), queries.interval(depth))


def ordered(queries: Queries, depth: int) -> Operator:
    return Ordered(*(queries.interval(depth) for _ in range(queries.random.randint(2, 3))))


def relation(queries: Queries, depth: int) -> Operator:
    kind = queries.random.choice((Containing, NotContaining, Inside, NotInside))
    return kind(queries.interval(depth), queries.interval(depth), queries.margins())


def aligned(queries: Queries, depth: int) -> Operator:
    first = queries.interval(depth)
    return Aligned(first, queries.random.choice((first, Or(first, queries.interval(depth)))))


def in_zone_interval(queries: Queries, depth: int) -> Operator:
    return In(queries.random.choice(ZONES), queries.interval(depth))


def group(queries: Queries, depth: int) -> Operator:
    required, optional, excluded = (
        queries.some(depth, 2) if queries.random.random() < share else [] for share in (0.5, 0.7, 0.3)
    )
    if not (required or optional or excluded):
        optional = queries.some(depth)
    return Group(required, optional, excluded)


BOOLEAN: dict[str, Maker] = {
    "words": words,
    "phrase": phrase,
    "and": lambda queries, depth: And(*queries.some(depth)),
    "or": lambda queries, depth: Or(*queries.some(depth)),
    "not": lambda queries, depth: Not(queries.tree(depth)),
    "group": group,
}
EVERY: dict[str, Maker] = {
    **BOOLEAN,
    "window": window,
    "prefix": prefix,
    "fuzzy": fuzzy,
    "ordered": ordered,
    "relation": relation,
    "aligned": aligned,
    "in": lambda queries, depth: In(queries.random.choice(ZONES), And(*queries.some(depth))),
    "boost": lambda queries, depth: Boost(queries.tree(depth), queries.random.choice((0.5, 2, 3.25))),
    "everything": lambda _queries, _depth: Everything(),
    "site": lambda queries, _depth: Site(queries.random.choice((*SITES, "example", "nowhere.example"))),
    "language": lambda queries, _depth: Lang(queries.random.choice(("en", "it", "pt", "fr"))),
    "type": lambda queries, _depth: Type(queries.random.choice(TYPES)),
    "before": lambda queries, _depth: Before(queries.day()),
    "after": lambda queries, _depth: After(queries.day()),
}
