"""Maximises a function of a few numbers when each evaluation is expensive.

First a design: points spread evenly over the entire range by Halton's sequence (coordinate i of point n is
the radical inverse of n in the i-th prime), so that no hill is missed. Then coordinate ascent from the best
of them: a step along each axis in turn, in both directions; when no step helps, the step size is halved,
until it is less than a hundredth of the range or the budget of evaluations is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crivello.lab.tune.parameters import Parameter

Point = tuple[float, ...]
"""A value for each parameter."""

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_FIRST_STEP = 1 / 8
_LAST_STEP = 1 / 100


def design(parameters: list[Parameter], count: int) -> list[Point]:
    """``count`` points, spread evenly; fewer if rounding makes some of them equal."""
    points = (
        tuple(
            parameter.at(_radical_inverse(number, prime))
            for parameter, prime in zip(parameters, _PRIMES, strict=False)
        )
        for number in range(1, count + 1)
    )
    return list(dict.fromkeys(points))


def _radical_inverse(number: int, base: int) -> float:
    inverse, weight = 0.0, 1.0
    while number:
        number, digit = divmod(number, base)
        weight /= base
        inverse += digit * weight
    return inverse


def refine(
    parameters: list[Parameter], start: Iterable[Point], score: Callable[[Point], float], budget: int
) -> tuple[Point, float]:
    """The best point found by ascent from the best of ``start``, with at most ``budget`` further points."""
    scores = {point: score(point) for point in start}
    known = len(scores)
    best = max(scores, key=lambda point: scores[point])
    step = _FIRST_STEP
    while step >= _LAST_STEP:
        before = best
        for candidate in _neighbours(parameters, before, step):
            if candidate not in scores:
                if len(scores) - known >= budget:
                    return best, scores[best]
                scores[candidate] = score(candidate)
            if scores[candidate] > scores[best]:
                best = candidate
        if best == before:
            step /= 2
    return best, scores[best]


def _neighbours(parameters: list[Parameter], point: Point, step: float) -> Iterable[Point]:
    for place, parameter in enumerate(parameters):
        share = parameter.share_of(point[place])
        for moved in (share - step, share + step):
            value = parameter.at(moved)
            if value != point[place]:
                yield (*point[:place], value, *point[place + 1 :])
