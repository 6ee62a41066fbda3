"""The spectral measures: against dense models written from the formulas, and against other libraries."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES, named

NODES = 9
PAIRS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=30)
WIKI_VOTE = Path(os.environ.get("CRIVELLO_DATA", "../shared/data")) / "graph" / "wiki-Vote.txt"
Arcs = list[tuple[int, int]]


def made(arcs: Arcs, nodes: int = NODES, count: bool = True) -> Graph:
    return Graph.from_arcs([s for s, _ in arcs], [t for _, t in arcs], nodes=nodes, count=count)


def dense(arcs: Arcs, weighted: bool = True, nodes: int = NODES) -> NDArray[np.float64]:
    matrix = np.zeros((nodes, nodes))
    for (source, target), number in Counter(arcs).items():
        matrix[source, target] = number if weighted else 1
    return matrix


def generated(nodes: int, arcs: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A graph with hubs, dangling nodes, self-loops, parallel arcs, cycles and paths."""
    random = np.random.default_rng(seed)
    sources = (random.random(arcs) ** 1.5 * nodes * 0.8).astype(np.int64)
    near = np.clip(sources + random.integers(-30, 31, arcs), 0, nodes - 1)
    far = (random.random(arcs) ** 3 * nodes).astype(np.int64)
    return sources, np.where(random.random(arcs) < 0.6, near, far)


@pytest.fixture(scope="module")
def large() -> tuple[Graph, igraph.Graph]:
    sources, targets = generated(20_000, 300_000, 7)
    graph = Graph.from_arcs(sources, targets, nodes=20_000)
    pairs = np.unique(np.stack([sources, targets], 1), axis=0)
    return graph, igraph.Graph(n=20_000, edges=pairs, directed=True)


@pytest.fixture(scope="module")
def wiki() -> tuple[Graph, networkx.DiGraph]:
    if not WIKI_VOTE.exists():
        pytest.skip(f"{WIKI_VOTE} is not there: set CRIVELLO_DATA to the folder with graph/wiki-Vote.txt")
    pairs = np.loadtxt(WIKI_VOTE, dtype=np.int64)
    names, numbers = np.unique(pairs, return_inverse=True)
    numbers = numbers.reshape(pairs.shape)
    peer: networkx.DiGraph = networkx.DiGraph()
    peer.add_nodes_from(range(len(names)))
    peer.add_edges_from(numbers.tolist())
    return Graph.from_arcs(numbers[:, 0], numbers[:, 1], nodes=len(names)), peer


def values(of: dict[int, float]) -> NDArray[np.float64]:
    return np.array([of[node] for node in range(len(of))])


# PageRank


def exact_pagerank(
    matrix: NDArray[np.float64],
    damping: float,
    preference: NDArray[np.float64],
    jump: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """r = α Pᵀr + α r(D) u + (1 − α) v, as a linear system; no ``jump``: dangling nodes are left only by it."""
    nodes = len(matrix)
    steps = np.zeros((nodes, nodes))
    for node, row in enumerate(matrix):
        if row.sum():
            steps[node] = row / row.sum()
        elif jump is None:
            steps[node, node] = 1
        else:
            steps[node] = jump
    solved = np.linalg.solve(np.eye(nodes) - damping * steps.T, (1 - damping) * preference)
    return solved.astype(np.float64)


@settings(max_examples=150, deadline=None)
@given(
    PAIRS,
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.85, 0.97]),
    st.lists(st.floats(0, 1), min_size=2 * NODES, max_size=2 * NODES),
    st.sampled_from(["preference", "uniform", "stay", "weights"]),
    st.sampled_from(["gauss-seidel", "power"]),
    st.sampled_from([1e-3, 1e-6, 1e-10]),
)
def test_pagerank_is_within_its_tolerance_of_the_solution(
    arcs: Arcs,
    weighted: bool,
    damping: float,
    numbers: list[float],
    dangling: str,
    method: str,
    tolerance: float,
) -> None:
    preference = np.array(numbers[:NODES]) + (0.0 if sum(numbers[:NODES]) > 1e-3 else 1.0)
    weights = np.array(numbers[NODES:]) + (0.0 if sum(numbers[NODES:]) > 1e-3 else 1.0)
    jump = {"preference": preference, "uniform": np.ones(NODES), "stay": None, "weights": weights}[dangling]
    expected = exact_pagerank(
        dense(arcs, weighted),
        damping,
        preference / preference.sum(),
        None if jump is None else jump / jump.sum(),
    )
    found = made(arcs).pagerank(
        damping=damping,
        tolerance=tolerance,
        iterations=3000,
        preference=preference,
        dangling=weights if dangling == "weights" else dangling,
        method=method,  # type: ignore[arg-type]
        weighted=weighted,
    )
    assert found.converged
    assert found.sum() == pytest.approx(1)
    assert np.abs(found - expected).sum() <= tolerance + 1e-13
    assert found.residual is not None and found.residual <= tolerance


@settings(max_examples=25, deadline=None)
@given(PAIRS, st.integers(1, 11), st.sampled_from(["preference", "uniform"]))
def test_topics_are_computed_together_as_if_one_by_one(arcs: Arcs, count: int, dangling: str) -> None:
    graph = made(arcs)
    topics = np.random.default_rng(count).random((count, NODES))
    together = graph.topic_pagerank(topics, tolerance=1e-12, dangling=dangling)  # type: ignore[arg-type]
    assert len(together) == count
    for topic, ranks in zip(topics, together, strict=True):
        alone = graph.pagerank(preference=topic, tolerance=1e-12, dangling=dangling)
        np.testing.assert_allclose(ranks, alone, rtol=1e-9)


def test_pagerank_of_a_large_graph_is_that_of_igraph(large: tuple[Graph, igraph.Graph]) -> None:
    graph, peer = large
    expected = np.array(peer.pagerank(damping=0.85))
    for method in ("gauss-seidel", "power"):
        found = graph.pagerank(tolerance=1e-13, method=method)
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    rough = graph.pagerank(tolerance=1e-6)
    assert rough.iterations is not None and found.iterations is not None
    assert np.abs(rough - found).sum() < 1e-6
    assert rough.iterations < found.iterations


def test_personalised_pagerank_is_that_of_networkx(wiki: tuple[Graph, networkx.DiGraph]) -> None:
    graph, peer = wiki
    seeds = {3: 1.0, 77: 2.0, 500: 0.5}
    everywhere = dict.fromkeys(range(graph.nodes), 1.0)
    for dangling, theirs in (("preference", None), ("uniform", everywhere)):
        found = graph.pagerank(preference=seeds, dangling=dangling, tolerance=1e-13)
        expected = networkx.pagerank(peer, personalization=seeds, dangling=theirs, tol=1e-17, max_iter=500)
        np.testing.assert_allclose(found, values(expected), rtol=1e-8, atol=1e-15)


def test_weights_are_numbers_of_links_and_nodes_can_be_given_in_several_ways() -> None:
    graph = Graph.from_arcs([0, 0, 0, 1], [1, 1, 2, 0], names=["a", "b", "c"], count=True)
    assert graph.pagerank()[1] > graph.pagerank()[2]
    unweighted = graph.pagerank(weighted=False)
    assert unweighted[1] == pytest.approx(unweighted[2])
    expected = graph.pagerank(preference=np.array([0, 1.0, 1.0]))
    for same in ([1, 2], ["b", "c"], {"b": 3, "c": 3}, {1, 2}, np.array([False, True, True]), {1: 1, 2: 1}):
        np.testing.assert_array_equal(graph.pagerank(preference=same), expected)


def test_several_sizes_of_threads_give_the_same_bits(tmp_path: Path) -> None:
    np.save(tmp_path / "arcs.npy", generated(30_000, 600_000, 3))
    program = """
import hashlib, sys
import numpy as np
from crivello.graph.graph import Graph
sources, targets = np.load(sys.argv[1])
graph = Graph.from_arcs(sources, targets, nodes=30_000, count=True)
digest = hashlib.sha256()
for scores in (
    graph.pagerank(), graph.pagerank(method="power"), *graph.topic_pagerank([[1], [2], [3]], dangling="uniform"),
    graph.eigenvector(tolerance=1e-6), graph.seeley(tolerance=1e-4), graph.katz(), *graph.hits(), graph.salsa(),
):
    digest.update(np.ascontiguousarray(scores).tobytes())
print(digest.hexdigest())
"""
    digests = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "RAYON_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", program, tmp_path / "arcs.npy"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1
    assert digests != {hashlib.sha256().hexdigest() + "\n"}


# Eigenvectors and walks


def strong(arcs: Arcs) -> Arcs:
    """The arcs, and a cycle with a chord through all nodes: strongly connected and aperiodic."""
    return [*arcs, *((node, (node + 1) % NODES) for node in range(NODES)), (0, 2)]


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.booleans())
def test_eigenvector_katz_seeley_and_hits_solve_their_equations(arcs: Arcs, weighted: bool) -> None:
    arcs = strong(arcs)
    graph, matrix = made(arcs), dense(arcs, weighted)
    largest = max(np.linalg.eigvals(matrix), key=lambda value: value.real).real
    found = graph.eigenvector(tolerance=1e-14, weighted=weighted)
    np.testing.assert_allclose(matrix.T @ found, largest * found, rtol=1e-8)
    assert np.linalg.norm(found) == pytest.approx(1)
    assert graph.eigenvalue(tolerance=1e-13, weighted=weighted) == pytest.approx(largest, rel=1e-9)
    steps = matrix / matrix.sum(axis=1, keepdims=True)
    found = graph.seeley(tolerance=1e-14, weighted=weighted)
    np.testing.assert_allclose(steps.T @ found, found, rtol=1e-8)
    assert found.sum() == pytest.approx(1)
    for beta in (None, 0.5 / largest, 0.97 / largest):
        found = graph.katz(attenuation=beta, tolerance=1e-14, weighted=weighted)
        used = 0.85 / largest if beta is None else beta
        expected = np.linalg.solve(np.eye(NODES) - used * matrix.T, np.ones(NODES))
        np.testing.assert_allclose(found, expected, rtol=1e-4 if beta is None else 1e-9)
    hubs, authorities = graph.hits(tolerance=1e-15, weighted=weighted, iterations=100_000)
    if hubs.converged:
        up, down = matrix @ authorities, matrix.T @ hubs
        np.testing.assert_allclose(hubs, up / up.sum(), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(authorities, down / down.sum(), rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.booleans(), st.booleans())
def test_salsa_is_the_limit_of_its_walk(arcs: Arcs, weighted: bool, hubs: bool) -> None:
    matrix = dense(arcs, weighted)
    matrix = matrix.T if hubs else matrix
    incoming, outgoing = matrix.sum(axis=0), matrix.sum(axis=1)
    back = np.divide(matrix.T, incoming[:, None], out=np.zeros_like(matrix), where=incoming[:, None] > 0)
    forth = np.divide(matrix, outgoing[:, None], out=np.zeros_like(matrix), where=outgoing[:, None] > 0)
    walk = back @ forth
    place = (incoming > 0) / max((incoming > 0).sum(), 1)
    place = place @ np.linalg.matrix_power((walk + np.eye(NODES)) / 2, 1 << 20)
    found = made(arcs).salsa(hubs=hubs, weighted=weighted)
    np.testing.assert_allclose(found, place, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.integers(0, 6), st.booleans())
def test_walks_are_powers_of_the_matrix(arcs: Arcs, length: int, weighted: bool) -> None:
    graph = made(arcs)
    power = np.linalg.matrix_power(dense(arcs, weighted), length)
    np.testing.assert_array_equal(graph.walks(length=length, weighted=weighted), power.sum(axis=0))
    np.testing.assert_array_equal(
        graph.walks(length=length, start={4: 2.5}, weighted=weighted), 2.5 * power[4]
    )
    np.testing.assert_array_equal(graph.path_matrix(length, weighted=weighted), power)
    assert graph.paths(length, 1, 7, weighted=weighted) == power[1, 7]


def test_numbers_of_walks_are_exact_or_refused() -> None:
    graph = Graph.from_arcs([0, 0, 1, 1], [0, 1, 0, 1])
    assert graph.paths(121, 0, 1) == 2**120
    with pytest.raises(InvalidArgument, match=r"2\^128 or more walks of length 129"):
        graph.paths(150, 0, 1)
    assert graph.path_matrix(64)[0, 0] == 2**63
    with pytest.raises(InvalidArgument, match=r"2\^64 or more walks"):
        graph.path_matrix(65)
    assert graph.walks(length=150)[0] == 2.0**150


def test_wiki_vote_is_as_others_have_it(wiki: tuple[Graph, networkx.DiGraph]) -> None:
    graph, peer = wiki
    expected = values(networkx.eigenvector_centrality(peer, tol=1e-13, max_iter=10_000))
    found = graph.eigenvector(tolerance=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    beta = 0.5 / graph.eigenvalue()
    expected = values(
        networkx.katz_centrality(peer, alpha=beta, tol=1e-14, max_iter=10_000, normalized=False)
    )
    np.testing.assert_allclose(graph.katz(attenuation=beta, tolerance=1e-14), expected, rtol=1e-8)
    hubs, authorities = networkx.hits(peer, tol=1e-15, max_iter=10_000)
    ours = graph.hits(tolerance=1e-15)
    np.testing.assert_allclose(ours[0], values(hubs), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours[1], values(authorities), rtol=1e-8, atol=1e-12)


@pytest.mark.filterwarnings("ignore:More than 30% of hub")
def test_a_large_graph_is_as_others_have_it(large: tuple[Graph, igraph.Graph]) -> None:
    import networkit  # takes seconds, so only the process that runs this test loads it
    import scipy.sparse

    graph, peer = large
    other = networkit.Graph(graph.nodes, directed=True)
    for source, target in peer.get_edgelist():
        other.addEdge(source, target)
    # NetworKit's Katz scores do not solve Katz's equation on this graph, so the equation itself is the model.
    beta = 0.5 / graph.eigenvalue()
    ends = np.array(peer.get_edgelist())
    matrix = scipy.sparse.csc_array((np.ones(len(ends)), ends[:, ::-1].T), shape=(graph.nodes, graph.nodes))
    found = graph.katz(attenuation=beta, tolerance=1e-14)
    np.testing.assert_allclose(found, 1 + beta * (matrix @ found), rtol=1e-10)
    eigenvector = networkit.centrality.EigenvectorCentrality(other, 1e-13)
    eigenvector.run()
    expected = np.array(eigenvector.scores())
    found = graph.eigenvector(tolerance=1e-14)
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), rtol=1e-6, atol=1e-9)
    ours = graph.hits(tolerance=1e-15)
    for scores, theirs in zip(ours, (peer.hub_score(), peer.authority_score()), strict=True):
        np.testing.assert_allclose(scores / scores.max(), theirs, rtol=1e-8, atol=1e-10)


# Special graphs, and refusals


def test_periodic_graphs_converge() -> None:
    cycle = Graph.from_arcs([0, 1, 2, 3], [1, 2, 3, 0])
    for scores in (cycle.pagerank(), cycle.seeley(), cycle.eigenvector() ** 2):
        np.testing.assert_allclose(scores, 0.25)
    star = Graph.from_arcs([0, 0, 1, 2], [1, 2, 0, 0])
    np.testing.assert_allclose(star.seeley(), [0.5, 0.25, 0.25], rtol=1e-6)
    np.testing.assert_allclose(star.eigenvector(), [0.5**0.5, 0.5, 0.5], rtol=1e-6)


def test_a_graph_without_cycles_has_no_eigenvector_but_has_the_rest() -> None:
    path = Graph.from_arcs([0, 1], [1, 2])
    with pytest.raises(InvalidArgument, match="without cycles has no dominant eigenvector"):
        path.eigenvector()
    np.testing.assert_allclose(path.katz(), [1, 1.85, 1 + 0.85 * 1.85])
    np.testing.assert_allclose(path.katz(attenuation=7, preference=[0]), [1, 7, 49])
    assert path.pagerank().iterations == 0
    np.testing.assert_allclose(path.seeley(tolerance=1e-13), np.array([1, 2, 3]) / 6)


def test_the_smallest_graphs() -> None:
    spectral = [measure for measure in MEASURES.values() if measure.family == "spectral"]
    names = {
        "pagerank", "eigenvector", "seeley", "katz", "hubs", "authorities", "salsa", "salsa-hubs", "walks",
    }  # fmt: skip
    assert {measure.name for measure in spectral} == names
    empty, one, loop = (Graph.from_arcs([], [], nodes=count) for count in (0, 1, 1))
    loop = Graph.from_arcs([0], [0])
    for measure in spectral:
        if measure.name != "eigenvector":
            assert measure(empty).tolist() == []
            assert len(measure(one)) == 1
        scores = measure(loop)
        assert np.isfinite(scores).all() and scores[0] > 0 and scores.converged
        assert scores.measure == measure.name
    assert one.pagerank().tolist() == [1]
    assert one.hubs().tolist() == [0]
    assert empty.topic_pagerank([]) == []


def test_an_iteration_that_was_cut_short_says_so() -> None:
    graph = Graph.from_arcs(*generated(200, 1500, 5), nodes=200)
    for name in ("pagerank", "eigenvector", "seeley", "katz", "hubs"):
        scores = named(name)(graph, iterations=2, tolerance=1e-12)
        assert (scores.converged, scores.iterations) == (False, 2)
        assert scores.residual is not None and scores.residual > 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": 1}, "damping is 1, and must be at least 0 and below 1"),
        ({"damping": -0.1}, "damping is -0.1"),
        ({"damping": float("nan")}, "damping is NaN"),
        ({"tolerance": -1.0}, "tolerance is -1"),
        ({"tolerance": float("nan")}, "tolerance is NaN"),
        ({"iterations": 0}, "at least one iteration"),
        ({"iterations": -1}, "iterations must be a whole number"),
        ({"iterations": 1.5}, "iterations must be a whole number"),
        ({"method": "newton"}, "no method"),
        ({"dangling": "nowhere"}, "dangling nodes cannot be treated by 'nowhere'"),
        ({"preference": np.array([1.0, float("nan"), 0])}, "preference of node 1 is NaN"),
        ({"preference": np.array([1.0, -1.0, 0])}, "preference of node 1 is -1"),
        ({"preference": np.array([1.0, float("inf"), 0])}, "preference of node 1 is inf"),
        ({"preference": np.array([1.0, 2.0])}, "has 2 numbers for 3 nodes"),
        ({"preference": np.zeros(3)}, "preference sums to 0"),
        ({"preference": np.ones((3, 1))}, "must be weights of the nodes"),
        ({"preference": [3]}, "no node 3"),
        ({"preference": {"x": 1}}, "no node x"),
        ({"preference": {0: "much"}}, "no number"),
        ({"preference": [None]}, "must be weights of the nodes"),
        ({"dangling": np.array([1.0, -1.0, 0])}, "distribution of dangling nodes of node 1 is -1"),
    ],
)
def test_wrong_options_of_pagerank_are_clear_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Graph.from_arcs([0, 1], [1, 2]).pagerank(**options)  # type: ignore[arg-type]


def test_wrong_options_of_others_are_clear_errors() -> None:
    graph = Graph.from_arcs([0, 1, 1], [1, 0, 1])
    golden = (1 + 5**0.5) / 2
    assert graph.eigenvalue() == pytest.approx(golden)
    assert graph.katz(attenuation=0.99 / golden).converged
    with pytest.raises(InvalidArgument, match=r"attenuation is 0.7, and must be below 0.618034"):
        graph.katz(attenuation=0.7)
    with pytest.raises(InvalidArgument, match="attenuation is -1"):
        graph.katz(attenuation=-1)
    with pytest.raises(InvalidArgument, match="no node 9"):
        graph.paths(1, 0, 9)
    with pytest.raises(InvalidArgument, match="length must be a whole number"):
        graph.walks(length=-1)
    with pytest.raises(InvalidArgument, match="at most 4096 nodes"):
        Graph.from_arcs([0], [4096]).path_matrix(1)
