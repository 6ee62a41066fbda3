"""Graphs of hosts, domains and components; subgraphs."""

from __future__ import annotations

from collections import Counter

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph

URLS = [
    "http://www.a.example/",
    "https://www.a.example/x",
    "http://a.example/",
    "http://a.example:8080/y",
    "http://b.co.uk/",
    "http://www.b.co.uk/z?u=http://c.example/",
    "http://127.0.0.1/",
]
LINKS = [(0, 2), (1, 2), (1, 3), (0, 1), (2, 4), (5, 4), (4, 6), (6, 6)]


def weights(graph: Graph) -> dict[tuple[str, str], int]:
    offsets, targets, counts = map(np.asarray, graph._arcs.csr())
    sources = np.repeat(np.arange(graph.nodes), (offsets[1:] - offsets[:-1]).astype(np.int64))
    return {
        (graph.name(int(s)), graph.name(int(t))): int(w)
        for s, t, w in zip(sources, targets, counts, strict=True)
    }


def named() -> Graph:
    return Graph.from_arcs([s for s, _ in LINKS], [t for _, t in LINKS], names=URLS)


def test_hosts_have_the_number_of_links_as_weights() -> None:
    hosts = named().collapse("host")
    assert hosts.weighted
    assert [hosts.name(node) for node in range(hosts.nodes)] == [
        "127.0.0.1",
        "a.example",
        "www.a.example",
        "b.co.uk",
        "www.b.co.uk",
    ]
    assert weights(hosts) == {
        ("www.a.example", "a.example"): 3,
        ("a.example", "b.co.uk"): 1,
        ("www.b.co.uk", "b.co.uk"): 1,
        ("b.co.uk", "127.0.0.1"): 1,
    }
    assert hosts.groups is not None
    assert hosts.groups.tolist() == [2, 2, 1, 1, 3, 4, 0]
    assert hosts.groups.counts()["www.a.example"] == 2
    assert hosts.groups.members("www.a.example").tolist() == [0, 1]


def test_domains_are_registrable_domains() -> None:
    domains = named().collapse("domain", loops=True)
    assert weights(domains) == {
        ("a.example", "a.example"): 4,
        ("a.example", "b.co.uk"): 1,
        ("b.co.uk", "b.co.uk"): 1,
        ("b.co.uk", "127.0.0.1"): 1,
        ("127.0.0.1", "127.0.0.1"): 1,
    }
    # Domains from hosts, and the weights add up.
    again = named().collapse("host", loops=True).collapse("domain", loops=True)
    assert weights(again) == weights(domains)


def test_any_function_of_the_name() -> None:
    schemes = named().collapse(lambda url: url.partition(":")[0])
    assert weights(schemes) == {("http", "https"): 1, ("https", "http"): 2}


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.lists(st.integers(0, 5), min_size=12, max_size=12),
    st.booleans(),
    st.booleans(),
)
def test_links_between_groups_are_counted(
    arcs: list[tuple[int, int]], groups: list[int], count: bool, loops: bool
) -> None:
    graph = Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=12, count=count)
    found = graph.collapse(groups, loops=loops)
    links = Counter(
        (str(groups[s]), str(groups[t]))
        for s, t in (arcs if count else set(arcs))
        if loops or groups[s] != groups[t]
    )
    assert found.nodes == max(groups) + 1
    assert weights(found) == links


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_the_condensation_equals_that_of_networkx(arcs: list[tuple[int, int]]) -> None:
    graph = Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=12)
    peer = networkx.DiGraph()
    peer.add_nodes_from(range(12))
    peer.add_edges_from(arcs)
    expected = networkx.condensation(peer)
    found = graph.condensation()
    assert found.groups is not None
    number = {expected.graph["mapping"][v]: str(found.groups[v]) for v in range(12)}
    assert set(weights(found)) == {(number[s], number[t]) for s, t in expected.edges}


def test_a_subgraph_keeps_names_and_weights() -> None:
    graph = Graph.from_arcs([0, 0, 1, 3, 2], [1, 1, 3, 0, 2], names=["a", "b", "c", "d"], count=True)
    part = graph.subgraph([3, 0, 1])
    assert weights(part) == {("a", "b"): 2, ("b", "d"): 1, ("d", "a"): 1}
    assert weights(graph.subgraph(np.array([True, True, False, True]))) == weights(part)
    assert graph.subgraph(np.zeros(0, np.int64)).nodes == 0


def test_what_cannot_be_grouped_is_said() -> None:
    graph = Graph.from_arcs([0], [1])
    with pytest.raises(InvalidArgument, match="no names to group by"):
        graph.collapse("host")
    with pytest.raises(InvalidArgument, match="no grouping 'site'"):
        named().collapse("site")
    with pytest.raises(InvalidArgument, match="groups of 1 nodes for 2 nodes"):
        graph.collapse([0])
    with pytest.raises(InvalidArgument, match="-1 is not a node"):
        graph.collapse([0, -1])
    with pytest.raises(InvalidArgument, match="no node 2"):
        graph.subgraph([2])
    with pytest.raises(InvalidArgument, match="truth values"):
        graph.subgraph([True])
    with pytest.raises(InvalidArgument, match="no group 4294967295"):
        graph.collapse([0, 2**32 - 1])
