"""Components, paths and the bow-tie, beside networkx, igraph and SciPy."""

from __future__ import annotations

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.groups import Groups

NODES = 12
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=30)
Arc = tuple[int, int]


def graph_of(arcs: list[Arc], nodes: int = NODES) -> Graph:
    return Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=nodes)


def digraph(arcs: list[Arc]) -> networkx.DiGraph:
    made = networkx.DiGraph()
    made.add_nodes_from(range(NODES))
    made.add_edges_from(arcs)
    return made


def partition(groups: Groups) -> list[list[int]]:
    return [groups.members(group).tolist() for group in range(len(groups.sizes))]


@given(ARCS)
def test_components_equal_networkx_in_the_promised_order(arcs: list[Arc]) -> None:
    graph, peer = graph_of(arcs), digraph(arcs)
    for found, expected in (
        (graph.strong_components(), networkx.strongly_connected_components(peer)),
        (graph.weak_components(), networkx.weakly_connected_components(peer)),
    ):
        assert found.dtype == np.uint32
        assert found.sizes.tolist() == [len(group) for group in partition(found)]
        assert partition(found) == sorted(map(sorted, expected), key=lambda group: (-len(group), group))


@pytest.mark.parametrize("arcs", [0, 3000, 12_000, 40_000])
def test_components_equal_igraph_and_scipy(arcs: int) -> None:
    source = np.random.default_rng(arcs)
    ends = source.integers(0, 10_000, (2, arcs))
    graph = Graph.from_arcs(*ends, nodes=10_000)
    import scipy.sparse

    matrix = scipy.sparse.coo_matrix((np.ones(arcs), tuple(ends)), shape=(10_000, 10_000))
    peer = igraph.Graph(n=10_000, edges=ends.T, directed=True)
    for found, kind in ((graph.strong_components(), "strong"), (graph.weak_components(), "weak")):
        count, labels = scipy.sparse.csgraph.connected_components(matrix, connection=kind)
        assert len(found.sizes) == count == len(set(zip(found.tolist(), labels.tolist(), strict=True)))
        assert sorted(peer.connected_components(mode=kind).sizes(), reverse=True) == found.sizes.tolist()


def test_a_path_of_a_million_nodes() -> None:
    nodes = 1_000_000
    graph = Graph.from_arcs(np.arange(nodes - 1), np.arange(1, nodes))
    assert len(graph.strong_components().sizes) == nodes
    assert graph.weak_components().sizes.tolist() == [nodes]
    path = graph.path(0, nodes - 1)
    assert path is not None
    assert (path == np.arange(nodes)).all()
    assert not graph.reaches(nodes - 1, 0)
    assert graph.bow_tie().counts()["out"] == nodes - 1


@given(ARCS, st.integers(0, NODES - 1), st.integers(0, NODES - 1))
def test_a_path_is_a_shortest_one(arcs: list[Arc], source: int, target: int) -> None:
    graph, peer = graph_of(arcs), digraph(arcs)
    path = graph.path(source, target)
    assert graph.reaches(source, target) == networkx.has_path(peer, source, target)
    if path is None:
        assert not networkx.has_path(peer, source, target)
        return
    assert (path[0], path[-1]) == (source, target)
    assert len(path) == networkx.shortest_path_length(peer, source, target) + 1
    assert all(peer.has_edge(*arc) for arc in zip(path[:-1].tolist(), path[1:].tolist(), strict=True))


def test_nodes_have_names() -> None:
    graph = Graph.from_arcs([0, 1], [1, 2], names=["a", "b", "c"])
    path = graph.path("a", "c")
    assert path is not None
    assert [graph.name(node) for node in path] == ["a", "b", "c"]
    assert graph.path("c", "a") is None
    with pytest.raises(InvalidArgument, match="no node d"):
        graph.path("a", "d")


def test_the_bow_tie_of_a_drawn_one() -> None:
    core, before, after = [(0, 1), (1, 2), (2, 0)], [(3, 4), (4, 0)], [(1, 5), (5, 6)]
    tube, tendrils, apart = [(3, 7), (7, 6)], [(4, 8), (9, 5), (10, 8)], [(11, 11)]
    found = graph_of(core + before + after + tube + tendrils + apart).bow_tie()
    assert found.counts() == {"core": 3, "in": 2, "out": 2, "tubes": 1, "tendrils": 3, "disconnected": 1}
    assert found.members("tendrils").tolist() == [8, 9, 10]
    assert found.members("tubes").tolist() == [7]


@given(ARCS)
def test_the_bow_tie_equals_reachability(arcs: list[Arc]) -> None:
    found, peer = graph_of(arcs).bow_tie(), digraph(arcs)
    core = max(networkx.strongly_connected_components(peer), key=lambda group: (len(group), -min(group)))
    one = min(core)
    reached, reaches = networkx.descendants(peer, one) - core, networkx.ancestors(peer, one) - core
    joined = networkx.node_connected_component(peer.to_undirected(), one)
    from_in = set().union(*(networkx.descendants(peer, v) for v in reaches))
    to_out = set().union(*(networkx.ancestors(peer, v) for v in reached))
    tubes = (from_in & to_out) - core - reached - reaches
    rest = set(range(NODES)) - core - reached - reaches - tubes
    expected = [core, reaches, reached, tubes, rest & joined, rest - joined]
    assert [set(found.members(place).tolist()) for place in range(6)] == expected


def test_groups_know_their_groups() -> None:
    graph = graph_of([(0, 1), (1, 0)], nodes=3)
    groups = graph.strong_components()
    assert (groups.sizes.tolist(), groups.counts(), groups.names) == ([2, 1], {"0": 2, "1": 1}, None)
    part = groups[:1]
    assert isinstance(part, Groups)
    assert len(part.sizes) == 0
    empty = graph_of([], nodes=0)
    assert (len(empty.strong_components()), len(empty.weak_components().sizes)) == (0, 0)
    assert sum(empty.bow_tie().counts().values()) == 0
