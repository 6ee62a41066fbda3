"""The assignment of hosts to a set of agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.assignment.column import Hosts, Parts, joined, parts_of
from crivello.errors import InvalidArgument
from crivello.filters.base import whole_numbers

Method: TypeAlias = Literal["consistent", "min-hash", "permutation", "modulo"]
By: TypeAlias = Literal["host", "domain"]

METHODS: dict[str, str] = dict(_core.choices()["assignment"])
"""The methods, the default first, each with a short description."""

REPLICAS = 300
"""The number of replicas of an agent of weight 1 on the circle of ``consistent``, by default."""


class Assignment:
    """Maps hosts to agents; immutable, and threads may share it.

    ``agents`` is a number n, for the ids 0 to n − 1, or the ids: any distinct numbers below 2^32, in any order.
    ``weights``, by id or in the order of ``agents``, are the capacities of unequal machines; ``permutation`` and
    ``modulo`` take equal ones only. ``replicas`` are those of an agent of weight 1 (``consistent`` only).
    ``universe`` bounds the ids of ``permutation``, now and later: sets of agents are contravariant within one
    universe; the default is 1,024, or the next power of two above the largest id.

    An agent is found in one cache line for ``consistent``, and in time proportional to the agents for
    ``min-hash``, to universe / agents for ``permutation``. Example: ``Assignment([3, 5, 8], weights={5: 2.0})``.
    """

    __slots__ = ("_native", "method", "replicas")

    method: str
    replicas: int
    _native: _core.Assignment

    def __init__(
        self,
        agents: int | Iterable[int],
        method: Method | str = "consistent",
        *,
        replicas: int = REPLICAS,
        weights: Mapping[int, float] | Sequence[float] | None = None,
        universe: int | None = None,
    ) -> None:
        ids = list(range(agents)) if isinstance(agents, int) else list(agents)
        self.method = str(method)
        self.replicas = replicas
        with whole_numbers("assignment"):
            self._native = _core.Assignment(self.method, ids, _weights(ids, weights), replicas, universe)

    @property
    def agents(self) -> list[int]:
        """The ids, ascending."""
        return self._native.members[0]

    @property
    def weights(self) -> dict[int, float]:
        """The weight of each agent."""
        ids, weights = self._native.members
        return dict(zip(ids, weights, strict=True))

    @property
    def memory(self) -> int:
        """The size of the structure in bytes."""
        return self._native.memory

    def agent(self, hosts: Hosts) -> NDArray[np.uint32]:
        """The agent of each host."""
        found = [np.asarray(self._native.agent(*part)) for part in parts_of(hosts)]
        return joined(found, np.uint32)

    def next_agent(self, hosts: Hosts, without: Iterable[int]) -> NDArray[np.uint32]:
        """The agent of each host when the agents ``without`` are gone: that of the smaller set.

        Raises ``InvalidArgument`` if no other agent is left.
        """
        gone = list(without)
        with whole_numbers("assignment"):
            found = [self._next(part, gone) for part in parts_of(hosts)]
        return joined(found, np.uint32)

    def _next(self, part: Parts, without: list[int]) -> NDArray[np.uint32]:
        hosts, *offsets = part
        found = self._native.next_agent(hosts, without, *offsets)
        if found is None:
            raise InvalidArgument("no agent is left: all are in `without`")
        return np.asarray(found)

    def __len__(self) -> int:
        return len(self.agents)

    def __repr__(self) -> str:
        return f"<Assignment: {len(self):,} agents, {self.method}>"


def hashes(hosts: Hosts) -> NDArray[np.uint64]:
    """The hashes of hosts, for several assignments of the same hosts."""
    return joined([np.asarray(_core.host_hashes(*part)) for part in parts_of(hosts)], np.uint64)


def keys(urls: list[str], by: By | str = "host") -> list[str]:
    """What is assigned of each canonical URL: its host without the port, or its registrable domain."""
    return _core.assignment_keys(urls, str(by))


def _weights(ids: list[int], weights: Mapping[int, float] | Sequence[float] | None) -> list[float]:
    if weights is None:
        return [1.0] * len(ids)
    if isinstance(weights, Mapping):
        strangers = sorted(set(weights) - set(ids))
        if strangers:
            raise InvalidArgument(
                f"there is a weight for agent {strangers[0]}, which is not one of the agents"
            )
        return [float(weights.get(number, 1.0)) for number in ids]
    if len(weights) != len(ids):
        raise InvalidArgument(f"there are {len(weights)} weights for {len(ids)} agents")
    return [float(weight) for weight in weights]
