"""A crawl divided among agents: who they are, and the exchange of one with the others.

An agent is a `Crawler` with a `Membership`. Whoever runs several of them carries batches from each to the others::

    if (outgoing := sender.outgoing(peer, limit)) is not None:
        start, end, batch = outgoing
        accepted, committed = receiver.receive(agent, epoch, start, batch)
        if accepted != end:
            sender.rewind(peer, accepted)
        sender.acknowledge(peer, committed)

and extends the permission of each to make requests. See docs/exchange.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Membership:
    """The agents of a crawl as one of them is started with.

    ``members`` has the weight of each agent that URLs are assigned to; ``leaving`` are agents that are no members any
    more and hand over what they have. ``epoch`` is the number of this set, and grows with each change. ``reset`` is
    the last epoch that began because an agent was lost, or because one that was lost was back; ``lost`` has the last epoch that
    began without each agent that was ever lost, or with another disk of it. ``rest`` is the longest rest of a
    host at any other agent, in seconds (``longest_rest`` in their reports): after a change, addresses come from there.

    Members may change only when all agents that are left have stopped fetching (`Crawler.drain`) and have committed
    everything that was written for them.
    """

    agent: int
    epoch: int
    members: Mapping[int, float]
    method: str = "consistent"
    replicas: int = 300
    by: Literal["host", "domain"] = "host"
    leaving: Sequence[int] = ()
    reset: int = 0
    lost: Mapping[int, int] = field(default_factory=dict)
    rest: float = 0.0

    def begins_anew(self, state: dict[str, Any] | None) -> bool:
        """Whether a sieve emits everything again: at the first start after a reset, or if names may have come back."""
        if state is None or state["epoch"] >= self.epoch:
            return False
        return self.has_lost(state) or bool(state.get("passed"))

    def has_lost(self, state: dict[str, Any] | None) -> bool:
        """Whether another agent was lost, or is back, since this one was last there."""
        return state is not None and state["epoch"] < self.reset

    def plan(self, state: dict[str, Any] | None) -> dict[str, Any]:
        """The section ``exchange`` of a plan, with the state that was committed last."""
        return {
            "agent": self.agent,
            "epoch": self.epoch,
            "members": [{"id": agent, "weight": weight} for agent, weight in self.members.items()],
            "leaving": list(self.leaving),
            "reset": self.reset,
            "lost": {str(agent): epoch for agent, epoch in self.lost.items()},
            "method": self.method,
            "replicas": self.replicas,
            "by": self.by,
            "rest": self.rest,
            "state": state,
        }
