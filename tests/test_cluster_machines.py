"""What becomes of a crawl when the network between two machines is cut, and when the head of the cluster is lost.

The machines are namespaces (``tests.machines``): their agents reach the web all the time, and each other only while the
network is whole. Each time every page is fetched, is once in the merged collection, and no request was impolite.

Ray gives up after a minute, and nodes are started again then: this is tested only if ``CRIVELLO_TEST_HEAD`` is set.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from crivello.cluster.register import MARGIN
from tests.cluster_crawl import check, command_for, until
from tests.machines import WEB, Network
from tests.many_hosts import ManyHosts
from tests.ray_nodes import ENVIRONMENT, Nodes, descendants

# An agent that gets no processor time for a lease is given up.
pytestmark = [pytest.mark.alone, pytest.mark.timeout(600)]

LEASE, GRACE = 2.0, 4.0
DELAY, ADDRESS_DELAY = 0.1, 0.3
HOSTS, PAGES = 24, 20

takes_long = pytest.mark.skipif(
    "CRIVELLO_TEST_HEAD" not in os.environ, reason="CRIVELLO_TEST_HEAD is not set"
)


@pytest.fixture
def network() -> Iterator[Network]:
    with Network("head", "one") as network:
        yield network


@pytest.fixture
def web(network: Network) -> Iterator[ManyHosts]:
    """A web that takes half a minute: six addresses, each of which rests after a request."""
    with network.sockets_at(""):
        web = ManyHosts(HOSTS, PAGES, addresses=6, network=WEB)
    with web:
        yield web


def test_agents_that_are_cut_off_pause_and_come_back(
    network: Network, web: ManyHosts, tmp_path: Path
) -> None:
    """The cut is longer than the grace time: agent 0, which is with the register, takes over the hosts of agent 1, which
    still reaches them."""
    with Nodes(network) as nodes:
        nodes.start("one")
        with driver(nodes, "head", web, tmp_path, grace=GRACE) as crawl:
            crawl.until(lambda: len(web) > 60 and requests_of(network, web, "one"))
            with network.cut():
                began, before = time.time(), crawl.said.count("agent 1 is lost")
                crawl.until(lambda: crawl.said.count("agent 1 is lost") > before)
                asked = len(web)
                crawl.until(lambda: len(web) > asked + 20)
                healed = time.time()
            assert not [
                moment
                for moment in requests_of(network, web, "one")
                if began + LEASE + MARGIN < moment < healed
            ], "an agent went on without a permit"
            asked = len(requests_of(network, web, "one"))
            crawl.until(lambda: len(requests_of(network, web, "one")) > asked)
            assert crawl.end() == 0, crawl.said
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


@takes_long
def test_a_machine_that_ray_has_given_up_is_started_again(
    network: Network, web: ManyHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_health_check_timeout_ms", "3000")  # half a minute instead of one
    with Nodes(network) as nodes:
        nodes.start("one")
        with driver(nodes, "head", web, tmp_path) as crawl:
            crawl.until(lambda: len(web) > 60 and requests_of(network, web, "one"))
            with network.cut():
                time.sleep(45)
                healed = time.time()
            crawl.until(lambda: not nodes.is_running("one"))
            nodes.kill("one")
            nodes.start("one")
            assert crawl.end() == 0, crawl.said
    assert max(requests_of(network, web, "one")) > healed, "it was over before"
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


@takes_long
@pytest.mark.parametrize("machine", ["one", "head"])
def test_the_same_command_goes_on_after_the_head_was_lost(
    network: Network, web: ManyHosts, tmp_path: Path, machine: str
) -> None:
    """A head without agents and the driver elsewhere, or all of it on one machine, where the driver survives."""
    with Nodes(network, head_cpus=int(machine == "head")) as nodes:
        nodes.start("one")
        with driver(nodes, machine, web, tmp_path) as crawl:
            crawl.until(lambda: len(web) > 60 and requests_of(network, web, "one"))
            nodes.kill("head")
            killed = time.time()
            assert crawl.end(50) == 3  # before Ray ends it, after a minute, with words of its own
            said = crawl.said.splitlines()[-2:]
        assert said == [
            f"crivello: the Ray cluster at {nodes.address} is lost: its head cannot be reached",
            "hint: start its nodes again, the head first; then the same command goes on",
        ]
        # The register is with the driver: if it is lost with the head, agents stop when their lease is over.
        limit = killed + LEASE + MARGIN if machine == "head" else time.time()
        time.sleep(2 * ADDRESS_DELAY)
        assert max(requests_of(network, web, "one")) < limit, "an agent went on without a permit"
        assert len(web) < HOSTS * PAGES, "it was over before"
        nodes.kill("one")
        nodes.start_head()
        nodes.start("one")
        with driver(nodes, machine, web, tmp_path) as crawl:
            assert crawl.end() == 0, crawl.said
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


@takes_long
def test_the_same_command_goes_on_after_the_driver_was_cut_off_from_the_head(
    network: Network, web: ManyHosts, tmp_path: Path
) -> None:
    """No packet tells that the head is away, and Ray waits for it without end."""
    with Nodes(network) as nodes:
        nodes.start("one")
        with driver(nodes, "one", web, tmp_path) as crawl:
            crawl.until(lambda: len(web) > 60)
            with network.cut():
                assert crawl.end(55) == 3
            assert "is lost: its head cannot be reached" in crawl.said
        assert len(web) < HOSTS * PAGES, "it was over before"
        with driver(nodes, "one", web, tmp_path) as crawl:
            assert crawl.end(200) == 0, crawl.said
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


class Driver:
    """A process of the command ``crivello crawl``, and what it says."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: Path) -> None:
        self._process, self._complaints = process, complaints

    @property
    def said(self) -> str:
        return self._complaints.read_text()

    def until(self, condition: Callable[[], object], timeout: float = 90) -> None:
        """Waits until something happens while the crawl goes on."""

        def has_happened() -> bool:
            happened = bool(condition())
            assert happened or self._process.poll() is None, f"it has ended before: {self.said}"
            return happened

        until(has_happened, timeout)

    def end(self, timeout: float = 120) -> int:
        """Waits for its end; returns its exit code."""
        code = self._process.wait(timeout)
        assert "Traceback" not in self.said, self.said
        return code


@contextmanager
def driver(
    nodes: Nodes, machine: str, web: ManyHosts, folder: Path, grace: float = 300.0
) -> Iterator[Driver]:
    """The command that crawls the web by two agents, on a machine."""
    command = command_for(
        web,
        folder,
        *(*web.seeds, "--agents", "2", "--cluster", nodes.address, "--grace", str(grace)),
        delay=DELAY,
        address_delay=ADDRESS_DELAY,
        lease=LEASE,
    )
    complaints = folder / "complaints"
    with (
        complaints.open("wb") as out,
        subprocess.Popen(
            [*nodes.on(machine), *command],
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.DEVNULL,
            stderr=out,
        ) as process,
    ):
        try:
            yield Driver(process, complaints)
        finally:
            for pid in descendants(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def requests_of(network: Network, web: ManyHosts, machine: str) -> list[float]:
    """The moments at which requests of a machine's agents came."""
    return [hit.start for hit in web.hits() if web.clients[hit.connection] == network.address(machine)]
