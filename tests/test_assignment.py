"""The assignment of hosts to agents, against a slow model that is written from docs/assignment.md alone."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello import _core
from crivello.assignment import METHODS, REPLICAS, Assignment, hashes, keys
from crivello.errors import InvalidArgument

HOSTS = [f"www{number % 5}.site-{number}.example" for number in range(400)]
MASK = (1 << 64) - 1
RING, MIN_HASH = 0x636F6E7369737400, 0x6D696E2D68617368


def random(state: int, index: int) -> int:
    """SplitMix64."""
    mixed = (state + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
    return mixed ^ mixed >> 31


def consistent(key: int, agents: dict[int, float], replicas: int) -> int:
    circle = sorted(
        (random(random(RING, agent), replica), agent)
        for agent, weight in agents.items()
        for replica in range(max(1, math.floor(weight * replicas + 0.5)))
    )
    return circle[bisect.bisect_left(circle, (key, -1)) % len(circle)][1]


def min_hash(key: int, agents: dict[int, float]) -> int:
    def cost(agent: int) -> tuple[float, int, int]:
        value = random(key ^ random(MIN_HASH, agent), 0)
        return -math.log1p(-(value >> 11) / 2**53) / agents[agent], value, agent

    return min(agents, key=cost)


def permutation(key: int, agents: dict[int, float], universe: int) -> int:
    order = list(range(universe))
    for index in range(universe):
        other = index + (random(key, index) * (universe - index) >> 64)
        order[index], order[other] = order[other], order[index]
        if order[index] in agents:
            return order[index]
    raise AssertionError("there are agents")


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(0, 40), st.floats(0.1, 4), min_size=1, max_size=8), st.integers(1, 20))
def test_every_method_is_the_documented_one(agents: dict[int, float], replicas: int) -> None:
    some = HOSTS[:40]
    found = [int(key) for key in hashes(some)]
    weighted: dict[str, Any] = {"weights": agents, "replicas": replicas}
    assert Assignment(agents, **weighted).agent(some).tolist() == [
        consistent(key, agents, replicas) for key in found
    ]
    assert Assignment(agents, "min-hash", weights=agents).agent(some).tolist() == [
        min_hash(key, agents) for key in found
    ]
    assert Assignment(agents, "permutation", universe=64).agent(some).tolist() == [
        permutation(key, agents, 64) for key in found
    ]
    ids = sorted(agents)
    assert Assignment(agents, "modulo").agent(some).tolist() == [ids[key % len(ids)] for key in found]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(METHODS)), st.sets(st.integers(0, 1000), min_size=2, max_size=12), st.data())
def test_the_next_agent_is_that_of_the_others(method: str, agents: set[int], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(agents)), max_size=len(agents) - 1))
    whole, rest = Assignment(agents, method), Assignment(agents - gone, method)
    found, left = whole.agent(HOSTS), whole.next_agent(HOSTS, without=gone)
    assert left.tolist() == rest.agent(HOSTS).tolist()
    if method != "modulo":
        assert np.isin(found[found != left], list(gone)).all()


def test_hosts_come_in_many_forms() -> None:
    assignment = Assignment(50)
    found = assignment.agent(HOSTS)
    assert found.dtype == np.uint32 and len(assignment) == 50 and len(set(found.tolist())) > 40
    encoded = [host.encode() for host in HOSTS]
    column = np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    arrow = pyarrow.array(HOSTS)
    chunks = pyarrow.chunked_array([HOSTS[:10], [], HOSTS[10:]])
    same: list[Any] = [encoded, column, hashes(HOSTS), arrow, arrow.cast(pyarrow.large_string()), chunks]
    for hosts in same:
        assert assignment.agent(hosts).tolist() == found.tolist()
        assert assignment.next_agent(hosts, [3]).tolist() == assignment.next_agent(HOSTS, [3]).tolist()
        assert hashes(hosts).tolist() == hashes(HOSTS).tolist()
    assert assignment.agent(arrow[7:9]).tolist() == found[7:9].tolist()
    assert (
        assignment.agent([]).tolist()
        == []
        == assignment.agent(pyarrow.chunked_array([[]], "string")).tolist()
    )


def test_weights_are_by_id_or_in_order() -> None:
    by_id = Assignment([5, 2, 9], weights={2: 3.0})
    assert by_id.weights == {2: 3.0, 5: 1.0, 9: 1.0} and by_id.agents == [2, 5, 9]
    in_order = Assignment([5, 2, 9], weights=[1, 3, 1])
    assert in_order.agent(HOSTS).tolist() == by_id.agent(HOSTS).tolist()
    shares = np.bincount(by_id.agent(HOSTS), minlength=10) / len(HOSTS)
    assert abs(shares[2] - 0.6) < 0.1
    assert repr(by_id) == "<Assignment: 3 agents, consistent>" and by_id.memory > 0


def test_the_methods_are_those_of_the_core() -> None:
    assert list(METHODS) == ["consistent", "min-hash", "permutation", "modulo"] and REPLICAS == 300
    assert [name for name, _ in _core.choices()["assignment-key"]] == ["host", "domain"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"agents": 0}, "at least one agent"),
        ({"agents": [1, 1]}, "given twice"),
        ({"agents": [-1]}, "out of range"),
        ({"agents": 3, "method": "dice"}, "there is no method of assignment"),
        ({"agents": 3, "weights": [1, 2]}, "2 weights for 3 agents"),
        ({"agents": 3, "weights": {7: 1.0}}, "agent 7"),
        ({"agents": 2, "weights": [1, 2], "method": "modulo"}, "equal weights only"),
        ({"agents": 2, "weights": [1, float("inf")]}, "positive number"),
        ({"agents": 3, "replicas": 0}, "at least one replica"),
        ({"agents": [2000], "method": "permutation", "universe": 1024}, "below the universe"),
    ],
)
def test_what_is_no_assignment_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Assignment(**arguments)


def test_what_are_no_hosts_is_refused() -> None:
    assignment = Assignment(3)
    backwards = np.zeros(4, np.uint8), np.array([0, 3, 1], np.int64)
    beyond = np.zeros(4, np.uint8), np.array([0, 5], np.int64)
    wrong: list[Any] = ["example.org", 7, [1], pyarrow.array(["a", None]), backwards, beyond, ([1], [2])]
    for hosts in wrong:
        with pytest.raises(InvalidArgument):
            assignment.agent(hosts)
    with pytest.raises(InvalidArgument, match="no agent is left"):
        assignment.next_agent(HOSTS, without=[0, 1, 2])


def test_keys_are_hosts_or_registrable_domains() -> None:
    urls = ["https://www.example.co.uk:8443/a", "http://127.0.0.1/", "http://a.b.example/"]
    assert keys(urls) == ["www.example.co.uk", "127.0.0.1", "a.b.example"]
    assert keys(urls, "domain") == ["example.co.uk", "127.0.0.1", "b.example"]
    with pytest.raises(InvalidArgument):
        keys(urls, "address")
