"""The engine against the definitions: random queries over random pages find the same pages with the same scores."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest

from crivello._core import Searcher
from crivello.search import Operator
from tests.random_search import BOOLEAN, Queries, build
from tests.slow_scores import SlowScores
from tests.slow_search import SlowSearch

OPERATORS = BOOLEAN
SCORERS = ("bm25",)
METHODS = ("auto",)
COLLECTIONS = tuple(zip(range(1, 11), (30, 30, 30, 40, 40, 50, 50, 60, 100, 200), strict=True))
TREES = 500
LANGUAGES = ("en", "en", "it")

Ranking = list[tuple[str, float]]


def ask(
    searcher: Searcher, query: Operator, *, top: int, language: str, scorer: str, method: str
) -> tuple[int, Ranking]:
    """How many pages match, and the best of them."""
    assert (scorer, method) == ("bm25", "auto")
    matches, _, hits = searcher.search(str(query), top=top, language=language)
    return matches, [(url, score) for score, url, *_ in hits]


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize(("seed", "pages"), COLLECTIONS)
def test_every_query_finds_what_its_definition_says(tmp_path: Path, seed: int, pages: int) -> None:
    index, slow = build(tmp_path, seed, pages)
    searcher = Searcher(tmp_path, index.segments)
    language = LANGUAGES[seed % len(LANGUAGES)]
    model = SlowSearch(slow, language)
    scores = {scorer: SlowScores(model, scorer) for scorer in SCORERS}
    queries = Queries(Random(seed), OPERATORS)
    for number in range(TREES):
        query = queries.tree()
        scorer = SCORERS[number % len(SCORERS)]
        expected = model.search(query, scores[scorer])
        asked = {"language": language, "scorer": scorer}
        matches, whole = ask(searcher, query, top=10_000, method=METHODS[0], **asked)
        assert matches == len(whole) == len(expected), query
        check_ranking(query, whole, expected)
        for method in METHODS:
            _, best = ask(searcher, query, top=10, method=method, **asked)
            assert len(best) == min(10, len(expected)), query
            check_ranking(query, best, expected)


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
