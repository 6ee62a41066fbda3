"""Measures by distance: exact values against the formulas and the peers, estimates against exact values."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES
from crivello.graph.scores import Scores

NODES = 9
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=24)
WEIGHTS = st.lists(st.floats(0, 1e6), min_size=NODES, max_size=NODES)
Pairs = list[tuple[int, int]]


def graph_of(arcs: Pairs, nodes: int) -> Graph:
    return Graph.from_arcs([source for source, _ in arcs], [target for _, target in arcs], nodes=nodes)


def distances(arcs: Pairs, nodes: int) -> NDArray[np.float64]:
    """d[y, x] for all pairs, by a search from each node."""
    found = np.full((nodes, nodes), math.inf)
    for source in range(nodes):
        found[source, source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for start, target in arcs:
                if start == node and found[source, target] == math.inf:
                    found[source, target] = found[source, node] + 1
                    queue.append(target)
    return found


def random_arcs(nodes: int, arcs: int, seed: int) -> Pairs:
    """Arcs with heavy-tailed targets; some nodes dangle, some are isolated, some arcs are loops or parallel."""
    random = np.random.default_rng(seed)
    sources = random.integers(0, nodes * 9 // 10, arcs)
    targets = (random.random(arcs) ** 3 * nodes * 19 // 20).astype(int)
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def wiki_vote() -> Graph:
    path = Path(os.environ.get("CRIVELLO_DATA", "../shared/data")) / "graph" / "wiki-Vote.txt"
    if not path.exists():
        pytest.skip("wiki-Vote.txt is not here")
    ends = np.loadtxt(path, dtype=np.int64)
    _, numbers = np.unique(ends, return_inverse=True)
    return Graph.from_arcs(*numbers.reshape(ends.shape).T)


@settings(deadline=None)
@given(ARCS, WEIGHTS, st.sampled_from(["in", "out"]))
def test_equals_the_formulas(arcs: Pairs, weights: list[float], direction: str) -> None:
    graph = graph_of(arcs, NODES)
    matrix = distances(arcs, NODES)
    options: dict[str, Any] = {"direction": direction}
    for x in range(NODES):
        column = matrix[:, x] if direction == "in" else matrix[x]
        others = [(y, d) for y, d in enumerate(column) if y != x and d < math.inf]
        reached, total = len(others), sum(d for _, d in others)
        expected = {
            "reachable": reached,
            "eccentricity": max((d for _, d in others), default=0),
            "harmonic": sum(1 / d for _, d in others),
            "closeness": 1 / total if total else 0,
            "lin": (reached + 1) ** 2 / total if total else 1,
        }
        for name, value in expected.items():
            assert getattr(graph, name)(**options)[x] == pytest.approx(value, rel=1e-14)
            shell = MEASURES[name if direction == "in" else f"{name}-out"]
            assert shell(graph)[x] == getattr(graph, name)(**options)[x]
        counted = total + NODES * (NODES - 1 - reached)
        scaled = reached / (NODES - 1) * (reached / total if total else 0)
        assert graph.closeness(unreachable="count", **options)[x] == pytest.approx(1 / counted)
        assert graph.closeness(unreachable="scale", **options)[x] == pytest.approx(scaled)
        assert graph.closeness(weights=weights, **options)[x] == pytest.approx(
            weights[x] * expected["closeness"]
        )
        weighted = sum(weights[y] / d for y, d in others)
        assert graph.harmonic(weights=weights, **options)[x] == pytest.approx(weighted)
        assert graph.harmonic(normalized=True, **options)[x] == pytest.approx(
            expected["harmonic"] / (NODES - 1)
        )
    some = graph.distance_sums(nodes=[3, 0, 3], **options)
    everything = graph.distance_sums(**options)
    assert some.reachable.tolist() == [everything.reachable[node] for node in (3, 0, 3)]
    assert some.eccentricity.tolist() == [everything.eccentricity[node] for node in (3, 0, 3)]
    assert some.harmonic == pytest.approx(np.asarray(everything.harmonic)[[3, 0, 3]])
    assert graph.distances(2).tolist() == matrix[2].tolist()
    assert graph.distances(2, direction="in").tolist() == matrix[:, 2].tolist()
    finite = matrix[np.isfinite(matrix) & (matrix > 0)]
    distribution = graph.distance_distribution()
    assert distribution.pairs.sum() == len(finite)
    assert all(distribution.pairs[t] == (finite == t).sum() for t in range(len(distribution.pairs)))
    if len(finite):
        assert distribution.mean == pytest.approx(finite.mean())
        assert distribution.spid == pytest.approx(finite.var() / finite.mean())
        assert graph.effective_diameter(1) == finite.max()
    assert graph.diameter() == (finite.max() if len(finite) else 0)


@pytest.mark.parametrize(("nodes", "arcs"), [(300, 700), (1300, 5000)])
def test_equals_networkx(nodes: int, arcs: int) -> None:
    networkx = pytest.importorskip("networkx")
    pairs = random_arcs(nodes, arcs, arcs)
    graph, peer = graph_of(pairs, nodes), networkx.DiGraph(pairs)
    peer.add_nodes_from(range(nodes))

    def values(found: dict[int, float]) -> list[float]:
        return [found[node] for node in range(nodes)]

    sums = graph.distance_sums()
    assert sums.closeness("scale") == pytest.approx(values(networkx.closeness_centrality(peer)), rel=1e-12)
    plain = values(networkx.closeness_centrality(peer, wf_improved=False))
    assert sums.closeness() * sums.reachable == pytest.approx(plain, rel=1e-12)
    harmonic = values(networkx.harmonic_centrality(peer))
    assert sums.harmonic == pytest.approx(harmonic, rel=1e-12)
    assert graph.harmonic(weights=np.ones(nodes)) == pytest.approx(harmonic, rel=1e-12)
    outgoing = graph.distance_sums(direction="out").closeness("scale")
    assert outgoing == pytest.approx(values(networkx.closeness_centrality(peer.reverse())), rel=1e-12)


def test_equals_igraph_on_a_real_graph() -> None:
    igraph = pytest.importorskip("igraph")
    graph = wiki_vote()
    arcs = [(node, target) for node in range(graph.nodes) for target in graph.successors(node).tolist()]
    peer = igraph.Graph(graph.nodes, arcs, directed=True)
    for direction in ("in", "out"):
        sums = graph.distance_sums(direction=direction)
        harmonic = np.nan_to_num(peer.harmonic_centrality(mode=direction))
        assert sums.harmonic / (graph.nodes - 1) == pytest.approx(harmonic, rel=1e-10)
        closeness = np.nan_to_num(peer.closeness(mode=direction))
        assert sums.closeness() * sums.reachable == pytest.approx(closeness, rel=1e-10)
    assert graph.distance_distribution().mean == pytest.approx(peer.average_path_length(unconn=True))


def test_a_long_path_takes_several_batches_and_short_levels() -> None:
    nodes = 1200
    graph = graph_of([(node, node + 1) for node in range(nodes - 1)], nodes)
    sums = graph.distance_sums()
    order = np.arange(nodes)
    assert sums.reachable.tolist() == order.tolist()
    assert sums.eccentricity.tolist() == order.tolist()
    assert sums.total.tolist() == (order * (order + 1) // 2).tolist()
    assert sums.harmonic == pytest.approx(np.concatenate([[0], np.cumsum(1 / order[1:])]), rel=1e-14)
    assert sums.distribution.pairs.tolist() == [0, *(nodes - order[1:]).tolist()]


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 80), st.integers(0, 200), st.integers(0, 2**32 - 1), st.booleans())
def test_the_diameter_is_the_largest_distance(nodes: int, arcs: int, seed: int, ring: bool) -> None:
    """Rings have one eccentricity, which no bound tells from a larger one: all nodes are searched."""
    pairs = random_arcs(nodes, arcs, seed)
    if ring:
        pairs = [(node, (node + 1) % nodes) for node in range(nodes)] + pairs[:3]
    graph = graph_of(pairs, nodes)
    assert graph.diameter() == max(len(graph.distance_distribution(method="exact").pairs) - 1, 0)
    assert graph.transpose().diameter() == graph.diameter()


def test_the_diameter_of_a_real_graph() -> None:
    graph = wiki_vote()
    assert graph.diameter() == len(graph.distance_distribution(method="exact").pairs) - 1 == 10


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_graphs_without_arcs(nodes: int) -> None:
    graph = Graph.from_arcs([], [], nodes=nodes)
    assert graph.diameter() == 0
    for method in ("exact", "hyperball"):
        sums = graph.distance_sums(method=method)
        assert sums.reachable.tolist() == sums.harmonic.tolist() == sums.closeness().tolist() == [0] * nodes
        assert sums.lin.tolist() == [1] * nodes
        assert math.isnan(sums.distribution.mean)
        assert math.isnan(sums.distribution.effective_diameter())


def held(found: Scores, expected: NDArray[np.float64]) -> float:
    """The share of nodes whose interval contains the true value, to the rounding of single precision."""
    return float((np.abs(np.asarray(found) - expected) <= errors(found) + 1e-4 * expected).mean())


def errors(found: Scores) -> NDArray[np.float64]:
    assert isinstance(found.error, np.ndarray)
    return found.error


@pytest.mark.parametrize("name", ["wiki-Vote", "generated"])
def test_the_intervals_of_hyperball_hold(name: str) -> None:
    """The errors of nodes that reach the same nodes are the same error: a share is a mean over seeds."""
    graph = wiki_vote() if name == "wiki-Vote" else graph_of(random_arcs(6000, 30_000, 5), 6000)
    exact = graph.distance_sums(method="exact")
    measures = ("reachable", "harmonic", "lin")
    shares: dict[str, list[float]] = {name: [] for name in (*measures, "closeness", "scale", "pairs")}
    relative = []
    for seed in range(12):
        found = graph.hyperball(seed=seed, log2m=8)
        for measure in measures:
            shares[measure].append(held(getattr(found, measure), np.asarray(getattr(exact, measure))))
        shares["closeness"].append(held(found.closeness(), np.asarray(exact.closeness())))
        shares["scale"].append(held(found.closeness("scale"), np.asarray(exact.closeness("scale"))))
        # The few pairs at the largest distances are seen by few counters, or by none.
        common = np.flatnonzero(exact.distribution.pairs > 0.01 * exact.distribution.pairs.sum())
        near = np.abs(found.distribution.pairs - exact.distribution.pairs[: len(found.distribution.pairs)])
        assert found.distribution.error is not None
        shares["pairs"].append(float((near <= found.distribution.error)[common].mean()))
        some = np.asarray(exact.harmonic) > 20
        relative.append(np.asarray(found.harmonic)[some] / np.asarray(exact.harmonic)[some] - 1)
    assert all(np.mean(values) >= 0.95 for values in shares.values()), shares
    assert np.sqrt(np.mean(np.square(relative))) < 1.5 * 1.05 / math.sqrt(2**8)
    assert abs(np.mean(relative)) < 0.05


def test_hyperball_counts_a_few_nodes_almost_exactly() -> None:
    found = graph_of([(1, 0), (2, 0), (3, 2), (5, 4)], 6).hyperball(log2m=12)
    assert found.reachable == pytest.approx([3, 0, 1, 0, 1, 0], abs=0.1)
    assert found.harmonic == pytest.approx([2.5, 0, 1, 0, 1, 0], abs=0.1)
    assert found.distribution.pairs == pytest.approx([0, 4, 1], abs=0.2)


PROGRAM = """
import hashlib, numpy as np
from crivello.graph.graph import Graph
random = np.random.default_rng(3)
graph = Graph.from_arcs(random.integers(0, 9000, 40000), random.integers(0, 10000, 40000), nodes=10000)
weights = random.random(10000)
ball = graph.hyperball(log2m=8)
parts = (
    graph.harmonic(), graph.closeness(), graph.harmonic(weights=weights),
    ball.harmonic, ball.harmonic.error, ball.lin, ball.distribution.pairs,
)
print(hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest())
"""


def test_the_same_bits_on_any_number_of_threads_and_in_any_memory() -> None:
    def run(threads: int) -> str:
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    assert run(1) == run(2) == run(3)
    graph = graph_of(random_arcs(500, 2000, 1), 500)
    small, large = (graph.hyperball(log2m=8, memory=memory) for memory in (196 * 500, 1 << 30))
    assert small.harmonic.tolist() == large.harmonic.tolist()
    assert errors(small.lin).tolist() == errors(large.lin).tolist()
    digests = {hashlib.sha256(graph.hyperball(seed=seed).harmonic.tobytes()).digest() for seed in range(3)}
    assert len(digests) == 3


INTERRUPTED = """
import signal
import numpy as np
from crivello.graph.graph import Graph
random = np.random.default_rng(3)
graph = Graph.from_arcs(random.integers(0, 300_000, 3_000_000), random.integers(0, 300_000, 3_000_000))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("ready", flush=True)
try:
    graph.harmonic(method=METHOD)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("method", ["exact", "hyperball"])
def test_ctrl_c_stops_every_thread(method: str) -> None:
    program = INTERRUPTED.replace("METHOD", repr(method))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:  # the exact sums take minutes
            assert process.communicate(timeout=30)[0] == "stopped\n"
        finally:
            process.kill()


def test_wrong_arguments_are_clear_errors() -> None:
    graph = graph_of([(0, 1), (1, 2)], 3)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"direction": "up"}, "no direction 'up'"),
        ({"method": "fast"}, "no method 'fast'"),
        ({"weights": [1, 2]}, "2 weights for 3 nodes"),
        ({"weights": [1, 2, math.nan]}, "finite"),
        ({"nodes": [3]}, "no node 3"),
        ({"nodes": [0], "method": "hyperball"}, "all nodes"),
        ({"method": "hyperball", "log2m": 7}, "from 8 to 16"),
        ({"method": "hyperball", "confidence": 1.0}, "confidence"),
        ({"method": "hyperball", "memory": 100}, "at least 588 bytes"),
    ]
    for wrong, message in cases:
        with pytest.raises(InvalidArgument, match=message):
            graph.distance_sums(**wrong)
    with pytest.raises(InvalidArgument, match="no rule"):
        graph.closeness(unreachable="skip")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="eccentricities"):
        _ = graph.hyperball().eccentricity
    with pytest.raises(InvalidArgument, match="share"):
        graph.effective_diameter(0)
    with pytest.raises(InvalidArgument, match="no node 7"):
        graph.distances(7)
