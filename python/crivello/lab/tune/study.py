"""Fits settings to judgments, and estimates by cross-validation what they gain on unseen topics.

The topics are split into k folds. For each fold the settings are fitted to all other topics (train) and then
measured on the fold (test), as are the collection's current settings. The mean test score over all topics
estimates what a fit yields for future topics; the score on the training topics does not. Finally the settings
are fitted to all topics: these are the values to use.

A fold's choice depends on its train topics alone: it uses the points of the common design and those of its
own ascent. Scores of topics are cached, so that a point is searched once however many folds try it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from crivello.errors import InvalidArgument
from crivello.evaluate import Evaluator, Judgments, p_of_randomisation
from crivello.lab.tune.ascent import Point, design, refine
from crivello.lab.tune.parameters import Parameter
from crivello.search.results import Hit
from crivello.search.runs import name_of
from crivello.search.searcher import Search
from crivello.search.topics import Topic, hits_of
from crivello.settings import Search as SearchSettings

DEFAULT_PARAMETERS = (Parameter("k1", 0.4, 3.0), Parameter("b", 0.0, 1.0))
_SEED = 1961


@dataclass(frozen=True, slots=True)
class Fold:
    """Values fitted to all topics but the fold's, with their score on the fold; ``now`` is that of the
    current settings."""

    values: dict[str, float]
    train: float
    test: float
    now: float


@dataclass(frozen=True, slots=True)
class Study:
    """The results. ``test`` and ``now`` are means over all topics; ``p`` is the p-value of their difference;
    ``fitted`` was fitted to all topics, on which its score is ``train``."""

    measure: str
    topics: int
    passed_over: tuple[str, ...]
    evaluations: int
    folds: list[Fold]
    test: float
    now: float
    p: float
    fitted: dict[str, float]
    train: float
    values_now: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The output of ``crivello lab tune --json``."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class _Scores:
    """The score of each topic under any values of the parameters, cached."""

    def __init__(
        self,
        searcher: Search,
        settings: SearchSettings,
        parameters: Sequence[Parameter],
        topics: list[Topic],
        evaluator: Evaluator,
        top: int,
        evaluated: Callable[[int], None],
    ) -> None:
        self._searcher, self._settings, self._parameters = searcher, settings, parameters
        self._topics, self._evaluator, self._top, self._evaluated = topics, evaluator, top, evaluated
        self._known: dict[Point, list[float]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, point: Point) -> list[float]:
        """The scores of all topics, in order."""
        if point not in self._known:
            names = (parameter.name for parameter in self._parameters)
            settings = msgspec.structs.replace(self._settings, **dict(zip(names, point, strict=True)))
            run = {
                topic.id: _ranked(hits_of(topic, self._searcher, top=self._top, settings=settings))
                for topic in self._topics
            }
            found = self._evaluator.evaluate(run)
            [measure] = found.measures
            self._known[point] = [found.queries[topic.id][measure] for topic in self._topics]
            self._evaluated(len(self._known))
        return self._known[point]


def tune(
    searcher: Search,
    settings: SearchSettings,
    topics: list[Topic],
    judgments: Judgments,
    *,
    parameters: Sequence[Parameter] = DEFAULT_PARAMETERS,
    measure: str = "AP",
    folds: int = 5,
    budget: int = 100,
    top: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Fits settings to judgments, and estimates their gain. Writes nothing.

    ``budget`` is the maximum number of points searched, besides that of ``settings``: half of them for the
    common design, the others for the ascents of the folds and of the last fit. The top ``top`` hits of a
    topic count.
    """
    judged = [topic for topic in topics if topic.id in judgments]
    _check(judged, parameters, folds, budget)
    evaluator = Evaluator({topic.id: judgments[topic.id] for topic in judged}, [measure])

    def evaluated(count: int) -> None:
        if progress is not None:
            progress(count, budget + 1)

    scores = _Scores(searcher, settings, parameters, judged, evaluator, top, evaluated)
    now: Point = tuple(getattr(settings, parameter.name) for parameter in parameters)
    points = [now, *(point for point in design(list(parameters), budget // 2) if point != now)]
    steps = (budget - budget // 2) // (folds + 1)

    def fitted(places: Sequence[int]) -> tuple[Point, float]:
        return refine(
            list(parameters),
            points,
            lambda point: _mean([scores.of(point)[place] for place in places]),
            steps,
        )

    dealt = _dealt(len(judged), folds)
    found: list[Fold] = []
    unseen = [0.0] * len(judged)
    for test in dealt:
        best, train = fitted([place for place in range(len(judged)) if place not in set(test)])
        for place in test:
            unseen[place] = scores.of(best)[place]
        found.append(
            Fold(
                _named(parameters, best),
                train,
                _mean([unseen[place] for place in test]),
                _mean([scores.of(now)[place] for place in test]),
            )
        )
    best, train = fitted(range(len(judged)))
    before = scores.of(now)
    return Study(
        measure,
        len(judged),
        tuple(topic.id for topic in topics if topic.id not in judgments),
        len(scores),
        found,
        _mean(unseen),
        _mean(before),
        p_of_randomisation([after - earlier for after, earlier in zip(unseen, before, strict=True)]),
        _named(parameters, best),
        train,
        _named(parameters, now),
    )


def _check(judged: list[Topic], parameters: Sequence[Parameter], folds: int, budget: int) -> None:
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names):
        raise InvalidArgument("a parameter is named twice")
    if not 2 <= folds <= len(judged):
        raise InvalidArgument(
            f"{len(judged)} judged topics cannot be dealt into {folds} folds",
            hint="give at least 2 folds, and at least as many judged topics as folds",
        )
    if budget < 2 * (folds + 1):
        raise InvalidArgument(
            f"a budget of {budget} is too small for {folds} folds: give at least {2 * (folds + 1)}"
        )


def _ranked(hits: list[Hit]) -> dict[str, float]:
    """Hits as scores that decrease with the rank, so that only the order counts."""
    ranked: dict[str, float] = {}
    for hit in hits:
        ranked.setdefault(name_of(hit), -float(hit.rank))
    return ranked


def _dealt(count: int, folds: int) -> list[list[int]]:
    """The indices of topics, shuffled with a fixed seed and split into folds of similar size."""
    places = list(range(count))
    random.Random(_SEED).shuffle(places)
    return [sorted(places[fold::folds]) for fold in range(folds)]


def _named(parameters: Sequence[Parameter], point: Point) -> dict[str, float]:
    return {parameter.name: value for parameter, value in zip(parameters, point, strict=True)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
