"""The confusion matrix of a judge of duplicates.

A *positive* is an element that was judged a duplicate; it is a true one if the element came earlier in the stream.
"""

from __future__ import annotations

from dataclasses import dataclass


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """The four counts and the rates derived from them; the ratio 0/0 is None."""

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def distinct(self) -> int:
        """The number of elements that had not occurred before."""
        return self.false_positives + self.true_negatives

    @property
    def precision(self) -> float | None:
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        twice = 2 * self.true_positives
        return _share(twice, twice + self.false_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float | None:
        return _share(self.false_positives, self.distinct)

    @property
    def false_negative_rate(self) -> float | None:
        return _share(self.false_negatives, self.true_positives + self.false_negatives)

    def to_dict(self) -> dict[str, float | None]:
        """The dictionary printed by ``--json``."""
        return {
            "tp": self.true_positives,
            "fp": self.false_positives,
            "fn": self.false_negatives,
            "tn": self.true_negatives,
            "distinct": self.distinct,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "fpr": self.false_positive_rate,
            "fnr": self.false_negative_rate,
        }
