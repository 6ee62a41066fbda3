"""The axioms for centrality (Boldi and Vigna 2014), computed.

*Size* looks at a clique of k nodes beside a directed cycle of p nodes, not joined: as k grows with p fixed, a node
of the clique must become the more important one, and as p grows with k fixed, a node of the cycle. *Density* joins
a clique and a cycle of the same size by two opposite arcs: the end in the clique must be more important than the
end in the cycle. *Score monotonicity*: a new arc to a node increases its value. *Rank monotonicity* (Boldi, Luongo
and Vigna 2017): after it, the node still beats all that it beat or equalled before.

The first two are checked on growing members of the families, the others on random graphs, where a violation is a
proof and its absence is not. Graphs on which a measure is not defined are left out. Values are compared to nine
significant digits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello.errors import CrivelloError
from crivello.graph.graph import Graph
from crivello.graph.measures import Measure
from crivello.lab.graph.examples import Arc, both, clique, cycle

_FIXED = (3, 4, 5)
_GROWING = (32, 64, 128)
_EQUAL = (3, 4, 5, 8, 13)
_GRAPHS = 40
_ARCS_EACH = 3
_NODES = 8
_EXACT: dict[str, Any] = {"tolerance": 1e-12, "iterations": 20_000}
# Parameters that a measure would otherwise derive from the graph: a new arc is to change the graph alone.
_FIXED_OPTIONS: dict[str, Any] = {"attenuation": 0.1}
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an axiom holds on what was tried, how much that was, and a violation, if there is one."""

    holds: bool
    tried: int
    violation: str = ""


@dataclass(frozen=True, slots=True)
class Axioms:
    """The axioms of a measure; ``unknown`` says why, if it could not be computed."""

    size_of_clique: Verdict | None = None
    size_of_cycle: Verdict | None = None
    density: Verdict | None = None
    score_monotonicity: Verdict | None = None
    rank_monotonicity: Verdict | None = None
    unknown: str = field(default="")


def axioms_of(measure: Measure) -> Axioms:
    """Computes which axioms a measure satisfies."""
    try:
        return Axioms(
            size_of_clique=_size(measure, lambda fixed, grown: (grown, fixed), clique_wins=True),
            size_of_cycle=_size(measure, lambda fixed, grown: (fixed, grown), clique_wins=False),
            density=_density(measure),
            score_monotonicity=_monotonicity(measure, _score_violation),
            rank_monotonicity=_monotonicity(measure, _rank_violation),
        )
    except CrivelloError as error:
        return Axioms(unknown=str(error))


def values_of(measure: Measure, graph: Graph, **options: Any) -> NDArray[np.float64]:
    """The values of a measure, as exact as it can be told to be, with those of the options that it has."""
    parameters = measure.options()
    required = [
        name for name, parameter in parameters.items() if parameter.default is inspect.Parameter.empty
    ]
    if required:
        raise CrivelloError(f"it needs {', '.join(required)}")
    chosen = {name: value for name, value in (_EXACT | options).items() if name in parameters}
    values = np.array(measure(graph, **chosen))
    # What an iteration leaves of a zero is not an importance.
    values[np.abs(values) <= _SAME * np.abs(values).max(initial=0.0)] = 0.0
    return values


def _graph(nodes: int, arcs: Sequence[Arc]) -> Graph:
    return Graph.from_arcs([source for source, _ in arcs], [target for _, target in arcs], nodes=nodes)


def _more(one: float, other: float) -> bool:
    """Whether a value is larger than another by more than rounding."""
    return bool(one - other > _SAME * max(abs(one), abs(other), 1e-300))


@cache
def _apart(of_clique: int, of_cycle: int) -> Graph:
    arcs = [*clique(range(of_clique)), *cycle(range(of_clique, of_clique + of_cycle))]
    return _graph(of_clique + of_cycle, arcs)


@cache
def _joined(size: int) -> Graph:
    arcs = [*clique(range(size)), *cycle(range(size, 2 * size)), *both([(0, size)])]
    return _graph(2 * size, arcs)


def _size(measure: Measure, sizes: Callable[[int, int], tuple[int, int]], *, clique_wins: bool) -> Verdict:
    tried = 0
    for fixed in _FIXED:
        for grown in _GROWING[-2:]:
            of_clique, of_cycle = sizes(fixed, grown)
            values = values_of(measure, _apart(of_clique, of_cycle))
            tried += 1
            in_clique, in_cycle = float(values[0]), float(values[-1])
            if not (_more(in_clique, in_cycle) if clique_wins else _more(in_cycle, in_clique)):
                told = f"clique of {of_clique}: {in_clique:.4g}, cycle of {of_cycle}: {in_cycle:.4g}"
                return Verdict(False, tried, told)
    return Verdict(True, tried)


def _density(measure: Measure) -> Verdict:
    for tried, size in enumerate(_EQUAL, 1):
        values = values_of(measure, _joined(size))
        in_clique, in_cycle = float(values[0]), float(values[size])
        if not _more(in_clique, in_cycle):
            told = f"clique and cycle of {size}: {in_clique:.4g} and {in_cycle:.4g}"
            return Verdict(False, tried, told)
    return Verdict(True, len(_EQUAL))


@cache
def _samples() -> tuple[tuple[Graph, Graph, Arc, tuple[Arc, ...]], ...]:
    """Random graphs, each with the same graph and one more arc, that arc, and its own arcs."""
    return tuple(_sampled())


def _sampled() -> Iterator[tuple[Graph, Graph, Arc, tuple[Arc, ...]]]:
    random = np.random.default_rng(2014)
    for number in range(_GRAPHS):
        density = (0.08, 0.15, 0.3, 0.6)[number % 4]
        linked = random.random((_NODES, _NODES)) < density
        np.fill_diagonal(linked, False)
        arcs = tuple((int(source), int(target)) for source, target in np.argwhere(linked))
        missing = [(int(s), int(t)) for s, t in np.argwhere(~linked) if s != t]
        if not arcs or not missing:
            continue
        before = _graph(_NODES, arcs)
        for place in random.choice(len(missing), min(_ARCS_EACH, len(missing)), replace=False):
            yield before, _graph(_NODES, [*arcs, missing[place]]), missing[place], arcs


def _monotonicity(
    measure: Measure, violation: Callable[[NDArray[np.float64], NDArray[np.float64], int], str]
) -> Verdict:
    tried = 0
    for before, after, (source, target), arcs in _samples():
        try:
            old, new = (values_of(measure, graph, **_FIXED_OPTIONS) for graph in (before, after))
        except CrivelloError:
            continue
        tried += 1
        if found := violation(old, new, target):
            listed = " ".join(f"{one}→{other}" for one, other in arcs)
            return Verdict(False, tried, f"{found} after {source}→{target} is added to {listed}")
    return Verdict(True, tried)


def _score_violation(before: NDArray[np.float64], after: NDArray[np.float64], target: int) -> str:
    if _more(float(after[target]), float(before[target])):
        return ""
    return f"node {target} goes from {before[target]:.4g} to {after[target]:.4g}"


def _rank_violation(before: NDArray[np.float64], after: NDArray[np.float64], target: int) -> str:
    for node in range(len(before)):
        if node == target or _more(float(before[node]), float(before[target])):
            continue
        if not _more(float(after[target]), float(after[node])):
            return f"node {target} does not beat node {node}"
    return ""
