"""A crawl by several agents, beside that by one.

*Real sites* (those of ``CRIVELLO_BENCH_SEEDS``, or all), without delay, fetched completely: all agents share the cores of this machine with the server, so two of them
can only be as fast as one; measured is what dividing costs. The time is from the first request that the agents are
allowed to make to the last page, without the start of Ray, which is told by itself.

*A web that makes crawlers wait*: 20,000 generated hosts, each on an address of its own, whose server takes 200 ms to answer
and wants a second between requests. An agent has 64 slots, so it waits nearly always, and N agents should fetch N times what one
does. The rate is that of the server's log, from when every agent fetches until the end.

``CRIVELLO_BENCH_AGENTS`` has the numbers of agents, separated by spaces.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.many_hosts import ManyHosts
from tests.politeness import too_close

from bench import Measurement
from bench.crawl import SITES, answers
from crivello.cluster import engine
from crivello.cluster.driver import Driver
from crivello.cluster.register import View
from crivello.cluster.view import held
from crivello.collection import Collection
from crivello.crawl import Report
from crivello.settings import Settings, load

MORE_SITES = ("handbook", "install-amd64", "install-arm64", "rust")
SEEDS = os.environ.get(
    "CRIVELLO_BENCH_SEEDS", " ".join(f"http://{site}.test:8080/doc/" for site in (*SITES, *MORE_SITES))
).split()
AGENTS = [int(number) for number in os.environ.get("CRIVELLO_BENCH_AGENTS", "1 2 4 8").split()]
HOSTS, PAGES = 20_000, 100
THINK, DELAY, SLOTS = 0.2, 1.0, 64
WINDOW = 20.0


def measure() -> Iterator[Measurement]:
    with ExitStack() as opened:
        started = time.monotonic()
        ray = opened.enter_context(engine.connected())
        start = time.monotonic() - started
        yield from _real(ray)
        yield from _waiting(ray)
    yield Measurement("starting Ray on this machine", start, "nothing", 0.0, "s", smaller_is_better=True)


def _real(ray: object) -> Iterator[Measurement]:
    if silent := [url for url in SEEDS if not answers(url)]:
        print(f"cluster: {silent[0]} does not answer: name sites in CRIVELLO_BENCH_SEEDS", file=sys.stderr)
        return
    settings = load(flags={"crawl": {"delay": 0, "address_delay": 0, "allow_private": True}})
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder, "alone")
        with Collection.write(alone, settings=settings, create=True) as collection:
            one = collection.crawl(SEEDS, progress=False)
        first, last = _span(alone)
        rate = one.pages / (last - first)
        divided = Path(folder, "divided")
        report, _ = _crawl(ray, divided, settings, 2, SEEDS)
        spans = [_span(divided / "agents" / str(agent)) for agent in range(2)]
        seconds = max(last for _, last in spans) - min(first for first, _ in spans)
    yield Measurement(
        f"real sites by 2 agents, {report.pages:,} pages",
        report.pages / seconds,
        f"by one, {one.pages:,} pages",
        rate,
        "pages/s",
        asked=0.85,
    )


def _span(folder: Path) -> tuple[float, float]:
    """When the first page of a collection was fetched, and the last."""
    times = [row.fetched_at for row in Collection(folder).pages()]
    return min(times), max(times)


def _waiting(ray: object) -> Iterator[Measurement]:
    rates: dict[int, float] = {}
    for agents in AGENTS:
        with tempfile.TemporaryDirectory() as folder, ManyHosts(HOSTS, PAGES, think=THINK) as web:
            settings = load(
                flags={
                    "crawl": {
                        "hosts_file": str(web.write_hosts_file(Path(folder, "hosts"))),
                        "scope": "any",
                        "allow_private": True,
                        "delay": DELAY,
                        "address_delay": 0,
                        "connections": SLOTS,
                        "sitemaps": False,
                    }
                }
            )
            _, since = _crawl(ray, Path(folder, "c"), settings, agents, web.seeds, window=WINDOW)
            hits = list(web.hits())
            assert too_close(hits, DELAY) == []
        inside = [hit for hit in hits if since <= hit.end < since + WINDOW]
        rates[agents] = len(inside) / WINDOW
        yield Measurement(
            f"a web that takes {THINK:g} s and wants {DELAY:g} s, {agents} agents of {SLOTS} slots",
            rates[agents],
            f"{agents} times {AGENTS[0]}",
            agents / AGENTS[0] * rates[AGENTS[0]],
            "requests/s",
            asked=0.9 if agents > AGENTS[0] else None,
        )


def _crawl(
    ray: object, folder: Path, settings: Settings, agents: int, seeds: list[str], window: float = 0.0
) -> tuple[Report, float]:
    """A crawl by agents to its end or, with a window, for so long after every agent is busy; and when that was."""
    since = 0.0

    def watch(_: Report, view: View) -> None:
        nonlocal since
        is_busy = len(view.beats) == agents and all(
            beat.report.get("requests", 0) > 4 * SLOTS for beat in view.beats.values()
        )
        if window and is_busy:
            since = since or time.time()
            if time.time() > since + window:
                driver.stop()

    with held(folder, settings):
        driver = Driver(ray, folder, settings, agents=agents, seeds=seeds, on_progress=watch)
        return driver.run(), since
