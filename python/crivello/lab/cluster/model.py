"""Runs the model: loads by the real assignment for every agent, discrete events for a sample of the agents.

The sample is stratified: the agents are ordered by their pages, and taken at even distances, so that sums over the
sample times agents / sample are unbiased. Agents touch each other only where the model says so: by the URLs that
they exchange, by the addresses that they share, and when some are lost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello.assignment import Assignment
from crivello.lab.cluster.costs import Costs, measured_costs
from crivello.lab.cluster.events import Crawlers, Events
from crivello.lab.cluster.scenario import Scenario
from crivello.lab.cluster.web import Web, make_web, names, sharers_of
from crivello.settings import Crawl

_SWEEP = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_SWEEP_AGENTS = 24
_NEARLY = 0.95
_CURVE = 400
"""The points of a rate over time that are kept."""


@dataclass(frozen=True, slots=True)
class Load:
    """How even the assignment is: relative standard deviations over all agents, and the largest share of pages."""

    hosts_deviation: float
    expected_hosts_deviation: float
    pages_deviation: float
    expected_pages_deviation: float
    largest: float


@dataclass(frozen=True, slots=True)
class Speed:
    """Pages per second of the whole cluster until 90 % are fetched, the seconds until a share of them is, and the
    share of the slots that is in use until then. ``curve`` is (seconds, pages per second)."""

    pages_per_second: float
    seconds: dict[str, float]
    slot_use: float
    curve: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Exchange:
    """URLs handed to other agents; rates are of one agent, until 90 % of the pages are fetched."""

    urls_per_page: float
    urls_per_message: float
    bytes_per_page: float
    bytes_per_second: float
    messages_per_second: float


@dataclass(frozen=True, slots=True)
class State:
    """What an agent keeps, in bytes: on average, and the agent with the most."""

    memory: float
    most_memory: float
    disk: float
    most_disk: float


@dataclass(frozen=True, slots=True)
class Loss:
    """Agents that are lost with their disks, when half of the pages are fetched.

    ``takeover_seconds`` until the next agents fetch from the lost hosts; ``redone_seconds`` until a share of the lost
    pages is fetched again. ``extra`` is the largest share of pages, beside its own, that an agent inherits.
    """

    agents: int
    at: float
    hosts_moved: int
    pages_lost: float
    takeover_seconds: float
    redone_seconds: dict[str, float]
    pages_deviation: float
    extra: float
    curve: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Saturation:
    """Pages per second of an agent over its slots; from ``slots`` on more of them do not help by more than 5 %.
    ``bound`` is the rate that politeness allows at first, and ``bound_slots`` the slots that it fills."""

    rates: list[tuple[int, float]]
    slots: int
    bound: float
    bound_slots: float


@dataclass(frozen=True, slots=True)
class Model:
    """What became of a scenario."""

    scenario: Scenario
    costs: Costs
    hosts: int
    addresses: int
    shared_addresses: float
    simulated: int
    events: int
    seconds: float
    load: Load
    speed: Speed
    exchange: Exchange
    state: State
    loss: Loss | None
    saturation: Saturation

    def to_dict(self) -> dict[str, Any]:
        """The output of ``--json``."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def model(
    scenario: Scenario, costs: Costs | None = None, *, progress: Callable[[int, int], None] | None = None
) -> Model:
    """Runs a scenario; without ``costs``, with those measured on this machine."""
    started = time.perf_counter()
    step = _steps(progress, 6)
    costs = costs or measured_costs(scenario)
    step()
    assignment = Assignment(scenario.agents, scenario.method, replicas=scenario.replicas)
    web = make_web(scenario, assignment)
    pages = _sums(web.agents, web.sizes, scenario.agents)
    step()
    crawlers = Crawlers(scenario, costs, web, pages)
    ranks = _stratified(pages, scenario.sample)
    base = crawlers.run(ranks)
    step()
    speed = _speed(scenario, base, len(ranks))
    exchange = _exchange(costs, speed, base, len(ranks))
    step()
    loss, lost_events = None, 0
    if scenario.lost_agents:
        loss, lost_events = _loss(
            scenario, costs, web, assignment, crawlers, pages, ranks, speed.seconds["50 %"], base.bin
        )
    step()
    saturation, swept = _saturation(scenario, costs, crawlers, ranks, speed.seconds["50 %"])
    step()
    return Model(
        scenario=scenario,
        costs=costs,
        hosts=len(web.sizes),
        addresses=len(web.sharers),
        shared_addresses=float((web.sharers > 1).mean()),
        simulated=len(ranks),
        events=int(base.pages.sum()) + lost_events + swept,
        seconds=time.perf_counter() - started,
        load=_load(scenario, web, pages),
        speed=speed,
        exchange=exchange,
        state=_state(scenario, costs, web, assignment, pages),
        loss=loss,
        saturation=saturation,
    )


def _steps(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return step


def _sums(agents: NDArray[np.uint32], sizes: NDArray[np.uint32], count: int) -> NDArray[np.float64]:
    """The pages of each agent."""
    return np.bincount(agents, sizes, count).astype(np.float64)


def _stratified(pages: NDArray[np.float64], sample: int) -> NDArray[np.uint32]:
    order = np.argsort(pages, kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, min(sample, len(order))).round().astype(np.int64))
    return order[places].astype(np.uint32)


def _load(scenario: Scenario, web: Web, pages: NDArray[np.float64]) -> Load:
    n, sizes = scenario.agents, web.sizes.astype(np.float64)
    hosts = np.bincount(web.agents, minlength=n)
    ring = (n - 1) / (n * scenario.replicas + 1) if scenario.method == "consistent" else 0.0
    return Load(
        hosts_deviation=float(hosts.std() / hosts.mean()),
        expected_hosts_deviation=math.sqrt((n - 1) / len(sizes) + ring),
        pages_deviation=float(pages.std() / pages.mean()),
        expected_pages_deviation=math.sqrt(
            (n - 1) * float((sizes**2).sum()) / float(sizes.sum()) ** 2 + ring
        ),
        largest=float(pages.max() / pages.mean()),
    )


def _speed(scenario: Scenario, base: Events, sampled: int) -> Speed:
    rates = base.bins / base.bin * (scenario.agents / sampled)
    seconds = {f"{share} %": base.time_of(share / 100) for share in (50, 90, 99, 100)}
    busy = 0.9 * base.busy.sum() / (seconds["90 %"] * sampled * scenario.slots)
    return Speed(
        pages_per_second=0.9 * scenario.pages / seconds["90 %"],
        seconds=seconds,
        slot_use=float(busy),
        curve=_curve(rates, base.bin),
    )


def _curve(rates: NDArray[np.float64], width: float) -> list[tuple[float, float]]:
    step = max(1, math.ceil(len(rates) / _CURVE))
    starts = range(0, len(rates), step)
    return [(start * width, float(rates[start : start + step].mean())) for start in starts]


def _exchange(costs: Costs, speed: Speed, base: Events, sampled: int) -> Exchange:
    sent, messages, pages = (float(array.sum()) for array in (base.sent, base.messages, base.pages))
    size = sent * costs.url_bytes + messages * costs.message_bytes
    # Those of 90 % of the pages, in the time that these take.
    active = speed.seconds["90 %"] * sampled / 0.9
    return Exchange(
        urls_per_page=sent / pages,
        urls_per_message=sent / max(1.0, messages),
        bytes_per_page=size / pages,
        bytes_per_second=size / active,
        messages_per_second=messages / active,
    )


def _state(
    scenario: Scenario, costs: Costs, web: Web, assignment: Assignment, pages: NDArray[np.float64]
) -> State:
    hosts = np.bincount(web.agents, minlength=scenario.agents)
    bench = np.minimum(hosts, Crawl().workbench_hosts)
    memory = costs.fixed_bytes + assignment.memory + costs.host_bytes * hosts + costs.bench_bytes * bench
    of_page = (
        scenario.page_bytes + costs.row_bytes + costs.waiting_bytes + scenario.seen * costs.signature_bytes
    )
    return State(
        memory=float(memory.mean()),
        most_memory=float(memory.max()),
        disk=float(pages.mean() * of_page),
        most_disk=float(pages.max() * of_page),
    )


def _loss(
    scenario: Scenario,
    costs: Costs,
    web: Web,
    assignment: Assignment,
    crawlers: Crawlers,
    pages: NDArray[np.float64],
    ranks: NDArray[np.uint32],
    at: float,
    width: float,
) -> tuple[Loss, int]:
    """Loses agents, moves their hosts to the next agents, and simulates both."""
    random = np.random.default_rng(scenario.seed + 1)
    dead = np.sort(random.choice(scenario.agents, scenario.lost_agents, replace=False)).astype(np.uint32)
    before = crawlers.run(dead, until=at, width=width)
    moved = before.hosts
    heirs = assignment.next_agent(names(moved.astype(np.int64)), without=dead.tolist())
    agents = web.agents.copy()
    agents[moved] = heirs
    inherited = _sums(heirs, web.sizes[moved], scenario.agents)
    takeover = scenario.detect + float(inherited.max()) * costs.url_bytes / scenario.bandwidth
    starts, marks = np.zeros(len(web.sizes)), np.zeros(len(web.sizes), np.uint32)
    starts[moved] = at + takeover
    marks[moved] = before.fetched
    after_web = replace(web, agents=agents, sharers=sharers_of(web.addresses, agents, len(web.sharers)))
    load = _sums(agents, web.sizes, scenario.agents)
    living = ranks[~np.isin(ranks, dead)]
    after = Crawlers(scenario, costs, after_web, load).run(living, starts=starts, marks=marks, width=width)
    redone = (after.marks > 0) & (after.reached > 0)
    left = np.delete(load, dead)
    rates = after.bins / after.bin * ((scenario.agents - len(dead)) / len(living))
    lost_rates = before.bins / before.bin
    rates[: len(lost_rates)] += lost_rates[: len(rates)]
    return Loss(
        agents=len(dead),
        at=at,
        hosts_moved=len(moved),
        pages_lost=float(before.fetched.sum()),
        takeover_seconds=takeover,
        redone_seconds=_shares(after.reached[redone] - at, after.marks[redone]),
        pages_deviation=float(left.std() / left.mean()),
        extra=float((inherited / np.maximum(pages, 1)).max()),
        curve=_curve(rates, after.bin),
    ), int(before.pages.sum() + after.pages.sum())


def _shares(times: NDArray[np.float64], weights: NDArray[np.uint32]) -> dict[str, float]:
    """When a share of the weights is reached."""
    if not len(times):
        return {}
    order = np.argsort(times)
    reached = np.cumsum(weights[order]) / weights.sum()
    return {
        f"{share} %": float(
            times[order][min(len(order) - 1, int(np.searchsorted(reached, share / 100 - 1e-12)))]
        )
        for share in (50, 90, 99, 100)
    }


def _saturation(
    scenario: Scenario, costs: Costs, crawlers: Crawlers, ranks: NDArray[np.uint32], until: float
) -> tuple[Saturation, int]:
    few = ranks[
        np.unique(np.linspace(0, len(ranks) - 1, min(_SWEEP_AGENTS, len(ranks))).round().astype(np.int64))
    ]
    rates, events = [], 0
    for slots in _SWEEP:
        pages = int(crawlers.run(few, until=until, slots=slots, links=0.0).pages.sum())
        events += pages
        rates.append((slots, pages / until / len(few)))
    enough = _NEARLY * max(rate for _, rate in rates)
    bound = crawlers.polite_rate(few)
    return Saturation(
        rates=rates,
        slots=next(slots for slots, rate in rates if rate >= enough),
        bound=bound,
        bound_slots=bound * (scenario.fetch + costs.process(scenario)),
    ), events
