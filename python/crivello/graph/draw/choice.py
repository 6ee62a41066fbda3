"""Which nodes are drawn: those around one, or the most important of all, and the arcs between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crivello.graph.compare import best_nodes
from crivello.graph.graph import Graph

LIMIT = 200


@dataclass(frozen=True, slots=True)
class Part:
    """Some nodes of a graph, the most important first, and all arcs between them but loops.

    ``arcs`` has a row per arc with the places of its ends in ``nodes``, and ``weights`` its weight.
    ``distance`` is that from the centre, along or against the arcs; ``met`` counts the nodes that were
    considered.
    """

    nodes: NDArray[np.intp]
    distance: NDArray[np.intp]
    arcs: NDArray[np.intp]
    weights: NDArray[np.float64]
    met: int


def around(
    graph: Graph,
    centre: int,
    importance: NDArray[np.float64],
    *,
    radius: int = 2,
    limit: int = LIMIT,
) -> Part:
    """A node and those within ``radius`` arcs of it in either direction, at most ``limit`` in all.

    Near nodes come before far ones, and among the equally near the more important ones. Only chosen nodes are
    expanded, so the cost is that of their lists.
    """
    backward = graph.transpose()
    chosen = [centre]
    distance = [0]
    seen = {centre}
    frontier = [centre]
    for step in range(1, radius + 1):
        lists = [side.successors(node) for node in frontier for side in (graph, backward)]
        ring = np.unique(np.concatenate(lists)) if lists else np.empty(0, np.uint32)
        fresh = np.array([node for node in ring.tolist() if node not in seen], dtype=np.intp)
        seen.update(fresh.tolist())
        order = best_nodes(importance[fresh], limit - len(chosen))
        frontier = fresh[order].tolist()
        chosen += frontier
        distance += [step] * len(frontier)
        if len(chosen) >= limit:
            break
    return _part(graph, np.array(chosen), np.array(distance), len(seen))


def most_important(graph: Graph, importance: NDArray[np.float64], *, limit: int = LIMIT) -> Part:
    """The most important nodes of a graph."""
    nodes = best_nodes(importance, limit)
    return _part(graph, nodes, np.zeros(len(nodes), np.intp), graph.nodes)


def _part(graph: Graph, nodes: NDArray[np.intp], distance: NDArray[np.intp], met: int) -> Part:
    place = {node: place for place, node in enumerate(nodes.tolist())}
    weights_of = _weights(graph)
    arcs: list[tuple[int, int]] = []
    weights: list[float] = []
    for source, node in enumerate(nodes.tolist()):
        successors = graph.successors(node).tolist()
        for target, weight in zip(successors, weights_of(node, len(successors)), strict=True):
            if target in place and target != node:
                arcs.append((source, place[target]))
                weights.append(weight)
    return Part(nodes, distance, np.array(arcs, np.intp).reshape(-1, 2), np.array(weights, np.float64), met)


def _weights(graph: Graph) -> Callable[[int, int], list[float]]:
    """The weights of a node's arcs, as a function of the node and their number."""
    if not graph.weighted:
        return lambda _, count: [1.0] * count
    lists = graph._arcs.csr()
    offsets, weights = np.asarray(lists[0]), np.asarray(lists[2])
    return lambda node, _: weights[int(offsets[node]) : int(offsets[node + 1])].tolist()
