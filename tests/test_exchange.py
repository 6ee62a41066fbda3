"""A crawl divided among agents: every page once, every host and address in peace, whatever happens to the agents."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crivello import settings
from crivello.collection import Collection
from crivello.crawl.crawler import Crawler
from crivello.crawl.exchange import Membership
from crivello.errors import CrawlError, InvalidArgument
from tests.agents import Agents
from tests.many_hosts import ManyHosts
from tests.politeness import too_close

HOSTS, PAGES, PER_ADDRESS = 40, 6, 4
DELAY, ADDRESS_DELAY = 0.15, 0.05


def crawl_settings(hosts_file: Path) -> dict[str, object]:
    return {
        "scope": "any",
        "delay": DELAY,
        "address_delay": ADDRESS_DELAY,
        "allow_private": True,
        "sitemaps": False,
        "hosts_file": str(hosts_file),
        "checkpoint": 0.2,
        "contact": "crawler@example.org",
    }


def membership(agent: int, members: list[int], epoch: int = 1, **more: object) -> Membership:
    return Membership(agent, epoch, dict.fromkeys(members, 1.0), **more)  # type: ignore[arg-type]


def assert_polite(web: ManyHosts) -> None:
    assert too_close(web.hits(), DELAY, ADDRESS_DELAY) == []


@contextmanager
def three_agents(folder: Path, pages: int) -> Iterator[tuple[ManyHosts, Agents]]:
    """A web and three agents that have made so many requests."""
    with ManyHosts(HOSTS, PAGES, per_address=PER_ADDRESS, think=0.01) as web:
        crawl = crawl_settings(web.write_hosts_file(folder / "hosts"))
        with Agents(folder, crawl, web.seeds) as agents:
            for agent in (1, 2, 3):
                agents.start(agent, membership(agent, [1, 2, 3]))
            while len(web) < pages:
                agents.pump()
            yield web, agents


def test_three_agents_fetch_every_page_once_over_a_kill(tmp_path: Path) -> None:
    with ManyHosts(HOSTS, PAGES, per_address=PER_ADDRESS, think=0.01) as web:
        crawl = crawl_settings(web.write_hosts_file(tmp_path / "hosts"))
        members = [1, 2, 3]
        with Agents(tmp_path, crawl, web.seeds) as agents:
            for agent in members:
                agents.start(agent, membership(agent, members))
            while len(web) < HOSTS * PAGES // 3:
                agents.pump()
            agents.kill(2)
            agents.start(2, membership(2, members))
            agents.finish(120)
            for agent in members:
                agents.stop(agent)
            fetched = [agents.fetched(agent) for agent in members]
        assert_polite(web)
        assert all(fetched), "every agent has something to do"
        assert Counter(url for urls in fetched for url in urls) == Counter(web.urls())
        # What was fetched again is what the killed agent had not committed.
        asked = Counter(url for url, _ in web.requested())
        assert set(asked) == web.urls() and max(asked.values()) <= 2
        assert sum(asked.values()) <= len(web.urls()) + HOSTS * PAGES // 3


def test_agents_are_added_and_removed_and_killed_meanwhile_and_every_page_is_fetched_once(
    tmp_path: Path,
) -> None:
    with ManyHosts(HOSTS, PAGES, per_address=PER_ADDRESS, think=0.01) as web:
        crawl = crawl_settings(web.write_hosts_file(tmp_path / "hosts"))
        plan: list[tuple[list[int], list[int]]] = [([1, 2], []), ([1, 2, 3], []), ([2, 3], [1])]
        with Agents(tmp_path, crawl, web.seeds) as agents:
            for epoch, (members, leaving) in enumerate(plan, 1):
                rest = agents.longest_rest
                given = {
                    agent: membership(agent, members, epoch, leaving=leaving, rest=rest)
                    for agent in [*members, *leaving]
                }
                for agent, known in given.items():
                    agents.start(agent, known)
                if epoch == len(plan):
                    break
                while len(web) < HOSTS * PAGES * epoch // 4:
                    agents.pump()
                agents.kill(2)
                agents.start(2, given[2])
                agents.drain(60)
                for agent in [*agents.running]:
                    agents.stop(agent)
            agents.finish(120)
            for agent in [*agents.running]:
                agents.stop(agent)
            fetched = [agents.fetched(agent) for agent in (1, 2, 3)]
        assert_polite(web)
        assert all(fetched), "every agent has something to do"
        assert Counter(url for urls in fetched for url in urls) == Counter(web.urls())


def test_what_a_lost_agent_had_is_fetched_by_the_others_and_it_comes_back(tmp_path: Path) -> None:
    with three_agents(tmp_path, HOSTS * PAGES // 3) as (web, agents):
        agents.kill(3)
        agents.drain(60)
        for epoch, members in ((2, [1, 2]), (3, [1, 2, 3])):
            for agent in [*agents.running]:
                agents.stop(agent)
            for agent in members:
                given = membership(agent, members, epoch, reset=epoch, rest=agents.longest_rest)
                agents.start(agent, given)
            while epoch == 2 and len(web) < HOSTS * PAGES * 2 // 3:
                agents.pump()
            if epoch == 2:
                agents.drain(60)
        agents.finish(120)
        for agent in [*agents.running]:
            agents.stop(agent)
        fetched = [agents.fetched(agent) for agent in (1, 2, 3)]
        assert_polite(web)
        assert {url for urls in fetched for url in urls} == web.urls()
        survivors = Counter([*fetched[0], *fetched[1]])
        assert set(survivors.values()) == {1}, "the survivors have a page twice"


def test_the_last_of_three_agents_fetches_everything_that_the_lost_ones_alone_knew(tmp_path: Path) -> None:
    with three_agents(tmp_path, HOSTS * PAGES // 2) as (web, agents):
        rest = agents.longest_rest
        agents.kill(2)
        agents.kill(3)
        agents.drain(60)
        agents.stop(1)
        agents.start(1, membership(1, [1], 2, reset=2, rest=rest))
        agents.finish(120)
        agents.stop(1)
        fetched = agents.fetched(1)
        assert_polite(web)
        assert Counter(fetched) == Counter(web.urls())


def test_a_crawl_delay_holds_over_a_kill(tmp_path: Path) -> None:
    delay = 2.0
    with ManyHosts(2, 4, robots=lambda _: f"User-agent: *\nCrawl-delay: {delay}\n") as web:
        crawl = crawl_settings(web.write_hosts_file(tmp_path / "hosts"))
        with Agents(tmp_path, crawl, web.seeds) as agents:
            agents.start(1, membership(1, [1]))
            # The robots.txt of the first host and its first page.
            while len(web) < 2:
                agents.pump()
            agents.kill(1)
            before = len(web)
            agents.start(1, membership(1, [1]))
            while len(web) < before + 2:
                agents.pump()
        assert too_close(web.hits(), delay) == []


def test_an_agent_is_fenced(tmp_path: Path) -> None:
    with ManyHosts(1, 1) as web:
        crawl = crawl_settings(web.write_hosts_file(tmp_path / "hosts"))
        chosen = settings.load(flags={"crawl": crawl}, environment={})
        with Agents(tmp_path, crawl, web.seeds) as agents:
            agents.start(1, membership(1, [1, 2], 7))
            [agent] = agents.running.values()
            for epoch, blamed in ((6, "the sender is out of date"), (8, "the receiver is out of date")):
                with pytest.raises(InvalidArgument, match=f"in epoch {epoch}, .* in epoch 7: {blamed}"):
                    agent.call("receive", 2, epoch, 0, b"")
            with pytest.raises(InvalidArgument, match="damaged"):
                agent.call("receive", 2, 7, 0, b"no batch")
            # Without permission, and before agent 2 has said what it has, nothing is asked for.
            time.sleep(0.5)
            assert len(web) == 0
            agents.stop(1)
        with Collection.write(tmp_path / "agent-1", settings=chosen) as collection:
            for members, epoch, complaint in (
                ([1, 2], 6, "has been in epoch 7 already"),
                ([1, 2, 3], 7, "the epoch is still 7"),
            ):
                with pytest.raises(InvalidArgument, match=complaint):
                    Crawler(collection, exchange=membership(1, members, epoch)).run()
            with pytest.raises(CrawlError, match="is not running"):
                Crawler(collection, exchange=membership(1, [1], 8)).permit(1)
