"""Discrete events: the crawls of some agents, simulated natively page by page."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.lab.cluster.costs import Costs
from crivello.lab.cluster.scenario import Scenario
from crivello.lab.cluster.web import Web

_FOREVER = 1e9
_BINS = 4000


@dataclass(frozen=True, slots=True)
class Events:
    """What became of simulated agents: arrays by agent; ``bins`` are the pages of all of them, by time; ``hosts`` (their
    numbers), ``fetched``, ``marks`` and ``reached`` are arrays by host."""

    bin: float
    bins: NDArray[np.float64]
    pages: NDArray[np.uint64]
    busy: NDArray[np.float64]
    end: NDArray[np.float64]
    sent: NDArray[np.uint64]
    messages: NDArray[np.uint64]
    hosts: NDArray[np.int64]
    fetched: NDArray[np.uint32]
    marks: NDArray[np.uint32]
    reached: NDArray[np.float64]

    def time_of(self, share: float) -> float:
        """When a share of all pages is processed."""
        if share >= 1:
            return float(self.end.max())
        done = np.cumsum(self.bins)
        return float((np.searchsorted(done, share * done[-1]) + 1) * self.bin)


class Crawlers:
    """The agents of a scenario, each with its hosts."""

    def __init__(self, scenario: Scenario, costs: Costs, web: Web, pages: NDArray[np.float64]) -> None:
        self._scenario = scenario
        self._process = costs.process(scenario)
        self._web = web
        self._pages = np.ascontiguousarray(pages, np.float64)
        self._order = np.argsort(web.agents, kind="stable")
        self._bounds = np.searchsorted(web.agents[self._order], np.arange(scenario.agents + 1))
        self._rests = scenario.address_delay * np.maximum(web.sharers, 1).astype(np.float64)

    def run(
        self,
        ranks: NDArray[np.uint32],
        *,
        until: float = _FOREVER,
        slots: int | None = None,
        links: float | None = None,
        starts: NDArray[np.float64] | None = None,
        marks: NDArray[np.uint32] | None = None,
        width: float = 0.0,
    ) -> Events:
        """Simulates the agents ``ranks``; ``starts`` and ``marks`` are of all hosts, ``width`` is that of a bin of time
        (0: about 4,000 of them)."""
        scenario, web = self._scenario, self._web
        hosts = [self._order[self._bounds[rank] : self._bounds[rank + 1]] for rank in ranks.tolist()]
        numbers = np.concatenate([np.empty(0, np.int64), *hosts])
        offsets = np.cumsum([0, *map(len, hosts)], dtype=np.uint64)
        # The slowest host, or the slots and the processor, end a crawl.
        slowest = float(web.sizes.max()) * (scenario.fetch + scenario.delay)
        busiest = float(self._pages.max()) * max(scenario.fetch / scenario.slots, self._process)
        width = width or max(1e-3, min(until, max(slowest, busiest)) / _BINS)
        machine = {
            "slots": scenario.slots if slots is None else slots,
            "fetch": scenario.fetch,
            "process": self._process,
            "delay": scenario.delay,
            "links": scenario.links if links is None else links,
            "batch": scenario.batch,
            "flush": scenario.flush,
            "until": until,
            "bin": width,
        }
        marked = np.empty(0, np.uint32) if marks is None else marks[numbers]
        found = _core.simulate_agents(
            msgspec.json.encode(machine),
            offsets,
            web.sizes[numbers],
            web.addresses[numbers],
            np.zeros(len(numbers)) if starts is None else starts[numbers],
            marked,
            self._rests,
            ranks,
            self._pages,
            scenario.seed,
        )
        arrays = {name: np.asarray(array) for name, array in found.items()}
        return Events(
            bin=width,
            bins=arrays["bins"].astype(np.float64),
            pages=arrays["pages"],
            busy=arrays["busy"],
            end=arrays["end"],
            sent=arrays["sent"],
            messages=arrays["messages"],
            hosts=numbers,
            fetched=arrays["fetched"],
            marks=marked,
            reached=arrays["reached"],
        )

    def polite_rate(self, ranks: NDArray[np.uint32]) -> float:
        """The pages per second that politeness allows an agent while all its hosts have pages, on average."""
        scenario, rates = self._scenario, []
        for rank in ranks.tolist():
            hosts = self._order[self._bounds[rank] : self._bounds[rank + 1]]
            places, counts = np.unique(self._web.addresses[hosts], return_counts=True)
            by_address = 1 / (scenario.fetch + self._rests[places])
            rates.append(np.minimum(by_address, counts / (scenario.fetch + scenario.delay)).sum())
        return float(np.mean(rates))
