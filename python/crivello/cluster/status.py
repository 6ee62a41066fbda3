"""Private: how the crawl of a cluster stands, agent by agent, as of their last checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crivello._figures import Figures
from crivello.cluster.counters import summed
from crivello.crawl import status as crawl_status
from crivello.crawl.report import Report
from crivello.crawl.status import LATELY, State, Status

if TYPE_CHECKING:
    from crivello.cluster.view import ClusterCollection


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """How an agent stands: its part of the pages, what it exchanged with others, and what waits to be exchanged.

    ``lag`` are the bytes of URLs that were found here and that their owners have not committed yet; ``share`` is the
    share of the hosts that the assignment gives it, 0 for one that is not a member.
    """

    number: int
    machine: str
    share: float
    status: Status | None

    @property
    def pages(self) -> int:
        """The number of pages that it fetched."""
        return self.status.report.pages if self.status else 0

    @property
    def waiting(self) -> int:
        """The number of URLs that wait here."""
        return self.status.report.waiting if self.status else 0

    @property
    def rate(self) -> float:
        """Pages per second of late."""
        return self.status.timeline.rate_of_late("pages", LATELY) if self.status else 0.0

    @property
    def state(self) -> str:
        """What it does."""
        return self.status.state if self.status else "not begun"

    def exchanged(self, what: str) -> int:
        """A counter of the exchange, over all peers."""
        told = (self.status.report.exchange if self.status else None) or {}
        return sum(peer[what] for peer in told.get("peers", {}).values())

    @property
    def lag(self) -> int:
        """The bytes that others have not committed yet."""
        return self.exchanged("written") - self.exchanged("acknowledged")

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello status --json``."""
        return {
            "agent": self.number,
            "machine": self.machine,
            "state": self.state,
            "share": round(self.share, 4),
            "pages": self.pages,
            "waiting": self.waiting,
            "pages_per_second": round(self.rate, 3),
            "urls_sent": self.exchanged("urls_sent"),
            "urls_received": self.exchanged("urls_received"),
            "lag": self.lag,
        }


@dataclass(frozen=True, slots=True, repr=False)
class ClusterStatus(Figures):
    """The status of a cluster's crawl."""

    folder: Path
    epoch: int
    members: tuple[int, ...]
    leaving: tuple[int, ...]
    lost: tuple[int, ...]
    agents: list[AgentStatus]
    report: Report
    hosts: int

    @property
    def state(self) -> State:
        """What the agents do, taken together."""
        states = {agent.status.state for agent in self.agents if agent.status}
        order: tuple[State, ...] = ("crawling", "in use", "stopped", "ended")
        return next((state for state in order if state in states), "stopped")

    @property
    def is_going_on(self) -> bool:
        """Whether any agent is crawling."""
        return self.state == "crawling"

    def _headline(self) -> str:
        return (
            f"{self.state}, {self.report.pages:,} pages of {self.hosts:,} hosts by {len(self.agents)} agents, "
            f"{self.report.waiting:,} URLs waiting"
        )

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "epoch", f"{self.epoch:,}"
        yield from self.report._figures()

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello status --json``."""
        return {
            "collection": str(self.folder),
            "state": self.state,
            "epoch": self.epoch,
            "members": list(self.members),
            "leaving": list(self.leaving),
            "lost": list(self.lost),
            "hosts": self.hosts,
            **self.report.to_dict(),
            "errors": self.report.errors,
            "pages_per_second": round(sum(agent.rate for agent in self.agents), 3),
            "agents": [agent.to_dict() for agent in self.agents],
        }


def read_status(collection: ClusterCollection) -> ClusterStatus | None:
    """The status of a cluster's crawl; ``None`` if no agent has begun."""
    roster, here = collection.roster, collection.local_agents
    shares = roster.shares
    found = [
        AgentStatus(
            agent.id,
            agent.machine,
            shares.get(agent.id, 0.0),
            crawl_status.read_status(here[agent.id], busiest=0) if agent.id in here else None,
        )
        for agent in roster.agents
    ]
    statuses = [agent.status for agent in found if agent.status]
    if not statuses:
        return None
    return ClusterStatus(
        collection.folder,
        roster.epoch,
        roster.members,
        roster.leaving,
        tuple(sorted(roster.lost)),
        found,
        Report(summed([status.report.to_dict() for status in statuses])),
        sum(status.hosts for status in statuses),
    )
