"""Agents of a divided crawl, each in a process of its own, and the pump that carries batches between them.

An agent is started with ``python -m tests.agents SOCKET FOLDER MEMBERSHIP CRAWL SEED...`` (two of them in JSON) and
answers calls of the methods of its `Crawler` at the socket until it is told to stop, or is killed.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Self

from crivello import settings
from crivello.collection import Collection
from crivello.crawl.crawler import Crawler
from crivello.crawl.exchange import Membership
from crivello.errors import CrivelloError
from crivello.store import Outcome

LEASE = 5.0
_BATCH = 1 << 20
_GONE = (OSError, EOFError)


def serve(address: str, folder: str, membership: str, crawl: str, *seeds: str) -> None:
    """Runs an agent."""
    given = json.loads(membership)
    given["members"] = {int(agent): weight for agent, weight in given["members"].items()}
    chosen = settings.load(flags={"crawl": json.loads(crawl)}, environment={})
    with Collection.write(folder, settings=chosen, create=True) as collection:
        crawler = Crawler(collection, seeds, exchange=Membership(**given))
        with Listener(address, "AF_UNIX") as listener:
            threading.Thread(target=_answer, args=(listener.accept(), crawler), daemon=True).start()
            crawler.run()


def _answer(connection: Connection, crawler: Crawler) -> None:
    while True:
        try:
            name, arguments = connection.recv()
        except _GONE:
            return
        try:
            report = crawler.report
            answer = report.exchange if name == "exchange" else getattr(crawler, name)(*arguments)
        except CrivelloError as error:
            answer = error
        connection.send(answer)


@dataclass(slots=True)
class Agent:
    """A running agent as the others see it."""

    process: subprocess.Popen[bytes]
    connection: Connection
    epoch: int

    def call(self, name: str, *arguments: object) -> Any:
        self.connection.send((name, arguments))
        answer = self.connection.recv()
        if isinstance(answer, CrivelloError):
            raise answer
        return answer


class Agents:
    """A crawl divided among processes; they are killed at the end."""

    def __init__(self, folder: Path, crawl: Mapping[str, object], seeds: Iterable[str]) -> None:
        self.folder = folder
        self.running: dict[int, Agent] = {}
        self.longest_rest = 0.0
        self._crawl, self._seeds = dict(crawl), list(seeds)
        # The path of a socket must be short.
        self._sockets = tempfile.TemporaryDirectory()
        self._starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for agent in [*self.running]:
            self.kill(agent)
        self._sockets.cleanup()

    def start(self, agent: int, membership: Membership) -> None:
        """Starts an agent, and waits until it answers."""
        self._starts += 1
        address = str(Path(self._sockets.name) / f"{agent}.{self._starts}")
        command = [sys.executable, "-m", "tests.agents", address, str(self.folder / f"agent-{agent}")]
        given = json.dumps({**asdict(membership), "members": dict(membership.members)})
        process = subprocess.Popen([*command, given, json.dumps(self._crawl), *self._seeds])
        started = Agent(process, _connect(process, address), membership.epoch)
        while started.call("exchange") is None:
            time.sleep(0.01)
        self.running[agent] = started

    def kill(self, agent: int) -> None:
        """Ends an agent as a power cut does."""
        known = self.running.pop(agent)
        known.process.kill()
        known.process.wait(10)

    def stop(self, agent: int) -> None:
        """Ends an agent as Ctrl-C does."""
        known = self.running.pop(agent)
        known.call("stop")
        assert known.process.wait(30) == 0

    def pump(self) -> bool:
        """Carries one batch from each agent to each other, and permits requests; returns whether all are done."""
        time.sleep(0.01)
        states = []
        for agent, known in self.running.items():
            with contextlib.suppress(CrivelloError):
                known.call("permit", LEASE)
            state = known.call("exchange")
            states.append(state)
            if state:
                self.longest_rest = max(self.longest_rest, state["longest_rest"])
            for peer, other in self.running.items():
                if peer != agent:
                    with contextlib.suppress(CrivelloError):
                        _carry(agent, known, peer, other)
        return all(state and state["is_idle"] for state in states)

    def drain(self, timeout: float) -> None:
        """Lets no request begin, and pumps until everything that was written for those that run has arrived."""
        deadline, quiet = time.monotonic() + timeout, 0
        while quiet < 3:
            for known in self.running.values():
                with contextlib.suppress(CrivelloError):  # one that was just started
                    known.call("drain")
            self.pump()
            states = [known.call("exchange") for known in self.running.values()]
            quiet = quiet + 1 if all(map(self._is_drained, states)) else 0
            assert time.monotonic() < deadline, states
            time.sleep(0.25)  # the reports are a fifth of a second old

    def _is_drained(self, state: dict[str, Any]) -> bool:
        here = [told for peer, told in state["peers"].items() if int(peer) in self.running]
        return state["is_drained"] and all(told["written"] == told["acknowledged"] for told in here)

    def finish(self, timeout: float) -> None:
        """Pumps until nothing is left to do."""
        deadline, quiet = time.monotonic() + timeout, 0
        while quiet < 5:
            quiet = quiet + 1 if self.pump() else 0
            assert time.monotonic() < deadline, [known.call("exchange") for known in self.running.values()]
            # The reports are a fifth of a second old.
            time.sleep(0.1 if quiet else 0.0)

    def fetched(self, agent: int) -> list[str]:
        """The pages that an agent has committed."""
        rows = Collection(self.folder / f"agent-{agent}").pages()
        return [row.url for row in rows if row.outcome is Outcome.FETCHED and row.status == 200]


def _connect(process: subprocess.Popen[bytes], address: str) -> Connection:
    """A connection to an agent that is starting: its socket exists before it listens."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return Client(address, "AF_UNIX")
        except (FileNotFoundError, ConnectionRefusedError):
            assert process.poll() is None and time.monotonic() < deadline, "the agent does not start"
            time.sleep(0.01)


def _carry(agent: int, sender: Agent, peer: int, receiver: Agent) -> None:
    outgoing = sender.call("outgoing", peer, _BATCH)
    if outgoing is None:
        return
    start, end, batch = outgoing
    accepted, committed = receiver.call("receive", agent, sender.epoch, start, batch)
    if accepted != end:
        sender.call("rewind", peer, accepted)
    sender.call("acknowledge", peer, committed)


if __name__ == "__main__":
    serve(*sys.argv[1:])
