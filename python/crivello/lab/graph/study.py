"""Every measure on every example, and the axioms of every measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crivello.errors import CrivelloError
from crivello.graph.compare import positions, rounded
from crivello.graph.measures import MEASURES, Measure
from crivello.lab.graph.axioms import Axioms, axioms_of, values_of
from crivello.lab.graph.examples import EXAMPLES, Example


@dataclass(frozen=True, slots=True)
class Row:
    """A measure on an example: value and rank of each role (ties share the mean), and the roles that are best.

    ``unknown`` says why there are none.
    """

    measure: str
    values: list[float]
    ranks: list[float]
    best: list[str]
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """An example, its roles with the number of nodes of each, and a row for each measure."""

    example: str
    about: str
    roles: list[tuple[str, int]]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tables of all examples, and the axioms by measure."""

    tables: list[Table]
    axioms: dict[str, Axioms]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def study(
    measures: Sequence[Measure] | None = None,
    *,
    examples: Sequence[Example] = EXAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Computes all measures, or some, on the examples, and their axioms."""
    chosen = list(MEASURES.values()) if measures is None else list(measures)
    tables = [_table(example, chosen) for example in examples]
    axioms = {}
    for done, measure in enumerate(chosen):
        if progress:
            progress(done, len(chosen))
        axioms[measure.name] = axioms_of(measure)
    return Outcome(tables, axioms)


def _table(example: Example, measures: Sequence[Measure]) -> Table:
    roles = list(dict.fromkeys(example.roles))
    counts = [(role, example.roles.count(role)) for role in roles]
    return Table(example.name, example.about, counts, [_row(example, roles, measure) for measure in measures])


def _row(example: Example, roles: Sequence[str], measure: Measure) -> Row:
    try:
        values = values_of(measure, example.graph())
    except CrivelloError as error:
        return Row(measure.name, [], [], [], str(error))
    ranks = positions(rounded(values))
    first = [example.roles.index(role) for role in roles]
    best = list(dict.fromkeys(example.roles[node] for node in np.flatnonzero(ranks == ranks.min())))
    return Row(
        measure.name, [float(values[node]) for node in first], [float(ranks[node]) for node in first], best
    )
