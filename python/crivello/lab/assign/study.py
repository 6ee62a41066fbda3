"""Measures every method of assignment over the number of agents.

Balance is the relative standard deviation of the agents' shares of the hosts, √(Σ (k_a n / k − 1)² / n), for k
hosts and n agents. It is expected to be √((n − 1) / k), as hosts fall at random, and for consistent hashing with C
replicas √((n − 1) / k + (n − 1) / (nC + 1)). Times are those of batches, hashing apart.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello.assignment import METHODS, REPLICAS, Assignment, hashes
from crivello.errors import InvalidArgument

Made = TypeVar("Made")

_ROUNDS = 3
# The steps (hosts times those of a look-up) that a measurement of time may take, all rounds together.
_MOST_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """A method with a number of agents.

    ``largest`` is the largest share beside the mean. ``added`` and ``lost`` are the shares of hosts that move when an
    agent is added and when one is lost, ``astray`` those that move to another agent than the new one, or from another
    than the lost one, on average of the two.
    """

    method: str
    agents: int
    deviation: float
    expected_deviation: float
    largest: float
    added: float
    expected_added: float
    lost: float
    expected_lost: float
    astray: float
    nanoseconds: float
    build_seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class Study:
    """The rows by number of agents, then by method; ``hash_nanoseconds`` is what hashing a host takes."""

    hosts: int
    replicas: int
    hash_nanoseconds: float
    rows: list[Row]

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def study(
    hosts: list[str],
    *,
    agents: Sequence[int] = (1, 10, 100, 1000, 10_000),
    methods: Sequence[str] = tuple(METHODS),
    replicas: int = REPLICAS,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Assigns the distinct ``hosts`` by every method to every number of agents."""
    if not hosts or not agents or min(agents) < 1:
        raise InvalidArgument("a study takes at least one host, and numbers of agents from 1")
    keys, hashing = _best(lambda: hashes(hosts))
    rows = []
    wanted = [(count, method) for count in agents for method in methods]
    for done, (count, method) in enumerate(wanted, 1):
        rows.append(_row(method, count, replicas, keys))
        if progress is not None:
            progress(done, len(wanted))
    return Study(len(hosts), replicas, 1e9 * hashing / len(hosts), rows)


def _row(method: str, count: int, replicas: int, keys: NDArray[np.uint64]) -> Row:
    # Room for one more agent in one universe, without which permutations are not contravariant.
    universe = max(1024, 1 << count.bit_length())
    started = time.perf_counter()
    assignment = Assignment(count, method, replicas=replicas, universe=universe)
    build = time.perf_counter() - started
    sample = keys[: max(1000, _MOST_STEPS // (_ROUNDS * _steps(method, count, universe)))]
    _, seconds = _best(lambda: assignment.agent(sample))
    found = assignment.agent(keys)
    shares = np.bincount(found, minlength=count) * (count / len(keys))
    more = Assignment(count + 1, method, replicas=replicas, universe=universe).agent(keys)
    moved = found != more
    astray = float((moved & (more != count)).mean())
    lost = 0.0
    if count > 1:
        gone = count // 2
        left = assignment.next_agent(keys, without=[gone])
        lost = float((found != left).mean())
        astray = (astray + float(((found != left) & (found != gone)).mean())) / 2
    modulo = method == "modulo"
    return Row(
        method=method,
        agents=count,
        deviation=float(shares.std()),
        expected_deviation=expected_deviation(method, count, replicas, len(keys)),
        largest=float(shares.max()),
        added=float(moved.mean()),
        expected_added=count / (count + 1) if modulo else 1 / (count + 1),
        lost=lost,
        expected_lost=0.0 if count == 1 else (count - 1) / count if modulo else 1 / count,
        astray=astray,
        nanoseconds=1e9 * seconds / len(sample),
        build_seconds=build,
        memory=assignment.memory,
    )


def expected_deviation(method: str, agents: int, replicas: int, hosts: int) -> float:
    """The relative standard deviation of an agent's share of the hosts."""
    variance = (agents - 1) / hosts
    if method == "consistent":
        variance += (agents - 1) / (agents * replicas + 1)
    return math.sqrt(variance)


def _steps(method: str, agents: int, universe: int) -> int:
    return {"min-hash": agents, "permutation": universe // agents + 1}.get(method, 1)


def _best(work: Callable[[], Made]) -> tuple[Made, float]:
    runs = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        found = work()
        runs.append(time.perf_counter() - started)
    return found, min(runs)
