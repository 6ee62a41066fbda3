"""What a model is asked: the cluster, the web, politeness, the exchange and the loss."""

from __future__ import annotations

from dataclasses import dataclass

from crivello.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster and its web. Times are in seconds; ``docs/cluster-model.md`` describes every field.

    ``hosts`` is 0 for a hundredth of the pages. ``address_rest`` is ``None`` for a quarter of ``delay``.
    """

    agents: int = 10_000
    pages: int = 1_000_000_000
    method: str = "consistent"
    replicas: int = 300
    hosts: int = 0
    zipf: float = 1.0
    most_per_host: int = 10_000
    hosts_per_address: float = 4.0
    most_per_address: int = 1000
    slots: int = 64
    fetch: float = 0.5
    delay: float = 4.0
    address_rest: float | None = None
    links: float = 10.0
    seen: float = 20.0
    batch: int = 1000
    flush: float = 10.0
    lost: float = 0.01
    detect: float = 10.0
    page_bytes: int = 20_000
    bandwidth: float = 125e6
    sample: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        rules = (
            (1 <= self.agents <= 65_534, "agents are 1 to 65,534"),
            (self.pages >= self.agents, "there is at least one page for each agent"),
            (self.host_count <= self.pages, "there is at least one page for each host"),
            (self.host_count * self.most_per_host >= self.pages, "the hosts have room for the pages"),
            (0 <= self.zipf <= 3, "the exponent of Zipf's law is 0 to 3"),
            (1 <= self.hosts_per_address <= self.most_per_address, "an address has at least one host"),
            (self.fetch > 0 and self.delay >= 0, "a request takes some time, and a rest is not negative"),
            (
                self.slots >= 1 and self.batch >= 1 and self.sample >= 1,
                "slots, batch and sample are at least 1",
            ),
            (0 <= self.lost < 1, "the share of lost agents is 0 to 1"),
            (
                min(self.links, self.seen, self.flush, self.detect) >= 0,
                "links, seen, flush and detect are not negative",
            ),
            (self.bandwidth > 0 and self.page_bytes >= 0, "there is some bandwidth"),
        )
        for right, rule in rules:
            if not right:
                raise InvalidArgument(f"the model cannot run: {rule}")

    @property
    def host_count(self) -> int:
        return self.hosts or max(1, self.pages // 100)

    @property
    def address_delay(self) -> float:
        return self.delay / 4 if self.address_rest is None else self.address_rest

    @property
    def lost_agents(self) -> int:
        """Those lost; at least one is left, and at least one is lost of any share above 0."""
        return min(self.agents - 1, max(1, round(self.agents * self.lost))) if self.lost else 0
