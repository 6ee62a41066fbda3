"""The engine against the definitions: random queries over random pages find the same pages with the same scores."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from crivello._core import Searcher
from crivello.search import Operator
from crivello.search.searcher import options_of
from crivello.settings import Search as SearchSettings
from tests.random_search import EVERY, Queries, build
from tests.slow_scores import SlowProximity, SlowScores
from tests.slow_search import SlowSearch

SCORERS = ("bm25f", "bm25", "tfidf", "ql")
METHODS = ("auto", "exhaustive", "maxscore", "wand", "blockmax-wand", "taat")
ZONES = (1.0, 3.0, 0.5, 1.0, 0.0)
WEIGHTS = dict(zip(("body", "title", "headings", "anchors", "url"), ZONES, strict=True))
K1, B = 1.5, 0.75
WEIGHT_SETTINGS: dict[str, Any] = {f"{zone}_weight": weight for zone, weight in WEIGHTS.items()}
PROXIMITY = 0.5
COLLECTIONS = tuple(zip(range(1, 11), (30, 30, 30, 40, 40, 50, 50, 60, 100, 200), strict=True))
TREES = int(os.environ.get("CRIVELLO_TEST_TREES", "600")) // len(COLLECTIONS)
LANGUAGES = ("en", "en", "it")

Ranking = list[tuple[str, float]]


def ask(
    searcher: Searcher, query: Operator, *, top: int, language: str, scorer: str, method: str, near: bool
) -> tuple[int, Ranking]:
    """How many pages match, and the best of them."""
    options = options_of(
        SearchSettings(
            language=language,
            scorer=scorer,
            method=method,
            k1=K1,
            b=B,
            **WEIGHT_SETTINGS,
            proximity=PROXIMITY if near else 0.0,
            proximity_depth=10_000,
            rank_weight=0.0,
            collapse=-1,
            per_site=0,
            time_limit=0.0,
        )
    )
    ranking = searcher.rank(str(query), options, top, 10_000)
    hits = searcher.show(ranking, 0, top, passages=False)
    assert ranking.exact and not ranking.partial
    return ranking.matches, [(hit[1], hit[0]) for hit in hits if hit is not None]


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize(("seed", "pages"), COLLECTIONS)
def test_every_query_finds_what_its_definition_says(tmp_path: Path, seed: int, pages: int) -> None:
    index, slow = build(tmp_path, seed, pages)
    searcher = Searcher(tmp_path, index.segments)
    language = LANGUAGES[seed % len(LANGUAGES)]
    model = SlowSearch(slow, language, tuple(zone for zone, weight in WEIGHTS.items() if weight))
    scores = {
        (scorer, near): slow_scores(model, scorer, near) for scorer in SCORERS for near in (False, True)
    }
    queries = Queries(Random(seed), EVERY)
    for number in range(TREES):
        query = queries.tree()
        scorer, near = SCORERS[number % len(SCORERS)], number % 3 == 0
        expected = model.search(query, scores[scorer, near])
        asked = partial(ask, searcher, query, language=language, scorer=scorer, near=near)
        matches, whole = asked(top=10_000, method=METHODS[0])
        assert matches == len(whole) == len(expected), query
        check_ranking(query, whole, expected)
        for method in METHODS:
            _, best = asked(top=10, method=method)
            assert len(best) == min(10, len(expected)), query
            check_ranking(query, best, expected)


def slow_scores(model: SlowSearch, scorer: str, near: bool) -> SlowScores:
    scores = SlowScores(model, scorer, k1=K1, zone_weight=WEIGHTS)
    if near:
        scores.added = SlowProximity(scores, PROXIMITY)
    return scores


def check_ranking(query: Operator, ranking: Ranking, expected: dict[str, float]) -> None:
    """The scores are right and fall, and they are the highest there are: ties may be in any order."""
    highest = sorted(expected.values(), reverse=True)
    assert len({url for url, _ in ranking}) == len(ranking), query
    for (url, score), (_, next_score), best in zip(
        ranking, [*ranking[1:], ("", -math.inf)], highest, strict=False
    ):
        assert score >= next_score and url in expected, query
        assert close(score, best) and close(score, expected[url]), (
            str(query),
            url,
            score,
            best,
            expected[url],
        )
