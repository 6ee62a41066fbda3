"""The scores of a search by their formulas, in float64. x, c, l and l̄ are those of docs/search.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, permutations

from tests.slow_search import Leaf, Page, Scored, SlowSearch

LONGEST = 65_535
"""What a longer zone counts as, in BM25F."""


def nothing(_leaves: list[Scored], _page: Page) -> float:
    return 0.0


@dataclass
class SlowScores:
    """What a page scores; ``added`` is what is beside the words: proximity, static ranks."""

    search: SlowSearch
    scorer: str = "bm25f"
    k1: float = 1.2
    b: float = 0.75
    zone_weight: Mapping[str, float] = field(default_factory=dict)
    zone_b: Mapping[str, float] = field(default_factory=dict)
    slope: float = 0.2
    mu: float = 1000.0
    added: Callable[[list[Scored], Page], float] = nothing
    _frequencies: dict[Leaf, int] = field(default_factory=dict)
    _counts: dict[Leaf, int] = field(default_factory=dict)
    _words: dict[str, int] = field(default_factory=dict)

    def __call__(self, leaves: list[Scored], page: Page) -> float:
        text: float = getattr(self, f"_{self.scorer}")(leaves, page)
        return text + self.added(leaves, page)

    def _bm25f(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            x = 0.0
            for zone in leaf.zones:
                b = self.zone_b.get(zone, self.b)
                length = min(page.zones[zone].words, LONGEST) / self.mean((zone,))
                # A zone that weighs nothing counts where it is asked for by name.
                weight = self.zone_weight.get(zone, 1.0) or 1.0
                x += weight * page.count(leaf.terms, zone) / (1 - b + b * length)
            if x:
                score += boost * self.idf(leaf) * (self.k1 + 1) * x / (self.k1 + x)
        return score

    def _bm25(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            length = words(page, leaf.zones) / self.mean(leaf.zones)
            x = count(leaf, page) / (1 - self.b + self.b * length)
            if x:
                score += boost * self.idf(leaf) * (self.k1 + 1) * x / (self.k1 + x)
        return score

    def _tfidf(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            if occurrences := count(leaf, page):
                rarity = math.log((len(self.search.pages) + 1) / self._frequency(leaf))
                length = words(page, leaf.zones) / self.mean(leaf.zones)
                norm = 1 - self.slope + self.slope * length
                score += boost * rarity * (1 + math.log(1 + math.log(occurrences))) / norm
        return score

    def _ql(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            if occurrences := count(leaf, page):
                probability = self._occurrences(leaf) / self._total(leaf.zones)
                score += boost * math.log(1 + occurrences / (self.mu * probability))
        length = words(page, self.search.zones)
        return score + sum(boost for _, boost in leaves) * math.log(self.mu / (self.mu + length))

    def idf(self, leaf: Leaf) -> float:
        """How rare a leaf is."""
        frequency = self._frequency(leaf)
        return math.log(1 + (len(self.search.pages) - frequency + 0.5) / (frequency + 0.5))

    def _frequency(self, leaf: Leaf) -> int:
        """In how many pages the most frequent of the terms is, in the zone where it is most frequent."""
        if leaf not in self._frequencies:
            pages = self.search.pages
            self._frequencies[leaf] = max(
                (
                    sum(term in page.zones[zone].positions for page in pages)
                    for term in leaf.terms
                    for zone in leaf.zones
                ),
                default=0,
            )
        return self._frequencies[leaf]

    def _occurrences(self, leaf: Leaf) -> int:
        if leaf not in self._counts:
            self._counts[leaf] = sum(count(leaf, page) for page in self.search.pages)
        return self._counts[leaf]

    def mean(self, zones: tuple[str, ...]) -> float:
        """The words of these zones of the mean page."""
        return self._total(zones) / len(self.search.pages) or 1.0

    def _total(self, zones: tuple[str, ...]) -> int:
        for zone in zones:
            if zone not in self._words:
                self._words[zone] = sum(page.zones[zone].words for page in self.search.pages)
        return sum(self._words[zone] for zone in zones)


@dataclass
class SlowProximity:
    """What is added where words of the query stand close together, in whatever zone."""

    scores: SlowScores
    weight: float = 0.5

    def __call__(self, leaves: list[Scored], page: Page) -> float:
        different = list(dict.fromkeys(leaf for leaf, _ in leaves))
        return self.weight * sum(self._in_zone(different, page, zone) for zone in page.written)

    def _in_zone(self, leaves: list[Leaf], page: Page, zone: str) -> float:
        scores = self.scores
        b = scores.zone_b.get(zone, scores.b) if scores.scorer == "bm25f" else scores.b
        length = min(page.zones[zone].words, LONGEST) / scores.mean((zone,))
        k = scores.k1 * (1 - b + b * length)
        places = [set(page.holds(leaf.terms, zone)) if zone in leaf.zones else set() for leaf in leaves]
        idfs = [scores.idf(leaf) for leaf in leaves]
        sums = nearness(places, idfs)
        return sum(
            min(1.0, idf) * (scores.k1 + 1) * near / (k + near)
            for near, idf in zip(sums, idfs, strict=True)
            if near
        )


def nearness(places: list[set[int]], weights: list[float]) -> list[float]:
    """For each leaf, what the others weigh over the squares of their distances, for every two occurrences with none
    between them."""
    everywhere = sorted(set().union(*places))
    sums = [0.0] * len(places)
    for before, after in pairwise(everywhere):
        for first, second in permutations(range(len(places)), 2):
            if before in places[first] and after in places[second]:
                sums[first] += weights[second] / (after - before) ** 2
                sums[second] += weights[first] / (after - before) ** 2
    return sums


def count(leaf: Leaf, page: Page) -> int:
    return sum(page.count(leaf.terms, zone) for zone in leaf.zones)


def words(page: Page, zones: tuple[str, ...]) -> int:
    return sum(page.zones[zone].words for zone in zones)
