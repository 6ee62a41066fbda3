"""Assignment of hosts to agents on one core, in batches of 100,000 names of about 20 bytes, beside uhashring.

uhashring is consistent hashing in Python, over a sorted list, with as many points per node (``vnodes``) as we have
replicas. It takes one key at a time, and is given fewer of them. With 10,000 agents it has no peer here: making its circle
of 3,000,000 points takes it minutes. Ours takes an Arrow-like column; a list of str is measured too. For the other methods
the peer is the same circle: what they cost beside it.

The target of 20 million hosts per second is absolute: the peer is a line of that rate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from uhashring import HashRing

from bench import Measurement
from crivello.assignment import METHODS, Assignment, hashes
from crivello.lab.assign import generate

BATCH = 100_000
TURNS = 15
REPLICAS = 300
THEIRS = 20_000
ASKED = 20.0
STEPS = 20_000_000
"""What a measurement of min-hash or permutation may look at: hosts times agents."""


def best(work: Callable[[], object]) -> float:
    """Seconds: the shortest of several turns."""
    shortest = float("inf")
    for _ in range(TURNS):
        started = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest


def measure() -> Iterator[Measurement]:
    hosts = generate(BATCH)
    encoded = [host.encode() for host in hosts]
    column = np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    keys = hashes(hosts)
    hashing = BATCH / best(lambda: hashes(column)) / 1e6
    theirs = 0.0
    for agents in (10, 1000, 10_000):
        if agents <= 1000:
            ring = HashRing([str(number) for number in range(agents)], vnodes=REPLICAS)
            some = hosts[:THEIRS]
            theirs = THEIRS / best(lambda: [ring.get_node(host) for host in some]) / 1e6  # noqa: B023
            name = "uhashring"
        else:
            name = "uhashring, 1,000 agents"
        for method in METHODS:
            assignment = Assignment(agents, method, replicas=REPLICAS)
            steps = {"min-hash": agents, "permutation": max(1024, agents) // agents + 1}.get(method, 1)
            count = min(BATCH, max(1000, STEPS // steps))
            part = column[0], column[1][: count + 1]
            rate = count / best(lambda: assignment.agent(part)) / 1e6  # noqa: B023
            what = f"{method}, {agents:,} agents, names in a column"
            yield Measurement(what, rate, name, theirs, "M hosts/s")
            if method == "consistent":
                listed = BATCH / best(lambda: assignment.agent(hosts)) / 1e6  # noqa: B023
                yield Measurement(
                    f"{method}, {agents:,} agents, a list of str", listed, name, theirs, "M hosts/s"
                )
                found = BATCH / best(lambda: assignment.agent(keys)) / 1e6  # noqa: B023
                yield Measurement(
                    f"{method}, {agents:,} agents, hashed before",
                    found,
                    "hashing alone",
                    hashing,
                    "M hosts/s",
                )
            if method == "consistent" and agents == 1000:
                yield Measurement(
                    f"{method}, {agents:,} agents: the rate asked for",
                    rate,
                    "20 M hosts/s",
                    ASKED,
                    "M hosts/s",
                    1.0,
                )
