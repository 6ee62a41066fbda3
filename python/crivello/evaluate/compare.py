"""Compares two runs query by query: which is better, and is the difference significant?

Both tests take the differences d of a measure over the same n queries, and are two-sided.

- **Randomisation** (Fisher; Smucker, Allan and Carterette 2007): under the null hypothesis each difference
  could as well have the other sign. p is the fraction of the 2^n sign assignments for which the mean is at
  least as far from 0. With up to 16 nonzero differences all are counted; otherwise 100,000 are drawn with a
  fixed seed, and the observed one is included, so p is never 0.
- **Paired t-test** (Student): t = mean(d) / (s / √n), with n - 1 degrees of freedom.

The randomisation test makes no assumption about the distribution of differences; the t-test is what most
papers use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crivello.errors import InvalidArgument
from crivello.evaluate.measures import Evaluation

EXACT_UP_TO = 16
SAMPLES = 100_000
_BATCH = 4096
_SEED = 2007
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Comparison:
    """A measure of two runs: ``difference`` is the second minus the first, and a win is a query where the
    second is better. ``p_t_test`` is None if there is only one query."""

    measure: str
    first: float
    second: float
    difference: float
    wins: int
    losses: int
    ties: int
    p_randomisation: float
    p_t_test: float | None

    def to_dict(self) -> dict[str, Any]:
        """Everything but the name."""
        return {name: value for name, value in asdict(self).items() if name != "measure"}


def compare(first: Evaluation, second: Evaluation) -> list[Comparison]:
    """Compares two evaluations by the same judgments and measures: one comparison per measure."""
    if first.queries.keys() != second.queries.keys() or first.measures != second.measures:
        raise InvalidArgument("only evaluations by the same judgments and measures can be compared")
    means = first.means, second.means
    return [
        _comparison(measure, means[0][measure], means[1][measure], differences(first, second, measure))
        for measure in first.measures
    ]


def differences(first: Evaluation, second: Evaluation, measure: str) -> list[float]:
    """The second minus the first, for each query."""
    return [second.queries[query][measure] - values[measure] for query, values in first.queries.items()]


def _comparison(measure: str, first: float, second: float, found: list[float]) -> Comparison:
    wins = sum(difference > _EQUAL for difference in found)
    losses = sum(difference < -_EQUAL for difference in found)
    return Comparison(
        measure,
        first,
        second,
        second - first,
        wins,
        losses,
        len(found) - wins - losses,
        p_of_randomisation(found),
        p_of_t_test(found),
    )


def p_of_randomisation(found: Sequence[float]) -> float:
    """The p-value of the randomisation test: the probability of a mean difference at least as large."""
    # A difference of 0 has no sign, and does not affect the result.
    moved = np.array([difference for difference in found if abs(difference) > _EQUAL])
    observed = abs(moved.sum()) * (1 - _EQUAL)
    if len(moved) <= EXACT_UP_TO:
        sums = np.zeros(1)
        for difference in moved:
            sums = np.concatenate((sums + difference, sums - difference))
        return float(np.mean(np.abs(sums) >= observed))
    random = np.random.default_rng(_SEED)
    as_far = 0
    for start in range(0, SAMPLES, _BATCH):
        count = min(_BATCH, SAMPLES - start)
        drawn = np.frombuffer(random.bytes(count * (-(-len(moved) // 8))), np.uint8).reshape(count, -1)
        positive = np.unpackbits(drawn, axis=1, count=len(moved))
        sums = 2 * (positive.astype(float) @ moved) - moved.sum()
        as_far += int(np.count_nonzero(np.abs(sums) >= observed))
    return (as_far + 1) / (SAMPLES + 1)


def p_of_t_test(found: Sequence[float]) -> float | None:
    """The p-value of the paired t-test; None for one pair."""
    if len(found) < 2:
        return None
    mean, deviation = float(np.mean(found)), float(np.std(found, ddof=1))
    if deviation <= _EQUAL:
        return 1.0 if abs(mean) <= _EQUAL else 0.0
    from scipy.special import stdtr

    return float(2 * stdtr(len(found) - 1, -abs(mean / deviation * math.sqrt(len(found)))))
