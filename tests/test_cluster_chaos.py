"""A crawl by agents on two Ray nodes, whose processes are killed at random, one node with everything on it, while agents
are added and removed.
Nothing may be lost, doubled or impolite.

It takes long, so it runs only if ``CRIVELLO_CHAOS`` says how many kills (say 50); ``CRIVELLO_CHAOS_HOSTS`` and
``CRIVELLO_CHAOS_PAGES`` are the hosts and the pages of each (500 and 40, on 60 addresses).
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crivello.cluster import engine
from crivello.cluster.register import View
from tests.cluster_crawl import Crawl, check, settings_for
from tests.many_hosts import ManyHosts
from tests.ray_nodes import ENVIRONMENT, Nodes

KILLS = int(os.environ.get("CRIVELLO_CHAOS", "0"))
HOSTS = int(os.environ.get("CRIVELLO_CHAOS_HOSTS", "500"))
PAGES = int(os.environ.get("CRIVELLO_CHAOS_PAGES", "40"))
ADDRESSES = 60
DELAY, ADDRESS_DELAY, CHECKPOINT = 0.2, 0.1, 2.0
SLACK = 5.0


@pytest.mark.skipif(not KILLS, reason="CRIVELLO_CHAOS is not set")
@pytest.mark.timeout(5400)
def test_nothing_is_lost_doubled_or_impolite_whatever_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    chance = random.Random(int(os.environ.get("CRIVELLO_CHAOS_SEED", "1")))
    with ManyHosts(HOSTS, PAGES, addresses=ADDRESSES) as web, Nodes() as nodes:
        nodes.start("one")
        settings = settings_for(
            web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY, checkpoint=CHECKPOINT
        )
        with engine.connected(nodes.address) as ray:
            _until_there(ray, 2)
            crawl = Crawl(ray, tmp_path / "c", settings, 3, web.seeds)
            disturbances = _disturb(crawl, nodes, chance, web)
            crawl.end(3600)
            disturbances += [when for when, event in crawl.events if event.startswith("epoch")]
        repeated = check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
        first = dict(reversed(list(web.requested())))
    window = CHECKPOINT + SLACK
    for url in repeated:
        # Only what was not committed when something was killed or an epoch ended is asked for again.
        assert any(-window < first[url] - when < window for when in disturbances), url
    told = {
        "pages": HOSTS * PAGES,
        "disturbances": len(disturbances),
        "pages asked for again": len(repeated),
        "requests": len(web),
    }
    print(json.dumps(told), file=sys.stderr)


def _until_there(ray: object, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(engine.machines(ray)) < count:
        assert time.monotonic() < deadline, "the second node did not join"
        time.sleep(0.2)


def _has_asked(web: ManyHosts, requests: int) -> Callable[[View], bool]:
    """By the server's count: agents that have left tell nothing any more."""
    return lambda _: len(web) >= requests


def _kill_one(crawl: Crawl, chance: random.Random) -> float | None:
    """Kills an agent, as soon as one runs again: the others may have been killed a moment ago."""
    deadline = time.monotonic() + 60
    while crawl.is_going_on and time.monotonic() < deadline:
        if (when := crawl.kill_one(chance)) is not None:
            return when
        time.sleep(0.2)
    return None


def _disturb(crawl: Crawl, nodes: Nodes, chance: random.Random, web: ManyHosts) -> list[float]:
    """Kills processes of agents while the crawl makes progress, and at times a whole node."""
    times: list[float] = []
    for number in range(KILLS):
        reached = int(HOSTS * PAGES * (number + 0.5) / (KILLS + 4))
        crawl.until(_has_asked(web, reached), timeout=600)
        if not crawl.is_going_on:
            break
        if number % 10 == 5:
            nodes.kill("one")
            times.append(time.time())
            threading.Timer(chance.uniform(1, 12), nodes.start, ("one",)).start()
        elif (when := _kill_one(crawl, chance)) is not None:
            times.append(when)
        if number % 7 == 3:
            # Agents are added and removed beside.
            crawl.scale(chance.choice((2, 3, 4, 5)))
    assert len(times) >= KILLS * 0.9, f"only {len(times)} of {KILLS} kills happened"
    return times
