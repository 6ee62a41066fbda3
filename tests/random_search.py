"""Random pages and random queries of every operator, the same for the same seed.

The words follow Zipf's law and are like each other, so that phrases, prefixes and misspellings find something; pages
have several sites, languages, types and days, and are replaced and deleted as the index grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from crivello.index import Document, Index
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
from crivello.settings import Settings
from tests.searching import indexing
from tests.slow_search import MEDIA_TYPES, SlowIndex

# The first is the most frequent.
WORDS = """wind the rose sail winds compose 東京都 l'acqua std::vector windy mind light well-known composer sails of kind
vector roses città C++ computer lighthouse prose snail compute foo_bar and night arose window composing tail acqua 東京
compile mail citta naïve sailing 3.14 Straße größer""".split()  # noqa: SIM905
WEIGHTS = list(accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))
PLAIN_WORDS = [word for word in WORDS if word.isascii() and word.isalpha()]
ODD_TEXTS = ("absent", 'a "wind" (rose', "NOT", "wind OR *", "-sail +title:rose")
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

    def text(self, most: int) -> str:
        count = self._random.randrange(most + 1)
        words = self._random.choices(WORDS, cum_weights=WEIGHTS, k=count)
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
    index, slow = Index(folder, settings=settings_of(random)), SlowIndex()
    for _ in growing(random, pages, index, slow):
        pass
    return index, slow


def settings_of(random: Random, **division: Any) -> Settings:
    """Settings of an index whose shards are set by ``division``."""
    order = random.choice(("arrival", "url", "bisection"))
    return indexing(order=order, quantum=random.choice((16, 32, 128)), **division)


def growing(random: Random, pages: int, *indexes: Index | SlowIndex) -> Iterator[None]:
    """Adds, replaces, deletes and at times merges documents, in all indexes alike; a step for each change."""
    made = Pages(random)
    merges = random.random() < 1 / 3
    for step in range(4):
        numbers = random.sample(range(pages), pages // 2)
        documents = [made.document(number) for number in numbers]
        for index in indexes:
            index.add(documents)
        yield
        if step % 2:
            gone = [document.url for document in random.sample(documents, len(documents) // 8)]
            for index in indexes:
                index.delete(gone)
            yield
        if step == 2 and merges:
            for index in indexes:
                index.merge()
            yield


class Queries:
    """Random trees of some kinds of operators."""

    def __init__(self, random: Random, grammar: Grammar) -> None:
        self.random = random
        self._grammar = grammar

    def tree(self, depth: int = 3) -> Operator:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(self._grammar.leaves)(self, 0)
        return self.random.choice(self._grammar.branches)(self, depth - 1)

    def some(self, depth: int, most: int = 3) -> list[Operator]:
        return [self.tree(depth) for _ in range(self.random.randint(1, most))]

    def word(self) -> str:
        return self.random.choices(WORDS, cum_weights=WEIGHTS)[0]

    def plain_word(self) -> str:
        return self.random.choice(PLAIN_WORDS)

    def words(self) -> Operator:
        if self.random.random() < 0.05:
            return Term(self.random.choice(ODD_TEXTS))
        word = self.word()
        return Term(self.random.choice((word, word, word.upper())))

    def interval(self, depth: int) -> Operator:
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice((phrase, window, prefix, fuzzy, words, words, words))(self, 0)
        return self.random.choice(
            (ordered, relation, aligned, window_of_intervals, in_zone_interval, all_of, any_of)
        )(self, depth - 1)

    def margins(self) -> tuple[int, int]:
        return self.random.choice(((0, 0), (0, 0), (1, 0), (0, 2), (3, 3)))

    def day(self) -> date:
        return FIRST + timedelta(self.random.randrange((LAST - FIRST).days))


def words(queries: Queries, _depth: int) -> Operator:
    return queries.words()


def phrase(queries: Queries, _depth: int) -> Operator:
    return Phrase(*(queries.word() for _ in range(queries.random.choice((1, 2, 2, 3)))))


def window(queries: Queries, _depth: int) -> Operator:
    chosen = [queries.word() for _ in range(queries.random.randint(2, 3))]
    return Window(queries.random.choice((6, 8, 20)), *chosen)


def window_of_intervals(queries: Queries, depth: int) -> Operator:
    return Window(queries.random.choice((2, 4, 9)), queries.interval(depth), queries.interval(depth))


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


@dataclass(frozen=True)
class Grammar:
    """The kinds of operators that trees are made of: those without parts, and those with."""

    leaves: tuple[Maker, ...]
    branches: tuple[Maker, ...]


BOOLEAN = Grammar(
    leaves=(words, words, phrase),
    branches=(
        group,
        lambda queries, depth: And(*queries.some(depth)),
        lambda queries, depth: Or(*queries.some(depth)),
        lambda queries, depth: Not(queries.tree(depth)),
    ),
)
FILTERS: tuple[Maker, ...] = (
    lambda queries, _depth: Site(queries.random.choice((*SITES, "example", "nowhere.example"))),
    lambda queries, _depth: Lang(queries.random.choice(("en", "it", "pt", "fr"))),
    lambda queries, _depth: Type(queries.random.choice(TYPES)),
    lambda queries, _depth: Before(queries.day()),
    lambda queries, _depth: After(queries.day()),
    lambda _queries, _depth: Everything(),
)
EVERY = Grammar(
    leaves=(*BOOLEAN.leaves, words, words, window, prefix, prefix, fuzzy, fuzzy, *FILTERS),
    branches=(
        *BOOLEAN.branches,
        ordered,
        relation,
        aligned,
        window_of_intervals,
        lambda queries, depth: In(queries.random.choice(ZONES), And(*queries.some(depth))),
        lambda queries, depth: Boost(queries.tree(depth), queries.random.choice((0.5, 2, 3.25))),
    ),
)
