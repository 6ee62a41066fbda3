"""Every policy on every trace at every budget."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from crivello import _core
from crivello.errors import InvalidArgument
from crivello.lab.refresh.trace import DAY, Trace
from crivello.settings import Refresh, for_core

ORACLE, OPTIMUM = "oracle", "optimum"

# The share of a trace in which policies learn, the length of a round of visits, and the least number of rounds.
WARM_UP = 0.4
_ROUND = 3600.0
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Point:
    """The weighted staleness of a policy on a trace at a budget, in requests per day.

    ``staleness`` is that of the time after the learning phase, ``learning`` that of the learning phase. ``optimum`` is
    not simulated: it is the least staleness of any allocation that knows the rates and keeps ``min_interval`` and
    ``max_interval``, in expectation.
    """

    trace: str
    seed: int
    policy: str
    budget: float
    staleness: float
    learning: float
    visits: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much less stale ``optimal`` is than each other policy, as a share of that one's staleness: at worst over
    all seeds, and on average; ``possible`` is the same of the optimum, on average: no policy can do better."""

    trace: str
    budget: float
    policy: str
    mean: float
    worst: float
    possible: float


@dataclass(frozen=True, slots=True)
class Study:
    """All points, by trace, seed, budget and policy."""

    pages: int
    days: float
    points: list[Point]

    def staleness(self, trace: str, policy: str, budget: float, *, learning: bool = False) -> list[float]:
        """One number for each seed: after the learning phase, or during it."""
        wanted = (trace, policy, budget)
        return [
            point.learning if learning else point.staleness
            for point in self.points
            if (point.trace, point.policy, point.budget) == wanted
        ]

    def names(self, field: str) -> list[Any]:
        """The values of a field of the points, in order."""
        return list(dict.fromkeys(getattr(point, field) for point in self.points))

    @property
    def comparisons(self) -> list[Comparison]:
        """``optimal`` beside every other policy."""
        if "optimal" not in self.names("policy"):
            return []
        found = []
        for trace in self.names("trace"):
            for budget in self.names("budget"):
                ours = self.staleness(trace, "optimal", budget)
                least = self.staleness(trace, OPTIMUM, budget)
                for policy in self.names("policy"):
                    if policy == "optimal":
                        continue
                    others = self.staleness(trace, policy, budget)
                    less = [_less(*pair) for pair in zip(ours, others, strict=True)]
                    possible = statistics.fmean(map(_less, least, others))
                    found.append(
                        Comparison(trace, budget, policy, statistics.fmean(less), min(less), possible)
                    )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self) | {"comparisons": [asdict(one) for one in self.comparisons]}


def _less(own: float, other: float) -> float:
    return 1 - own / other if other > 0 else 0.0


def study(
    traces: Mapping[str, Sequence[Trace]],
    budgets: Sequence[float],
    *,
    policies: Sequence[str] = (),
    settings: Refresh | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Simulates policies (all by default, and the oracle) on traces, by name one for each seed, at budgets in
    requests per day."""
    if not budgets or any(not budget > 0 for budget in budgets):
        raise InvalidArgument("a budget must be more than 0 requests a day")
    settings = settings or Refresh()
    options = _core.RefreshOptions(msgspec.json.encode(for_core(settings)))
    intervals = settings.min_interval, max(settings.min_interval, settings.max_interval)
    chosen = list(policies) or [*dict(_core.choices()["refresh"]), ORACLE]
    all_traces = [(name, seed, trace) for name, seeds in traces.items() for seed, trace in enumerate(seeds)]
    points: list[Point] = []
    steps = [(*one, budget) for one in all_traces for budget in budgets]
    for done, (name, seed, trace, budget) in enumerate(steps):
        if progress:
            progress(done, len(steps))
        length = min(trace.seconds / _ROUNDS, _ROUND)
        runs = [(policy, budget / DAY, length, WARM_UP * trace.seconds) for policy in chosen]
        outcomes = trace.native.simulate(options, runs)
        points += [
            Point(name, seed, policy, budget, *outcome)
            for policy, outcome in zip(chosen, outcomes, strict=True)
        ]
        least = trace.optimum(budget / DAY, intervals=intervals)
        points.append(Point(name, seed, OPTIMUM, budget, least, least))
    longest = max(trace.seconds for _, _, trace in all_traces)
    return Study(max(len(trace) for _, _, trace in all_traces), longest / DAY, points)
