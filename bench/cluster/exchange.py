"""The exchange of URLs between three agents in three processes: outboxes, batches over sockets, checksums, sieves, commits.

Every agent finds ``CRIVELLO_BENCH_EXCHANGED`` URLs (default: 600,000, of 70 to 100 bytes, on 20,000 hosts), of which two
thirds are others', and a third is found by two agents. The time is from the moment at which all three have their URLs in
their outboxes until every record is committed by its receiver. Nothing is fetched. The sieve is `memory`, which
decides at once: at the end the three of them have seen every URL exactly once.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

import msgspec

from bench import Measurement
from crivello import _core, settings
from crivello.collection import Collection
from crivello.crawl.crawler import plan_of
from crivello.crawl.exchange import Membership
from crivello.extend import Extensions
from crivello.settings import for_core

URLS = int(os.environ.get("CRIVELLO_BENCH_EXCHANGED", "600_000"))
TARGET = 200_000.0
AGENTS = (1, 2, 3)
HOSTS = 20_000
BATCH = 1 << 20
SHARED = 3


def name(host: int) -> str:
    """The name of a host."""
    return f"www.site-{host}.example.org"


def url(number: int) -> str:
    """The URL of a number."""
    scattered = number * 2654435761 % 2**32
    return f"https://{name(scattered % HOSTS)}/section/{scattered:010d}/a-page-about-{number}.html"


def found(agent: int) -> list[str]:
    """The URLs that an agent finds: of every ``SHARED``, it shares one with the next agent."""
    own = range((agent - 1) * URLS, agent * URLS)
    before = (agent - 2) % len(AGENTS) * URLS
    return [url(number - own.start + before if number % SHARED == 0 else number) for number in own]


def distinct() -> int:
    """How many there are."""
    return len({each for agent in AGENTS for each in found(agent)})


class _Agent:
    """One of the three, in a process of its own."""

    def __init__(self, folder: Path, agent: int) -> None:
        self.agent = agent
        crawl = {"sieve": "memory", "hosts_file": str(folder / "hosts"), "allow_private": True}
        chosen = settings.load(flags={"crawl": crawl}, environment={})
        self._collection = Collection.write(folder / f"{agent}", settings=chosen, create=True)
        membership = Membership(agent, 1, dict.fromkeys(AGENTS, 1.0))
        plan = plan_of(
            chosen.crawl,
            found(agent),
            Extensions(),
            folder=str(self._collection.folder),
            store=for_core(chosen.store),
            refresh=for_core(chosen.refresh),
            exchange=membership.plan(None),
        )
        self.native = _core.Crawl(plan, dict(self._collection.files))
        self.checkpoint()

    def checkpoint(self) -> None:
        files, encoded = self.native.checkpoint()
        state = msgspec.json.decode(encoded)
        self._collection.commit(files, table=state.pop("table"), crawl=state)
        self.native.committed()

    def report(self) -> dict[str, Any]:
        return msgspec.json.decode(self.native.report())  # type: ignore[no-any-return]

    def answer(self, connection: Connection) -> None:
        """Receives the batches of one sender."""
        while True:
            try:
                sender, start, batch = connection.recv()
            except (EOFError, OSError):
                return
            connection.send(self.native.receive(sender, 1, start, batch))

    def carry(self, peer: int, connection: Connection) -> None:
        """Sends everything to a peer, until it has committed it."""
        while (outgoing := self.native.outgoing(peer, BATCH)) is not None:
            start, end, batch = outgoing
            connection.send((self.agent, start, batch))
            accepted, committed = connection.recv()
            if accepted != end:
                self.native.rewind(peer, accepted)
            self.native.acknowledge(peer, committed)
            if start == end:
                time.sleep(0.01)

    def run(self, folder: Path, ready: Any) -> tuple[float, int, int]:
        """Exchanges everything; returns the seconds, the records received, and the URLs seen."""
        peers = [peer for peer in AGENTS if peer != self.agent]
        listener = Listener(str(folder / f"{self.agent}.socket"), "AF_UNIX")
        ready.wait()
        outgoing = {peer: Client(str(folder / f"{peer}.socket"), "AF_UNIX") for peer in peers}
        for _ in peers:
            threading.Thread(target=self.answer, args=(listener.accept(),), daemon=True).start()
        ready.wait()
        started = time.perf_counter()
        pumps = [threading.Thread(target=self.carry, args=each) for each in outgoing.items()]
        for pump in pumps:
            pump.start()
        while any(pump.is_alive() for pump in pumps) or self.native.others_wait()[0]:
            time.sleep(0.2)
            self.checkpoint()
        for pump in pumps:
            pump.join()
        took = time.perf_counter() - started
        # The others may still wait for what this one has to commit.
        done = threading.Thread(target=ready.wait)
        done.start()
        while done.is_alive():
            self.checkpoint()
            done.join(0.1)
        report = self.report()
        received = sum(peer["urls_received"] for peer in report["exchange"]["peers"].values())
        return took, received, report["seen"]


def _work(folder: str, agent: int, ready: Any, results: Any) -> None:
    results.put(_Agent(Path(folder), agent).run(Path(folder), ready))


def exchange() -> tuple[float, int]:
    """The URLs exchanged per second, and their number."""
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        lines = (f"127.1.{host // 256}.{host % 256} {name(host)}\n" for host in range(HOSTS))
        (Path(folder) / "hosts").write_text("".join(lines))
        ready, results = context.Barrier(len(AGENTS)), context.SimpleQueue()
        workers = [context.Process(target=_work, args=(folder, agent, ready, results)) for agent in AGENTS]
        for worker in workers:
            worker.start()
        outcomes = [results.get() for _ in workers]
        for worker in workers:
            worker.join()
    seen, expected = sum(seen for *_, seen in outcomes), distinct()
    assert seen == expected, f"{seen} URLs were seen, and there are {expected}"
    number = sum(received for _, received, _ in outcomes)
    return number / max(took for took, *_ in outcomes), number


def measure() -> Iterator[Measurement]:
    """The exchange beside its target."""
    speed, number = exchange()
    what = f"URL exchange, 3 agents in 3 processes, {number:,} URLs, with dedup"
    yield Measurement(what, speed, "target", TARGET, "URLs/s", asked=1.0)
