"""Crawls by several agents on a real Ray: calm, killed, cut off, stopped, and from the shell."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import crivello
from crivello.cluster import roster as rosters
from crivello.cluster.register import View
from tests.cluster_crawl import LEASE, Crawl, check, command_for, settings_for, until
from tests.crawling import CRIVELLO
from tests.many_hosts import ManyHosts
from tests.ray_nodes import ENVIRONMENT, Nodes

# An agent that gets no processor time for a lease is given up.
pytestmark = pytest.mark.alone

DELAY, ADDRESS_DELAY = 0.1, 0.05

at_full_size = pytest.mark.skipif(
    not os.environ.get("CRIVELLO_TEST_CLUSTER"), reason="CRIVELLO_TEST_CLUSTER is not set"
)


def test_three_agents_fetch_every_page_and_robots_once_and_politely(ray: Any, tmp_path: Path) -> None:
    with ManyHosts(30, 6, addresses=10) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        report = Crawl(ray, tmp_path / "c", settings, 3, web.seeds).end()
        assert check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY) == {}
        assert set(Counter(web.asked_for_robots()).values()) == {1}
    assert report.pages == 180 and report.stopped_by is None and report.waiting == 0
    told = crivello.open(tmp_path / "c").status()
    assert told is not None
    agents = told.to_dict()["agents"]
    assert all(agent["pages"] > 0 for agent in agents) and sum(agent["pages"] for agent in agents) == 180
    assert sum(agent["urls_sent"] for agent in agents) > 0 and all(agent["lag"] == 0 for agent in agents)


@at_full_size
def test_killed_agents_are_restarted_and_nothing_is_lost_doubled_or_impolite(
    ray: Any, tmp_path: Path
) -> None:
    """The short form of the chaos test."""
    chance = random.Random(5)
    with ManyHosts(40, 12, addresses=12) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        crawl = Crawl(ray, tmp_path / "c", settings, 2, web.seeds)
        kills: list[float] = []
        for pages in (40, 120):
            crawl.until(_has_fetched(crawl, pages))
            crawl.until(_has_killed(crawl, chance, kills))
        crawl.end()
        repeated = check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
        first = dict(reversed(list(web.requested())))
    assert len(kills) == 2
    assert any("restarted" in event for _, event in crawl.events)
    _check_repeated(repeated, first, kills)


@at_full_size
def test_an_agent_that_does_not_beat_pauses_and_goes_on(ray: Any, tmp_path: Path) -> None:
    """A process that is stopped (SIGSTOP) is what a partition looks like from outside: it is not dead, and does not know."""
    with ManyHosts(24, 8, addresses=8) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        crawl = Crawl(ray, tmp_path / "c", settings, 2, web.seeds)
        view = crawl.until(lambda _: crawl.pages() >= 20)
        pid = view.beats[1].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            crawl.until(lambda view: view.ages[1] > view.fence)
        finally:
            os.kill(pid, signal.SIGCONT)
        crawl.end()
        check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


def test_a_stopped_crawl_goes_on_with_its_agents_and_max_pages_is_that_of_all(
    ray: Any, tmp_path: Path
) -> None:
    with ManyHosts(20, 10, addresses=10) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY, max_pages=40)
        report = Crawl(ray, tmp_path / "c", settings, 2, web.seeds).end()
        assert report.stopped_by == "max_pages" and 40 <= report.pages < 200
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        Crawl(ray, tmp_path / "c", settings, 0, []).end()
        check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
    assert rosters.read(tmp_path / "c").numbers == (0, 1)


def test_agents_are_added_removed_and_killed_while_they_crawl(ray: Any, tmp_path: Path) -> None:
    chance = random.Random(6)
    with ManyHosts(40, 12, addresses=12) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        crawl = Crawl(ray, tmp_path / "c", settings, 2, web.seeds)
        kills: list[float] = []
        for pages, count in ((60, 3), (200, 1)):
            crawl.until(_has_fetched(crawl, pages))
            crawl.scale(count)
            crawl.until(_has_killed(crawl, chance, kills))
            crawl.until(lambda view, count=count: len(view.roster.members) == count)  # type: ignore[misc]
            crawl.until(lambda view: all(_pages_of(view, agent) for agent in view.roster.members))
        crawl.end()
        repeated = check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
        first = dict(reversed(list(web.requested())))
    assert any("restarted" in event for _, event in crawl.events)
    _check_repeated(
        repeated, first, [*kills, *(when for when, event in crawl.events if event.startswith("epoch"))]
    )
    roster = rosters.read(tmp_path / "c")
    assert (roster.members, roster.leaving, roster.lost, roster.epoch) == ((0,), (), {}, 3)
    told = crivello.open(tmp_path / "c").status()
    assert told is not None
    fetched = [agent["pages"] for agent in told.to_dict()["agents"]]
    assert sum(fetched) == 480 and all(fetched), "a page is with two agents, or an agent had nothing to do"


def test_the_hosts_of_a_lost_agent_go_to_others_and_back(ray: Any, tmp_path: Path) -> None:
    with ManyHosts(30, 16, addresses=10) as web:
        settings = settings_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        cluster = msgspec.structs.replace(settings.cluster, grace=LEASE + 2)
        settings = msgspec.structs.replace(settings, cluster=cluster)
        crawl = Crawl(ray, tmp_path / "c", settings, 3, web.seeds)
        pid = crawl.until(_has_fetched(crawl, 60)).beats[2].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            crawl.until(lambda view: view.roster.members == (0, 1) and 2 in view.roster.lost)
            seen = len(web)
            crawl.until(lambda _: len(web) > seen + 20)
        finally:
            os.kill(pid, signal.SIGCONT)
        crawl.end()
        check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
    assert any("agent 2 is lost" in event for _, event in crawl.events)


def _check_repeated(repeated: Counter[str], first: dict[str, float], disturbances: list[float]) -> None:
    """Only what was not committed when a process was killed, or an epoch ended, is asked for again."""
    for url in repeated:
        assert any(-10 < when - first[url] < 10 for when in disturbances), (url, first[url], disturbances)


def _has_fetched(crawl: Crawl, pages: int) -> Callable[[View], bool]:
    return lambda _: crawl.pages() >= pages


def _pages_of(view: View, agent: int) -> int:
    beat = view.beats.get(agent)
    return beat.report.get("pages", 0) if beat else 0


def _has_killed(crawl: Crawl, chance: random.Random, kills: list[float]) -> Callable[[View], bool]:
    """Kills an agent as soon as one runs, once."""
    before = len(kills)

    def has_killed(_: View) -> bool:
        if len(kills) == before and (killed := crawl.kill_one(chance)) is not None:
            kills.append(killed)
        return len(kills) > before

    return has_killed


def test_a_cluster_that_was_started_by_hand_crawls(tmp_path: Path) -> None:
    with ManyHosts(12, 5, addresses=6) as web, Nodes() as nodes:
        nodes.start("one")
        done = subprocess.run(
            command_for(
                web,
                tmp_path,
                *(*web.seeds, "--agents", "2", "--cluster", nodes.address),
                delay=DELAY,
                address_delay=ADDRESS_DELAY,
            ),
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        assert json.loads(done.stdout)["pages"] == 60
        check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
    machines = {agent.machine for agent in rosters.read(tmp_path / "c").agents}
    assert machines == {"crivello-machine=head", "crivello-machine=one"}


def test_the_shell_stops_a_crawl_with_a_checkpoint_everywhere(tmp_path: Path) -> None:
    """`crivello crawl --agents` on a Ray of its own, `cluster scale` and `stop` from another shell, and Ctrl-C."""
    with ManyHosts(30, 400, addresses=10) as web:
        command = command_for(web, tmp_path, delay=DELAY, address_delay=ADDRESS_DELAY)
        crawl = subprocess.Popen(
            [*command, *web.seeds, "--agents", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until(lambda: len(web) > 40)
        assert json.loads(_says("status", tmp_path / "c", "--json"))["members"] == [0, 1]
        assert json.loads(_says("cluster", "scale", tmp_path / "c", "3", "--json"))["members"] == [0, 1, 2]
        _says("cluster", "stop", tmp_path / "c")
        out, said = crawl.communicate(timeout=60)
        assert crawl.returncode == 0 and "Traceback" not in said, said
        assert 0 < json.loads(out)["pages"] < 12_000 and rosters.read(tmp_path / "c").address == ""
        again = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        seen = len(web)
        until(lambda: len(web) > seen + 20)
        again.send_signal(signal.SIGINT)
        out, said = again.communicate(timeout=60)
        assert again.returncode == 130 and "Traceback" not in said, said
        assert "goes on" in said and json.loads(out)["pages"] > 0


def _says(*arguments: object) -> str:
    done = subprocess.run(
        [str(CRIVELLO), *map(str, arguments)], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_ray_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    """With a module `ray` that cannot be imported, as if it were not installed."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "ray.py").write_text("raise ImportError('not installed')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "hidden")}
    done = subprocess.run(
        [str(CRIVELLO), "crawl", "http://127.0.0.1:9/", "--into", str(tmp_path / "c"), "--agents", "3"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "Ray, which is not installed" in done.stderr and "pip install 'crivello[cluster]'" in done.stderr
    assert not (tmp_path / "c").exists()
