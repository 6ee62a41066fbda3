"""PageRank beside igraph (PRPACK), NetworKit and SciPy, to the same precision, loading excluded.

What is asked of all is an error of at most 10⁻⁹ in the norm ℓ₁, guaranteed. Ours and SciPy's power method stop by their
bounds; NetworKit by the change of an iteration, so its tolerance is what bounds the error by as much; igraph's
tolerance is fixed, and lower. The true error of each, against a power iteration to 10⁻¹³, is printed beside. igraph
and NetworKit hold both directions of the arcs, and SciPy's matrix is transposed before, so our transpose counts as loading;
the time with it is given too. igraph takes part up to 50 M arcs: it needs about 100 bytes for each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import igraph
import networkit
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from bench import Measurement, seconds
from bench.graphs.data import graphs
from crivello._core import Arcs
from crivello.graph.graph import Graph

DAMPING, PRECISION, EXACT = 0.85, 1e-9, 1e-13
MOST_FOR_IGRAPH = 50_000_000

Ranks = NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    networkit.setNumberOfThreads(os.cpu_count() or 1)
    for name, graph in graphs():
        yield from compare(name, graph)


def compare(name: str, graph: Graph) -> Iterator[Measurement]:
    """The speed and the error of every library on one graph."""
    times = 3 if graph.arcs > 1_000_000 else 20
    offsets, targets = (np.asarray(array) for array in graph._arcs.csr()[:2])
    transpose = seconds(Graph(Arcs.from_lists(offsets, targets)).transpose, times=1)
    exact = graph.pagerank(method="power", tolerance=EXACT, weighted=False)
    error = float(np.abs(graph.pagerank(weighted=False) - exact).sum())
    ours = seconds(lambda: graph.pagerank(weighted=False), times)
    for peer, rank in peers(graph).items():
        theirs = seconds(rank, times)
        yield Measurement(f"PageRank, {name}", 1 / ours, peer, 1 / theirs, "times/s", asked=2)
        their_error = float(np.abs(rank() - exact).sum())
        yield Measurement(f"error, {name}", error, peer, their_error, "ℓ₁", smaller_is_better=True)
    yield Measurement(f"with the transpose, {name}", 1 / (ours + transpose), "without", 1 / ours, "times/s")


def peers(graph: Graph) -> dict[str, Callable[[], Ranks]]:
    """The functions of the others, each with its graph loaded."""
    offsets, targets = (np.asarray(array) for array in graph._arcs.csr()[:2])
    degrees: NDArray[np.int64] = np.diff(offsets).astype(np.int64)
    sources = np.repeat(np.arange(graph.nodes, dtype=np.uint32), degrees)
    shares = np.repeat(1 / np.maximum(degrees, 1), degrees)
    steps = scipy.sparse.csr_array((shares, (targets, sources)), shape=(graph.nodes, graph.nodes))
    nodes = graph.nodes

    def power() -> Ranks:
        ranks: Ranks = np.full(nodes, 1 / nodes)
        while True:
            new = DAMPING * (steps @ ranks)
            new += (1 - new.sum()) / nodes
            change = np.abs(new - ranks).sum()
            ranks = new
            if change * DAMPING / (1 - DAMPING) <= PRECISION:
                return ranks

    other = networkit.GraphFromCoo(
        (np.ones(len(sources)), (sources.astype(np.uint64), targets.astype(np.uint64))),
        n=nodes,
        weighted=False,
        directed=True,
    )

    def parallel() -> Ranks:
        ranks = networkit.centrality.PageRank(
            other,
            damp=DAMPING,
            tol=PRECISION * (1 - DAMPING) / DAMPING,
            distributeSinks=networkit.centrality.SinkHandling.DistributeSinks,
        )
        ranks.norm = networkit.centrality.Norm.l1norm
        ranks.run()
        return np.array(ranks.scores())

    found: dict[str, Callable[[], Ranks]] = {"SciPy": power, "NetworKit": parallel}
    if graph.arcs <= MOST_FOR_IGRAPH:
        edges = np.stack([sources, targets], axis=1)
        third = igraph.Graph(n=nodes, edges=edges, directed=True)
        found["igraph"] = lambda: np.array(third.pagerank(damping=DAMPING))
    return found
