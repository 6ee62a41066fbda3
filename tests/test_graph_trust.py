"""Measures that resist spam: those of hosts, and TrustRank."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES

NODES = 10
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=30)
URLS = [f"http://{host}.example/{page}" for host in ("a", "b", "c") for page in range(3)]


@settings(max_examples=50)
@given(ARCS, st.sets(st.integers(0, NODES - 1), min_size=1))
def test_trust_solves_its_equation(arcs: list[tuple[int, int]], seeds: set[int]) -> None:
    graph = Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=NODES)
    jump = np.zeros(NODES)
    jump[list(seeds)] = 1 / len(seeds)
    matrix = np.zeros((NODES, NODES))
    for source, target in arcs:
        matrix[target, source] = 1
    sums = matrix.sum(axis=0)
    matrix = np.where(sums > 0, matrix / np.maximum(sums, 1), jump[:, None])
    expected = np.linalg.solve(np.eye(NODES) - 0.85 * matrix, 0.15 * jump)
    found = graph.trustrank(seeds=seeds, tolerance=1e-13)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert found.measure == "trustrank"


def test_trust_does_not_reach_a_farm_that_links_to_itself() -> None:
    good, farm = [(0, 1), (1, 2), (2, 0)], [(v, 3) for v in range(4, 10)]
    graph = Graph.from_arcs(*zip(*(good + farm), strict=True), names=[f"n{v}" for v in range(10)])
    trust = graph.trustrank(seeds=["n0"])
    assert trust[3:].tolist() == [0.0] * 7
    assert trust.sum() == pytest.approx(1)
    assert graph.trustrank(seeds="n0").tolist() == trust.tolist()
    assert graph.trustrank(seeds=0).tolist() == trust.tolist()
    # Without seeds: the nodes that reach most are 0, 1 and 2.
    assert graph.trustrank(selected=3)[3] == 0
    for seeds in ([], ["n10"]):
        with pytest.raises(InvalidArgument):
            graph.trustrank(seeds=seeds)
    with pytest.raises(InvalidArgument, match="0 seeds cannot be selected"):
        graph.trustrank(selected=0)


def test_pages_have_the_values_of_their_hosts() -> None:
    source = np.random.default_rng(1)
    ends = source.integers(0, 9, (2, 30))
    graph = Graph.from_arcs(*ends, names=URLS, count=True)
    hosts = networkx.DiGraph()
    hosts.add_nodes_from(range(3))
    for one, other in (ends // 3).T.tolist():
        if one != other:
            weight = hosts.get_edge_data(one, other, {"weight": 0})["weight"]
            hosts.add_edge(one, other, weight=weight + 1)
    pagerank = networkx.pagerank(hosts, tol=1e-14)
    found = MEASURES["host-pagerank"](graph)
    assert (found.measure, found.converged) == ("host-pagerank", True)
    np.testing.assert_allclose(found, [pagerank[page // 3] for page in range(9)], atol=1e-8)
    harmonic = networkx.harmonic_centrality(hosts)
    np.testing.assert_allclose(graph.host_harmonic(), [harmonic[page // 3] for page in range(9)], rtol=1e-9)
    assert len(set(graph.host_pagerank(by="domain").tolist())) == 3
    with pytest.raises(InvalidArgument, match="no names"):
        Graph.from_arcs([0], [1]).host_pagerank()
