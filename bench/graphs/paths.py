"""Betweenness and strong components beside igraph, NetworKit and SciPy, loading excluded.

The votes of Wikipedia (``CRIVELLO_DATA/graph/wiki-Vote.txt``; a generated graph of its size otherwise) and a
generated graph with 10 M arcs. NetworKit's estimate of betweenness (KADABRA) takes undirected graphs only, so
there the votes have both directions; the error is 0.001 with confidence 0.9 for both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import igraph
import networkit
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from bench import Measurement, seconds
from crivello.graph.graph import Graph

ERROR, CONFIDENCE = 0.001, 0.9


def votes() -> tuple[str, NDArray[np.int64]]:
    """The name and the arcs of the smaller graph, one a row, self-loops left out."""
    path = Path(os.environ.get("CRIVELLO_DATA", "data")) / "graph" / "wiki-Vote.txt"
    if path.exists():
        arcs = np.unique(np.loadtxt(path, dtype=np.int64), return_inverse=True)[1].reshape(-1, 2)
        name = "wiki-Vote"
    else:
        source = np.random.default_rng(1)
        arcs = np.minimum(source.pareto(1.2, (103_689, 2)) * 300, 7114).astype(np.int64)
        name = "generated, 0.1 M arcs"
    return name, np.unique(arcs[arcs[:, 0] != arcs[:, 1]], axis=0)


def generated(nodes: int = 1_000_000, arcs: int = 10_000_000) -> NDArray[np.int64]:
    """Arcs with heavy-tailed outdegrees, mostly to near nodes: one large strong component, many small."""
    source = np.random.default_rng(1)
    starts = np.minimum(source.pareto(1.5, arcs) * nodes / 10, nodes - 1).astype(np.int64)
    starts = source.permutation(nodes)[starts]
    steps = np.minimum(source.pareto(0.7, arcs) * 5, nodes).astype(np.int64)
    return np.stack([starts, (starts + np.where(source.random(arcs) < 0.5, steps, -steps)) % nodes], axis=1)


def networkit_of(arcs: NDArray[np.int64], nodes: int, directed: bool) -> networkit.Graph:
    ones = np.ones(len(arcs))
    return networkit.GraphFromCoo(
        (ones, (arcs[:, 0].copy(), arcs[:, 1].copy())), n=nodes, weighted=False, directed=directed
    )


def measure() -> Iterator[Measurement]:
    networkit.setNumberOfThreads(os.cpu_count() or 1)
    name, arcs = votes()
    graph = Graph.from_arcs(arcs[:, 0], arcs[:, 1])
    nodes = graph.nodes
    directed = networkit_of(arcs, nodes, True)
    peer = igraph.Graph(n=nodes, edges=arcs, directed=True)
    what = f"betweenness, {name}"
    ours = seconds(graph.betweenness)
    yield Measurement(what, 1 / ours, "igraph", 1 / seconds(peer.betweenness, 1), "times/s", 1.0)
    theirs = seconds(lambda: networkit.centrality.Betweenness(directed).run(), 1)
    yield Measurement(what, 1 / ours, "NetworKit", 1 / theirs, "times/s", 1.0)

    edges = np.unique(np.sort(arcs, axis=1), axis=0)
    both = Graph.from_arcs(np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]], nodes=nodes)
    undirected = networkit_of(edges, nodes, False)
    what = f"betweenness ± {ERROR}, {name} both ways"
    ours = seconds(lambda: both.betweenness(method="sampled", error=ERROR, confidence=CONFIDENCE))
    theirs = seconds(
        lambda: networkit.centrality.KadabraBetweenness(undirected, ERROR, 1 - CONFIDENCE).run(), 1
    )
    yield Measurement(what, 1 / ours, "NetworKit's KADABRA", 1 / theirs, "times/s", 1.0)

    arcs = generated()
    graph = Graph.from_arcs(arcs[:, 0], arcs[:, 1], nodes=1_000_000)
    offsets, targets, _ = graph._arcs.csr()
    lists = (np.asarray(targets).astype(np.int32), np.asarray(offsets).astype(np.int64))
    matrix = scipy.sparse.csr_matrix((np.ones(graph.arcs, np.int8), *lists), shape=(graph.nodes,) * 2)
    what = "strong components, generated, 10 M arcs"
    ours = seconds(graph.strong_components)
    theirs = seconds(lambda: scipy.sparse.csgraph.connected_components(matrix, connection="strong"))
    yield Measurement(what, 1 / ours, "SciPy", 1 / theirs, "times/s", 1.0)
    peer = igraph.Graph(n=graph.nodes, edges=arcs, directed=True)
    theirs = seconds(lambda: peer.connected_components(mode="strong"), 1)
    yield Measurement(what, 1 / ours, "igraph", 1 / theirs, "times/s", 1.0)
    directed = networkit_of(arcs, graph.nodes, True)
    theirs = seconds(lambda: networkit.components.StronglyConnectedComponents(directed).run())
    yield Measurement(what, 1 / ours, "NetworKit", 1 / theirs, "times/s", 1.0)
