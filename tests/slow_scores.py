"""The scores of a search by their formulas, in float64. x, c, l and l̄ are those of docs/search.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
                length = min(page.zones[zone].words, LONGEST) / self._mean((zone,))
                weight = self.zone_weight.get(zone, 1.0)
                x += weight * page.count(leaf.terms, zone) / (1 - b + b * length)
            if x:
                score += boost * self._idf(leaf) * (self.k1 + 1) * x / (self.k1 + x)
        return score

    def _bm25(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            length = words(page, leaf.zones) / self._mean(leaf.zones)
            x = count(leaf, page) / (1 - self.b + self.b * length)
            if x:
                score += boost * self._idf(leaf) * (self.k1 + 1) * x / (self.k1 + x)
        return score

    def _tfidf(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            if occurrences := count(leaf, page):
                rarity = math.log((len(self.search.pages) + 1) / self._frequency(leaf))
                length = words(page, leaf.zones) / self._mean(leaf.zones)
                norm = 1 - self.slope + self.slope * length
                score += boost * rarity * (1 + math.log(1 + math.log(occurrences))) / norm
        return score

    def _ql(self, leaves: list[Scored], page: Page) -> float:
        score = 0.0
        for leaf, boost in leaves:
            if occurrences := count(leaf, page):
                everywhere = sum(count(leaf, other) for other in self.search.pages)
                probability = everywhere / self._total(leaf.zones)
                score += boost * math.log(1 + occurrences / (self.mu * probability))
        length = words(page, self.search.zones)
        return score + sum(boost for _, boost in leaves) * math.log(self.mu / (self.mu + length))

    def _idf(self, leaf: Leaf) -> float:
        frequency = self._frequency(leaf)
        return math.log(1 + (len(self.search.pages) - frequency + 0.5) / (frequency + 0.5))

    def _frequency(self, leaf: Leaf) -> int:
        """In how many pages the most frequent of the terms is, in the zone where it is most frequent."""
        if leaf not in self._frequencies:
            pages = self.search.pages
            self._frequencies[leaf] = max(
                sum(term in page.zones[zone].positions for page in pages)
                for term in leaf.terms
                for zone in leaf.zones
            )
        return self._frequencies[leaf]

    def _mean(self, zones: tuple[str, ...]) -> float:
        """The words of these zones of the mean page."""
        return self._total(zones) / len(self.search.pages) or 1.0

    def _total(self, zones: tuple[str, ...]) -> int:
        for zone in zones:
            if zone not in self._words:
                self._words[zone] = sum(page.zones[zone].words for page in self.search.pages)
        return sum(self._words[zone] for zone in zones)


def count(leaf: Leaf, page: Page) -> int:
    return sum(page.count(leaf.terms, zone) for zone in leaf.zones)


def words(page: Page, zones: tuple[str, ...]) -> int:
    return sum(page.zones[zone].words for zone in zones)
