"""Traces of changes: generated, or made of the histories of visited pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import InvalidArgument

DAY = 86_400.0

# The rates of generated pages are between one change in two years and ten a day.
_SLOWEST, _FASTEST = 1 / (730 * DAY), 10 / DAY
# The exponent of importance is that of PageRank on the web.
_IMPORTANCE_EXPONENT = 2.1
_LARGEST_IMPORTANCE = 1e4
# A signal is received this long after its change, on average.
_DELAY = 600.0


@dataclass(frozen=True)
class Trace:
    """The pages of a trace as columns, and the moments of their changes and signals in seconds from its start.

    The moments of a page are ``changes[change_starts[n]:change_starts[n + 1]]``, in order; signals likewise.
    ``rates`` (changes per second), ``precision`` and ``recall`` (of signals; 0 if there are none) are what the
    policies have to find out.
    """

    seconds: float
    importance: NDArray[Any]
    rates: NDArray[Any]
    precision: NDArray[Any]
    recall: NDArray[Any]
    change_starts: NDArray[Any]
    changes: NDArray[Any]
    signal_starts: NDArray[Any]
    signals: NDArray[Any]

    def __len__(self) -> int:
        return len(self.importance)

    @cached_property
    def native(self) -> _core.RefreshTrace:
        """The trace in the core."""
        return _core.RefreshTrace(
            self.seconds,
            self._columns,
            (self.change_starts, self.changes),
            (self.signal_starts, self.signals),
        )

    def optimum(
        self, budget: float, *, exact: bool = True, intervals: tuple[float, float] = (1e-300, math.inf)
    ) -> float:
        """The least weighted staleness that ``budget`` requests per second can have, in expectation, if the interval
        between visits of a page is between the two ``intervals``, in seconds.

        It is the optimum of the convex program, with known rates; with ``exact=False``, that of the histogram of
        the planner.
        """
        _, _, stale = _core.refresh_allocation(self._columns, budget, exact, intervals)
        return float(np.average(np.asarray(stale), weights=self.importance))

    @property
    def _columns(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.importance, self.rates, self.precision, self.recall


def generate(
    pages: int,
    days: float,
    *,
    seed: int = 0,
    exponent: float = 1.5,
    correlation: float = 0.0,
    signals: float = 0.1,
    precision: float = 0.9,
    recall: float = 0.9,
) -> Trace:
    """A generated trace.

    The rates of change have a power law: the density of a rate is proportional to rate ** -exponent, between one
    change in two years and ten changes a day. So has importance, with exponent 2.1. ``correlation`` is that of the
    normal variables from which both are made (a Gaussian copula). Changes are Poisson processes. A share ``signals``
    of the pages announces its changes with this precision and recall, ten minutes later on average.
    """
    if pages < 1 or not days > 0:
        raise InvalidArgument("a trace needs pages and days")
    if not -1 < correlation < 1:
        raise InvalidArgument(f"a correlation of {correlation} is not between -1 and 1")
    if not (0 <= signals <= 1 and 0 < precision <= 1 and 0 < recall <= 1):
        raise InvalidArgument("signals, precision and recall must be shares: numbers between 0 and 1")
    random = np.random.default_rng(seed)
    seconds = days * DAY
    first, other = random.standard_normal((2, pages))
    second = correlation * first + math.sqrt(1 - correlation**2) * other
    rates = _power_law(_uniform(first), exponent, _SLOWEST, _FASTEST)
    importance = _power_law(_uniform(second), _IMPORTANCE_EXPONENT, 1.0, _LARGEST_IMPORTANCE)

    counts = random.poisson(rates * seconds)
    owners = np.repeat(np.arange(pages), counts)
    changes = random.uniform(0, seconds, len(owners))
    announcing = random.random(pages) < signals
    announced = announcing[owners] & (random.random(len(owners)) < recall)
    wrong_rates = np.where(announcing, rates * recall * (1 - precision) / precision, 0)
    wrong_owners = np.repeat(np.arange(pages), random.poisson(wrong_rates * seconds))
    delays = random.exponential(_DELAY, int(announced.sum()))
    signal_owners = np.concatenate([owners[announced], wrong_owners])
    moments = np.concatenate([changes[announced] + delays, random.uniform(0, seconds, len(wrong_owners))])
    inside = moments <= seconds
    return _trace(
        seconds,
        importance,
        rates,
        (np.where(announcing, precision, 1.0), np.where(announcing, recall, 0.0)),
        (owners, changes),
        (signal_owners[inside], moments[inside]),
    )


class History(NamedTuple):
    """The visits of a page: when they were, in seconds, and which of them found a change."""

    times: Sequence[float]
    changed: Sequence[bool]
    importance: float = 1.0


def of_histories(histories: Iterable[History], *, seed: int = 0) -> Trace:
    """A trace of the histories of pages, each from its first visit on.

    A visit that found a change stands for one change at a random moment since the visit before; what happened
    after the last visit is unknown, and nothing is presumed. Pages that were visited once tell nothing and are left out.
    """
    random = np.random.default_rng(seed)
    importance: list[float] = []
    rates: list[float] = []
    owners: list[int] = []
    changes: list[float] = []
    seconds = 0.0
    for history in histories:
        times = np.asarray(history.times, dtype=float)
        if len(times) != len(history.changed) or np.any(np.diff(times) < 0):
            raise InvalidArgument("a history needs visits in order, and for each whether it found a change")
        if len(times) < 2 or times[-1] == times[0]:
            continue
        times -= times[0]
        found = np.flatnonzero(np.asarray(history.changed, dtype=bool)[1:]) + 1
        owners += [len(importance)] * len(found)
        changes += random.uniform(times[found - 1], times[found]).tolist()
        importance.append(history.importance)
        rates.append((len(found) + 0.5) / times[-1])
        seconds = max(seconds, float(times[-1]))
    if not importance:
        raise InvalidArgument(
            "no page was visited twice, so there is no history", hint="`crivello refresh` visits pages again"
        )
    silent = (np.ones(len(importance)), np.zeros(len(importance)))
    nothing = (np.empty(0, dtype=int), np.empty(0))
    moments = (np.asarray(owners, dtype=int), np.asarray(changes, dtype=float))
    return _trace(seconds, np.asarray(importance, dtype=float), np.asarray(rates), silent, moments, nothing)


def _trace(
    seconds: float,
    importance: NDArray[Any],
    rates: NDArray[Any],
    announced: tuple[NDArray[Any], NDArray[Any]],
    changes: tuple[NDArray[Any], NDArray[Any]],
    signals: tuple[NDArray[Any], NDArray[Any]],
) -> Trace:
    pages = len(importance)
    return Trace(
        seconds, importance, rates, *announced, *_by_page(pages, *changes), *_by_page(pages, *signals)
    )


def _by_page(pages: int, owners: NDArray[Any], moments: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Moments by page and in order, and where those of each page start."""
    starts = np.zeros(pages + 1, dtype=np.uint64)
    np.cumsum(np.bincount(owners, minlength=pages), out=starts[1:], dtype=np.uint64)
    return starts, moments[np.lexsort((moments, owners))]


def _uniform(normal: NDArray[Any]) -> NDArray[Any]:
    """Standard normal variables as uniform ones, with their order."""
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in normal.tolist()])


def _power_law(uniform: NDArray[Any], exponent: float, low: float, high: float) -> NDArray[Any]:
    """The inverse of the distribution with density x ** -exponent between two bounds."""
    if abs(exponent - 1) < 1e-9:
        return np.asarray(low * (high / low) ** uniform)
    power = 1 - exponent
    return np.asarray((low**power + uniform * (high**power - low**power)) ** (1 / power))
