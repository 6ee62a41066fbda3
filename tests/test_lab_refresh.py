"""crivello lab refresh: the optimum against an independent solver, and the policies at equal budgets."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crivello import Collection, _core
from crivello.errors import InvalidArgument
from crivello.lab.refresh import History, Study, Trace, generate, histories, of_histories, study
from crivello.lab.refresh.plot import draw
from crivello.lab.refresh.trace import DAY
from tests.shell import says


def crivello(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says(*arguments)


def solved(rates: Any, importance: Any, budget: float) -> float:
    """The least weighted staleness of pages without signals: the convex program over the logarithms of the visits per
    day, by sequential quadratic programming, without prices and without bisection."""
    weights = importance / importance.sum()

    def stale(logs: Any) -> Any:
        expected = rates / np.exp(logs)
        fresh = -np.expm1(-expected) / expected
        # The derivative of the freshness by the logarithm of the visits.
        return float(weights @ (1 - fresh)), -weights * (fresh - np.exp(-expected))

    from scipy import optimize

    found = optimize.minimize(
        stale,
        np.full(len(rates), math.log(budget / len(rates))),
        jac=True,
        bounds=[(-12, 6)] * len(rates),
        constraints={
            "type": "eq",
            "fun": lambda logs: np.exp(logs).sum() / budget - 1,
            "jac": lambda logs: np.exp(logs) / budget,
        },
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-10},
    )
    return float(found.fun)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("visits_per_page", [0.03, 0.3])
def test_the_allocation_is_the_optimum_of_another_solver(seed: int, visits_per_page: float) -> None:
    trace = generate(40, 1, seed=seed, signals=0)
    budget = visits_per_page * len(trace)
    exact = solved(trace.rates * DAY, trace.importance, budget)
    assert trace.optimum(budget / DAY) == pytest.approx(exact, rel=2e-3)
    # The planner's histogram, too; the issue is how far from the optimum its price leads.
    assert trace.optimum(budget / DAY, exact=False) == pytest.approx(exact, rel=0.05)


def test_the_histogram_loses_nothing_to_speak_of() -> None:
    for correlation in (0, 0.5):
        trace = generate(20_000, 1, seed=1, correlation=correlation)
        columns = (trace.importance, trace.rates, trace.precision, trace.recall)
        for budget in (200, 2000):
            _, visits, _ = _core.refresh_allocation(columns, budget / DAY, False)
            assert np.asarray(visits).sum() * DAY == pytest.approx(budget, rel=0.03)
            exact, found = trace.optimum(budget / DAY), trace.optimum(budget / DAY, exact=False)
            assert found == pytest.approx(exact, rel=0.01)


@pytest.fixture(scope="module")
def found() -> Study:
    traces = {
        f"correlation {correlation}": [
            generate(400, 200, seed=seed, correlation=correlation) for seed in range(2)
        ]
        for correlation in (0, 0.5)
    }
    return study(traces, [40.0])


def test_every_policy_spends_the_budget(found: Study) -> None:
    for point in found.points:
        if point.policy != "optimum":
            assert point.visits == pytest.approx(40 * 120, rel=0.02)
            assert 0 < point.changed < point.visits and 0 < point.staleness < 1


def test_optimal_is_the_least_stale(found: Study) -> None:
    """The project's figures, on small traces: 30 % less than adaptive, 50 % less than uniform, on average over seeds."""
    for one in found.comparisons:
        if one.policy in ("uniform", "by-age"):
            assert one.mean > 0.45 and one.possible > one.mean
        if one.policy == "adaptive":
            assert one.mean > 0.3
        if one.policy == "oracle":
            assert -0.25 < one.mean < 0.05


def test_the_oracle_is_near_the_optimum(found: Study) -> None:
    for trace in found.names("trace"):
        simulated = np.mean(found.staleness(trace, "oracle", 40.0))
        computed = np.mean(found.staleness(trace, "optimum", 40.0))
        # A trace of 400 pages is one draw of what the optimum is the mean of.
        assert simulated == pytest.approx(computed, rel=0.1)


def test_signals_help() -> None:
    silent, announced = (generate(200, 100, seed=3, signals=share) for share in (0, 1))
    stale = study({"silent": [silent], "announced": [announced]}, [20.0], policies=["optimal"])
    assert (
        stale.staleness("announced", "optimal", 20.0)[0]
        < 0.75 * stale.staleness("silent", "optimal", 20.0)[0]
    )


def test_a_trace_is_what_was_asked_for() -> None:
    trace = generate(20_000, 100, seed=5, correlation=0.5, signals=0.1)
    counts = np.diff(trace.change_starts.astype(int))
    assert counts.sum() == pytest.approx((trace.rates * trace.seconds).sum(), rel=0.02)
    assert np.corrcoef(np.log(trace.rates), np.log(trace.importance))[0, 1] > 0.3
    assert (trace.recall > 0).mean() == pytest.approx(0.1, abs=0.01)
    announced = np.diff(trace.signal_starts.astype(int))
    assert not announced[trace.recall == 0].any()
    assert announced.sum() == pytest.approx(counts[trace.recall > 0].sum(), rel=0.1)
    again = generate(20_000, 100, seed=5, correlation=0.5, signals=0.1)
    assert np.array_equal(trace.changes, again.changes) and np.array_equal(trace.signals, again.signals)


def test_histories_are_a_trace() -> None:
    daily = [day * DAY for day in range(30)]
    trace = of_histories(
        [
            History(daily, [True, *[True] * 29], importance=2),
            History([5.0, 10 * DAY], [True, False]),
            History([7.0], [True]),
        ]
    )
    assert len(trace) == 2 and trace.seconds == 29 * DAY
    assert trace.change_starts.tolist() == [0, 29, 29]
    assert np.all(np.floor(trace.changes / DAY) == np.arange(29))
    assert trace.rates[0] > 10 * trace.rates[1]
    assert study({"history": [trace]}, [1.0]).points


def visited(folder: Path, days: int) -> Path:
    """A collection of three pages, imported as they were on each day: one changes daily, one never, one was seen once."""
    with Collection.write(folder, create=True) as collection:
        for day in range(days):
            date = f"2024-01-{day + 1:02}T00:00:00Z"
            lines = [
                {"url": "https://a.example/daily", "html": f"<p>News of day {day}.", "date": date},
                {"url": "https://a.example/still", "html": "<p>Always the same.", "date": date},
            ]
            lines += [{"url": "https://a.example/once", "html": "<p>Seen once.", "date": date}] * (day == 0)
            file = folder.parent / f"{day}.jsonl"
            file.write_text("".join(json.dumps(line) + "\n" for line in lines))
            collection.import_(file, progress=False)
    return folder


def test_the_history_of_a_collection_is_a_trace(tmp_path: Path) -> None:
    folder = visited(tmp_path / "c", 12)
    found = sorted(histories(Collection(folder)), key=lambda one: sum(one.changed))
    assert [len(one.times) for one in found] == [12, 12]
    assert [sum(one.changed) for one in found] == [1, 12], "the first visit is a change"
    assert np.diff(found[0].times).tolist() == [DAY] * 11
    told = json.loads(crivello("lab", "refresh", folder, "--budget", "1", "--seeds", "2", "--json").stdout)
    assert (told["pages"], round(told["days"])) == (2, 11)
    assert {point["trace"] for point in told["points"]} == {"c"} and len(told["points"]) == 2 * 6
    stale = {one["policy"]: one["staleness"] for one in told["points"]}
    assert 0 < stale["oracle"] < 1
    printed = crivello("lab", "refresh", folder)
    assert printed.returncode == 0 and "2 pages, 11 days" in printed.stdout


def test_a_collection_without_history_says_so(tmp_path: Path) -> None:
    done = crivello("lab", "refresh", visited(tmp_path / "c", 1))
    assert done.returncode == 2 and "no page was visited twice" in done.stderr
    assert crivello("lab", "refresh", tmp_path / "none").returncode == 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: generate(0, 1), "needs pages"),
        (lambda: generate(10, 1, correlation=2), "correlation of 2"),
        (lambda: generate(10, 1, signals=7), "shares"),
        (lambda: of_histories([]), "no page was visited twice"),
        (lambda: of_histories([History([2.0, 1.0], [True, True])]), "in order"),
        (lambda: study({"x": [generate(10, 1)]}, [0]), "more than 0"),
        (lambda: study({"x": [generate(10, 1)]}, [1], policies=["sometimes"]), "no refresh policy"),
        (lambda: Trace(1.0, *([np.ones(2)] * 4), *([np.array([0, 5, 9], dtype=np.uint64), np.ones(3)] * 2)).native, "fit"),
        (lambda: Trace(1.0, *([np.ones(1)] * 4), *([np.array([0, 1], dtype=np.uint64), np.full(1, 2.0)] * 2)).native, "within"),
        (lambda: Trace(-1.0, *([np.ones(1)] * 4), *([np.array([0, 0], dtype=np.uint64), np.ones(0)] * 2)).native, "seconds"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(make: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        make()


def test_the_command_prints_tables_json_and_a_plot(tmp_path: Path) -> None:
    small = ["lab", "refresh", "--pages", "30", "--days", "10", "--seeds", "1", "--budget", "5,20"]
    printed = crivello(*small)
    assert printed.returncode == 0, printed.stderr
    assert "weighted staleness, correlation 0.5" in printed.stdout and "optimum" in printed.stdout
    plot = tmp_path / "staleness.svg"
    told = json.loads(crivello(*small, "--json", "--plot", plot, "--policy", "optimal,uniform").stdout)
    assert plot.read_text().count("<svg") == 1
    assert {point["policy"] for point in told["points"]} == {"optimal", "uniform", "optimum"}
    assert {one["policy"] for one in told["comparisons"]} == {"uniform", "optimum"}


@pytest.mark.parametrize(
    "wrong", [["--budget", "many"], ["--policy", "often"], ["--plot", "x.txt"], ["--correlation", "3"]]
)
def test_the_command_refuses_nonsense(wrong: list[str]) -> None:
    done = crivello("lab", "refresh", "--pages", "10", *wrong)
    assert done.returncode == 2 and done.stderr and not done.stdout


def test_a_plot_of_one_trace(tmp_path: Path) -> None:
    draw(study({"one": [generate(20, 20)]}, [1.0, 4.0]), tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 10_000
