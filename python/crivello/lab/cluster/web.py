"""The hosts of a model: their sizes, their addresses, and their agents by the real assignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crivello.assignment import Assignment
from crivello.lab.cluster.scenario import Scenario

_NAMES_AT_ONCE = 1 << 20
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Web:
    """Hosts by number: pages, address, agent. ``sharers`` is the number of agents with hosts at each address."""

    sizes: NDArray[np.uint32]
    addresses: NDArray[np.uint32]
    agents: NDArray[np.uint32]
    sharers: NDArray[np.uint32]


def zipf_sizes(count: int, total: int, exponent: float, most: int) -> NDArray[np.uint32]:
    """Sizes from 1 to ``most`` that follow Zipf's law, the r-th proportional to r^−exponent, and sum to ``total``."""
    shape = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    negative = -shape
    sums = np.concatenate([[0.0], np.cumsum(shape)])

    def clipped(scale: float) -> float:
        """The sum of all sizes; shapes descend, so those at a bound are the first and the last ones."""
        first, last = np.searchsorted(negative, [-most / scale, -1 / scale])
        return float(most * first + scale * (sums[last] - sums[first]) + (count - last))

    low, high = 0.0, float(most) * count**exponent
    for _ in range(100):
        middle = (low + high) / 2
        if clipped(middle) < total:
            low = middle
        else:
            high = middle
    exact = np.clip(high * shape, 1, most)
    sizes = np.floor(exact + 1e-9)
    # What rounding down leaves over goes to the largest fractions.
    short = total - int(sizes.sum())
    if short > 0:
        fractions = np.where(sizes < most, exact - sizes, -1.0)
        sizes[np.argpartition(fractions, count - short)[count - short :]] += 1
    found: NDArray[np.uint32] = sizes.astype(np.uint32)
    return found


def names(numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The names of hosts, as a column of bytes and offsets."""
    prefix, suffix = b"www.site-", b".example"
    width = len(prefix) + _DIGITS + len(suffix)
    made = np.empty((len(numbers), width), np.uint8)
    made[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    made[:, width - len(suffix) :] = np.frombuffer(suffix, np.uint8)
    for digit in range(_DIGITS):
        made[:, len(prefix) + _DIGITS - 1 - digit] = ord("0") + numbers // 10**digit % 10
    return made.reshape(-1), np.arange(0, made.size + 1, width, dtype=np.int64)


def assigned(count: int, assignment: Assignment) -> NDArray[np.uint32]:
    """The agent of each host."""
    starts = range(0, count, _NAMES_AT_ONCE)
    numbers = (np.arange(start, min(count, start + _NAMES_AT_ONCE), dtype=np.int64) for start in starts)
    return np.concatenate([assignment.agent(names(some)) for some in numbers])


def make_web(scenario: Scenario, assignment: Assignment) -> Web:
    """Generates the hosts and assigns them."""
    random = np.random.default_rng(scenario.seed)
    count = scenario.host_count
    sizes = zipf_sizes(count, scenario.pages, scenario.zipf, scenario.most_per_host)
    places = max(1, round(count / scenario.hosts_per_address))
    tenants = zipf_sizes(places, count, 1.0, scenario.most_per_address)
    addresses = np.repeat(np.arange(places, dtype=np.uint32), tenants)
    random.shuffle(addresses)
    agents = assigned(count, assignment)
    return Web(sizes, addresses, agents, sharers_of(addresses, agents, places))


def sharers_of(addresses: NDArray[np.uint32], agents: NDArray[np.uint32], places: int) -> NDArray[np.uint32]:
    """For each address the number of agents that have hosts there."""
    pairs = np.unique(addresses.astype(np.uint64) << np.uint64(32) | agents)
    counts: NDArray[np.uint32] = np.bincount(
        (pairs >> np.uint64(32)).astype(np.int64), minlength=places
    ).astype(np.uint32)
    return counts
