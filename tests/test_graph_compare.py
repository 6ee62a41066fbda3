"""How far measures agree: Kendall's τ beside SciPy's, ranks, overlaps, and the plots."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crivello.errors import InvalidArgument
from crivello.graph.compare import best_nodes, compare, kendall, positions, rounded, weighted_kendall
from crivello.graph.plots import distribution, draw_comparison, draw_distributions

VALUES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=60)


@given(VALUES)
def test_kendall_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array(side, np.float64) for side in zip(*pairs, strict=True))
    expected = stats.kendalltau(one, other).statistic
    assert kendall(one, other) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
    if len(set(one)) > 1 and len(set(other)) > 1:
        weighted = stats.weightedtau(one, other).statistic
        assert weighted_kendall(one, other) == pytest.approx(weighted, rel=1e-9, abs=1e-12)


def test_a_hundred_thousand_nodes_agree_with_scipy() -> None:
    random = np.random.default_rng(7)
    one = np.floor(random.pareto(1.2, 100_000) * 10)
    other = one + np.floor(random.pareto(1.2, 100_000) * 10)
    assert kendall(one, other) == pytest.approx(stats.kendalltau(one, other).statistic, rel=1e-10)
    assert weighted_kendall(one, other) == pytest.approx(stats.weightedtau(one, other).statistic, rel=1e-8)
    assert (positions(one) == stats.rankdata(-one)).all()


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 40))
def test_the_best_nodes_are_those_of_a_stable_sort(values: list[int], count: int) -> None:
    expected = sorted(range(len(values)), key=lambda node: (-values[node], node))[:count]
    assert best_nodes(np.array(values, np.float64), count).tolist() == expected


def test_ties_survive_rounding_errors() -> None:
    assert rounded([0.1 + 0.2])[0] == rounded([0.3])[0]
    odd = rounded([0.0, np.inf, -1e-300, np.nan, 5e-324])
    assert odd[0] == 0 and odd[1] == np.inf and odd[2] == pytest.approx(-1e-300) and np.isnan(odd[3])
    noisy = np.array([0.1 + 0.2, 0.3, 1.0])
    assert compare({"one": noisy, "other": np.array([1.0, 1.0, 2.0])}).pairs[0].tau == pytest.approx(1)


def test_a_comparison_has_every_pair() -> None:
    comparison = compare({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1], "c": [1.0, 2, 4, 3]}, top=2)
    assert [(pair.one, pair.other) for pair in comparison.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.overlap for pair in comparison.pairs] == [0, 1, 0]
    assert comparison.pairs[0].tau == -1
    with pytest.raises(InvalidArgument, match="two measures"):
        compare({"a": [1.0]})
    with pytest.raises(InvalidArgument, match="two measures"):
        compare({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InvalidArgument, match="not a number"):
        compare({"a": [1.0, np.nan], "b": [1.0, 2.0]})


def test_the_distribution_is_the_share_of_nodes_at_or_above_a_value() -> None:
    places, shares = distribution(np.array([0.0, 1, 1, 2]))
    assert (places.tolist(), shares.tolist()) == ([1, 2], [0.75, 0.25])
    places, shares = distribution(np.random.default_rng(1).random(200_000))
    assert len(places) < 20_000 and shares[0] == 1 and shares[-1] == 1 / 200_000


@pytest.mark.parametrize("ranks", [False, True])
def test_plots_are_written(tmp_path: Path, ranks: bool) -> None:
    random = np.random.default_rng(3)
    scores = {name: random.pareto(1.0, 300) for name in ("one", "two", "three")}
    scores["three"][:100] = 0
    draw_comparison(scores, compare(scores), tmp_path / "agreement.svg", ranks=ranks)
    ElementTree.parse(tmp_path / "agreement.svg")
    draw_distributions(scores, tmp_path / "values.png")
    assert (tmp_path / "values.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidArgument, match="no name for a plot"):
        draw_distributions(scores, tmp_path / "values.gif")
