"""What there is to know about a graph before measuring it: sizes, degrees, loops, reciprocity, components, hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello.graph.compare import best_nodes
from crivello.graph.graph import Graph

_ARCS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Degrees:
    """The degrees in one direction: their mean, median and maximum, and the nodes with the largest."""

    mean: float
    median: float
    largest: int
    nodes: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Host:
    """A host: its pages, the links between them, and those from and to other hosts."""

    name: str
    pages: int
    within: int
    incoming: int
    outgoing: int


@dataclass(frozen=True, slots=True)
class Info:
    """A graph in numbers.

    ``dangling`` nodes have no successors, ``sources`` no predecessors, ``isolated`` neither. ``reciprocity`` is
    the share of arcs, without loops, whose opposite is there, too. ``bow_tie`` counts nodes by their place
    around the largest strong component. ``hosts`` are the largest, if nodes are pages.
    """

    nodes: int
    arcs: int
    weighted: bool
    named: bool
    bits_per_link: float | None
    indegree: Degrees
    outdegree: Degrees
    dangling: int
    sources: int
    isolated: int
    loops: int
    reciprocity: float
    strong_components: int
    largest_strong_component: int
    weak_components: int
    largest_weak_component: int
    bow_tie: dict[str, int]
    all_hosts: int | None
    hosts: list[Host] | None

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def describe(graph: Graph, *, largest: int = 5) -> Info:
    """Describes a graph; ``largest`` is how many of the largest degrees and hosts are listed.

    Cost: O(n + m), and the lists of the graph and of its transpose in memory.
    """
    transpose = graph.transpose()
    out, into = _degrees(graph), _degrees(transpose)
    loops, mutual = _loops_and_mutual(graph, transpose)
    strong, weak = graph.strong_components(), graph.weak_components()
    hosts = _hosts(graph) if _has_pages(graph) else None
    return Info(
        nodes=graph.nodes,
        arcs=graph.arcs,
        weighted=graph.weighted,
        named=graph.names is not None,
        bits_per_link=getattr(graph, "bits_per_link", None) if graph.arcs else None,
        indegree=_summary(graph, into, largest),
        outdegree=_summary(graph, out, largest),
        dangling=int(np.count_nonzero(out == 0)),
        sources=int(np.count_nonzero(into == 0)),
        isolated=int(np.count_nonzero((out == 0) & (into == 0))),
        loops=loops,
        reciprocity=mutual / (graph.arcs - loops) if graph.arcs > loops else 0.0,
        strong_components=len(strong.sizes),
        largest_strong_component=int(strong.sizes.max(initial=0)),
        weak_components=len(weak.sizes),
        largest_weak_component=int(weak.sizes.max(initial=0)),
        bow_tie=graph.bow_tie().counts(),
        all_hosts=None if hosts is None else len(hosts),
        hosts=None if hosts is None else hosts[:largest],
    )


def _lists(graph: Graph) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    offsets, targets, _ = graph._arcs.csr()
    return np.asarray(offsets), np.asarray(targets)


def _degrees(graph: Graph) -> NDArray[np.int64]:
    offsets = _lists(graph)[0].astype(np.int64)
    return offsets[1:] - offsets[:-1]


def _summary(graph: Graph, degrees: NDArray[np.int64], largest: int) -> Degrees:
    if not len(degrees):
        return Degrees(0.0, 0.0, 0, [])
    best = best_nodes(degrees.astype(np.float64), largest).tolist()
    return Degrees(
        mean=float(degrees.mean()),
        median=float(np.median(degrees)),
        largest=int(degrees.max()),
        nodes=[(graph.name(node), int(degrees[node])) for node in best],
    )


def _loops_and_mutual(graph: Graph, transpose: Graph) -> tuple[int, int]:
    """The number of loops, and that of arcs without loops whose opposite is an arc."""
    loops = mutual = 0
    for first, last in _ranges(_lists(graph)[0], _lists(transpose)[0]):
        along, against = _pairs(graph, first, last), _pairs(transpose, first, last)
        looping = int(np.count_nonzero(along >> np.uint64(32) == along & np.uint64(0xFFFFFFFF)))
        loops += looping
        mutual += len(np.intersect1d(along, against, assume_unique=True)) - looping
    return loops, mutual


def _ranges(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Ranges of nodes with a bounded number of arcs; a node with more of them is a range of its own."""
    both = one + other
    first = 0
    while first < len(both) - 1:
        last = int(np.searchsorted(both, both[first] + np.uint64(_ARCS_AT_ONCE), side="right")) - 1
        yield first, max(last, first + 1)
        first = max(last, first + 1)


def _pairs(graph: Graph, first: int, last: int) -> NDArray[np.uint64]:
    """The arcs of a range of nodes, each as one number: the node in the upper half, the successor in the lower."""
    offsets, targets = _lists(graph)
    ends = offsets[first : last + 1].astype(np.int64)
    nodes = np.repeat(np.arange(first, last, dtype=np.uint64), ends[1:] - ends[:-1])
    return nodes << np.uint64(32) | targets[int(offsets[first]) : int(offsets[last])].astype(np.uint64)


def _has_pages(graph: Graph) -> bool:
    return graph.names is not None and graph.nodes > 0 and graph.name(0).startswith(("http://", "https://"))


def _hosts(graph: Graph) -> list[Host]:
    """The hosts of a graph of pages, those with the most pages first."""
    hosts = graph.collapse("host", loops=True)
    assert hosts.groups is not None
    _, targets = _lists(hosts)
    weights = np.asarray(hosts._arcs.csr()[2])
    sources = np.repeat(np.arange(hosts.nodes), _degrees(hosts))
    loop = sources == targets
    within, outgoing, incoming = (
        np.bincount(ends[chosen], weights=weights[chosen], minlength=hosts.nodes).astype(np.int64)
        for ends, chosen in ((sources, loop), (sources, ~loop), (targets, ~loop))
    )
    pages = hosts.groups.sizes
    order = best_nodes(pages.astype(np.float64), hosts.nodes).tolist()
    return [
        Host(hosts.name(host), int(pages[host]), int(within[host]), int(incoming[host]), int(outgoing[host]))
        for host in order
    ]
