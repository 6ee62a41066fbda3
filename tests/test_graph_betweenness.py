"""Betweenness: exact beside networkx, igraph and NetworKit; estimated within its promise; by random walks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import Progress
from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES

NODES = 12
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)
DATA = Path(os.environ.get("CRIVELLO_DATA", "data")) / "graph"


def graph_of(arcs: list[tuple[int, int]], nodes: int = NODES, count: bool = True) -> Graph:
    return Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=nodes, count=count)


def digraph(graph: Graph) -> networkx.DiGraph:
    made = networkx.DiGraph()
    made.add_nodes_from(range(graph.nodes))
    made.add_edges_from((v, int(w)) for v in range(graph.nodes) for w in graph.successors(v))
    return made


def arcs_of(graph: Graph) -> list[tuple[int, int]]:
    return [(v, int(w)) for v in range(graph.nodes) for w in graph.successors(v)]


def random_graph(nodes: int, arcs: int, seed: int) -> Graph:
    """Heavy-tailed degrees, dangling nodes, self-loops, parallel arcs, several components."""
    source = np.random.default_rng(seed)
    ends = [np.minimum(source.pareto(1.2, arcs) * nodes / 20, nodes - 1).astype(np.int64) for _ in range(2)]
    order = source.permutation(nodes)
    return Graph.from_arcs(order[ends[0]], order[ends[1]], nodes=nodes, count=True)


@given(ARCS, st.booleans())
def test_equals_networkx(arcs: list[tuple[int, int]], normalized: bool) -> None:
    graph = graph_of(arcs)
    expected = networkx.betweenness_centrality(digraph(graph), normalized=normalized)
    found = graph.betweenness(normalized=normalized)
    np.testing.assert_allclose(found, [expected[v] for v in range(NODES)], rtol=1e-8, atol=1e-12)
    assert (found.measure, found.error, found.confidence) == ("betweenness", None, None)


def test_parallel_arcs_make_more_paths_only_if_asked() -> None:
    graph = graph_of([(0, 1), (0, 1), (0, 1), (0, 2), (1, 3), (2, 3), (3, 3)], nodes=4)
    assert graph.betweenness().tolist() == [0, 0.5, 0.5, 0]
    assert graph.betweenness(multiplicity=True).tolist() == [0, 0.75, 0.25, 0]
    sampled = graph.betweenness(multiplicity=True, method="sampled", error=0.02, confidence=0.999)
    np.testing.assert_allclose(sampled, [0, 0.75, 0.25, 0], atol=0.02 * 6)


@pytest.mark.parametrize("seed", [1, 2])
def test_equals_igraph_and_networkit_on_larger_graphs(seed: int) -> None:
    import networkit  # takes seconds, so only the process that runs this test loads it

    graph = random_graph(2000, 12_000, seed)
    found = graph.betweenness()
    arcs = arcs_of(graph)
    theirs = igraph.Graph(n=graph.nodes, edges=arcs, directed=True).betweenness()
    np.testing.assert_allclose(found, theirs, rtol=1e-8, atol=1e-6)
    peer = networkit.Graph(graph.nodes, directed=True)
    for source, target in arcs:
        if source != target:
            peer.addEdge(source, target)
    theirs = networkit.centrality.Betweenness(peer).run().scores()
    np.testing.assert_allclose(found, theirs, rtol=1e-8, atol=1e-6)


@pytest.mark.skipif(not DATA.exists(), reason="needs the graphs of CRIVELLO_DATA")
def test_equals_igraph_on_the_votes_of_wikipedia() -> None:
    ids, numbers = np.unique(np.loadtxt(DATA / "wiki-Vote.txt", dtype=np.int64), return_inverse=True)
    arcs = numbers.reshape(-1, 2)
    graph = Graph.from_arcs(arcs[:, 0], arcs[:, 1], nodes=len(ids))
    exact = graph.betweenness()
    theirs = igraph.Graph(n=len(ids), edges=arcs, directed=True).betweenness()
    np.testing.assert_allclose(exact, theirs, rtol=1e-8, atol=1e-6)
    sampled = graph.betweenness(method="sampled", error=0.002)
    assert isinstance(sampled.error, float)
    assert sampled.confidence == 0.9
    assert np.abs(sampled - exact).max() <= sampled.error
    assert sampled.iterations is not None
    assert 10_000 < sampled.iterations < 100_000


def test_estimates_keep_their_promise() -> None:
    graph = random_graph(400, 2000, 7)
    exact = graph.betweenness(normalized=True)
    assert exact.max() > 0.03
    for confidence in (0.5, 0.9):
        wrong = 0
        for seed in range(60):
            found = graph.betweenness(
                method="sampled", normalized=True, error=0.01, confidence=confidence, seed=seed
            )
            assert (found.error, found.confidence) == (0.01, confidence)
            wrong += bool(np.abs(found - exact).max() > 0.01)
        assert wrong / 60 <= 1 - confidence


def test_estimates_have_no_bias() -> None:
    graph = random_graph(60, 240, 3)
    exact = graph.betweenness(normalized=True)
    mean = np.mean(
        [graph.betweenness(method="sampled", normalized=True, error=0.02, seed=seed) for seed in range(300)],
        axis=0,
    )
    np.testing.assert_allclose(mean, exact, atol=0.0015)


@settings(max_examples=40)
@given(ARCS)
def test_random_walks_equal_networkx(arcs: list[tuple[int, int]]) -> None:
    graph = graph_of(arcs)
    both = digraph(graph).to_undirected()
    both.remove_edges_from(list(networkx.selfloop_edges(both)))
    found = graph.random_walk_betweenness()
    for component in networkx.connected_components(both):
        if len(component) < 3:
            assert all(found[v] == 0 for v in component)
            continue
        part = both.subgraph(component)
        expected = networkx.current_flow_betweenness_centrality(part, normalized=True)
        pairs = (len(component) - 1) * (len(component) - 2) / 2
        np.testing.assert_allclose(
            [found[v] / pairs for v in component], [expected[v] for v in component], rtol=1e-8, atol=1e-9
        )


def test_random_walks_equal_networkx_on_a_larger_graph() -> None:
    graph = random_graph(150, 600, 5)
    component = graph.weak_components()
    part = graph.subgraph(component.members(0))
    both = digraph(part).to_undirected()
    both.remove_edges_from(list(networkx.selfloop_edges(both)))
    expected = networkx.current_flow_betweenness_centrality(both, solver="full")
    found = part.random_walk_betweenness(normalized=True)
    np.testing.assert_allclose(found, [expected[v] for v in range(part.nodes)], rtol=1e-8, atol=1e-12)


def test_random_walks_heal_the_bridge() -> None:
    """Of two cliques joined by a node, one more arc between them takes its betweenness, not its flow."""
    cliques = [(a, b) for start in (0, 5) for a in range(start, start + 5) for b in range(start, start + 5)]
    bridge = [(0, 10), (10, 0), (5, 10), (10, 5)]
    before, after = (graph_of(cliques + bridge + more, nodes=11) for more in ([], [(0, 5), (5, 0)]))
    assert (before.betweenness()[10], after.betweenness()[10]) == (50, 0)
    assert before.random_walk_betweenness()[10] == pytest.approx(25)
    assert after.random_walk_betweenness()[10] > 8


@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
def test_tiny_graphs(nodes: int) -> None:
    graph = graph_of([], nodes=nodes)
    for name in ("betweenness", "random-walk-betweenness"):
        assert MEASURES[name](graph, normalized=True).tolist() == [0.0] * nodes
    assert graph.betweenness(method="sampled").tolist() == [0.0] * nodes


def test_what_cannot_be_done_is_said() -> None:
    graph = random_graph(10, 20, 1)
    with pytest.raises(InvalidArgument, match="no method 'fast'"):
        graph.betweenness(method="fast")  # type: ignore[arg-type]
    for wrong in ({"error": 0}, {"error": float("nan")}, {"confidence": 1}, {"seed": -1}):
        with pytest.raises(InvalidArgument):
            graph.betweenness(method="sampled", **wrong)
    path = Graph.from_arcs(np.arange(20_000), np.arange(20_000) + 1)
    with pytest.raises(InvalidArgument, match=r"20001 nodes would take 6\.0 GiB"):
        path.random_walk_betweenness()
    progress = Progress()
    graph.showing(progress).betweenness()
    assert progress.done[0] == progress.done[1] > 0


def test_has_the_same_bits_on_any_number_of_threads() -> None:
    program = """
import hashlib
import numpy as np
from crivello.graph.graph import Graph
ends = np.minimum(np.random.default_rng(4).pareto(1.2, (2, 3000)) * 30, 599).astype(np.int64)
graph = Graph.from_arcs(*ends)
values = [graph.betweenness(), graph.betweenness(method="sampled"), graph.random_walk_betweenness()]
print(hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "RAYON_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 3)
    }
    assert len(found) == 1
