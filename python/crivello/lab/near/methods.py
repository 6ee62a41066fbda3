"""The methods that are compared, as options of the search for duplicates, and their thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DISTANCES = tuple(float(distance) for distance in range(13))
_SIMILARITIES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_EXACTLY = (1.0,)


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its ``family`` is what ``--method`` names; ``thresholds`` from the loosest on are distances of SimHash, or
    similarities. Where ``sketch_depends`` on the threshold, each is a search of its own; else one search finds the
    pairs of all."""

    family: str
    name: str
    unit: str
    size: int
    options: dict[str, Any] = field(default_factory=dict)
    thresholds: tuple[float, ...] = _SIMILARITIES
    sketch_depends: bool = False

    @property
    def loosest(self) -> float:
        """The threshold that finds the most."""
        return max(self.thresholds) if self.family == "simhash" else min(self.thresholds)

    def searched(self) -> tuple[float, ...]:
        """The thresholds that need a search."""
        return self.thresholds if self.sketch_depends else (self.loosest,)

    def found(self, similarities: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
        """Which pairs of these similarities are found with the threshold."""
        if self.family == "simhash":
            return np.asarray(np.rint((1 - similarities) * self.options["bits"]) <= threshold)
        # Similarities are stored in 32 bits.
        return np.asarray(similarities >= threshold - 1e-6)

    def encoded(self, threshold: float) -> dict[str, Any]:
        """The options of a search with the threshold."""
        options: dict[str, Any] = {
            "method": self.family,
            "unit": self.unit,
            "size": self.size,
            "measure": "jaccard",
            "linkage": "leader",
            "threshold": threshold,
            **self.options,
        }
        if self.family == "simhash":
            options |= {"distance": int(threshold), "threshold": 1.0, "verify": False}
        return options


def _all() -> Iterator[Method]:
    nothing = dict.fromkeys(("markup", "case", "digits", "dates", "space"), False)
    for name, normal in (("bytes", nothing), ("normal form", dict.fromkeys(nothing, True))):
        yield Method("exact", name, "word", 1, {"normal": normal, "sampled": False}, _EXACTLY)
    signals = (
        ("words", "word", 1),
        ("word pairs", "word", 2),
        ("word triples", "word", 3),
        ("4 characters", "character", 4),
    )
    for signal, unit, size in signals:
        for weights in ("set", "frequency", "tf-idf"):
            yield Method(
                "simhash", f"{signal}, {weights}", unit, size, {"bits": 64, "weights": weights}, _DISTANCES
            )
    for selection, options in (
        ("h mod 16", {"modulus": 16, "window": 1}),
        ("winnowing, 16", {"modulus": 1, "window": 16}),
    ):
        yield Method("fingerprint", f"word triples, {selection}", "word", 3, options)
    yield Method(
        "fingerprint",
        "word triples, h mod 16, by words",
        "word",
        3,
        {"modulus": 16, "window": 1, "confirm": "words"},
    )
    for signal, unit, size in (("words", "word", 1), ("word pairs", "word", 2), ("word triples", "word", 3)):
        yield Method(
            "minhash", f"{signal}, 128 bins", unit, size, {"bins": 128, "recall": 0.99}, sketch_depends=True
        )


METHODS: tuple[Method, ...] = tuple(_all())
