"""The arcs of a graph: made from arrays, shared with NumPy, transposed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import Arcs
from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES, named

NODES = 12
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)


@given(ARCS, st.booleans())
def test_has_its_arcs_once_and_counts_them(arcs: list[tuple[int, int]], count: bool) -> None:
    graph = Graph.from_arcs(
        [source for source, _ in arcs], [target for _, target in arcs], nodes=NODES, count=count
    )
    expected = Counter(arcs) if count else Counter(set(arcs))
    assert (graph.nodes, graph.arcs, graph.weighted) == (NODES, len(expected), count)
    for node in range(NODES):
        assert graph.successors(node).tolist() == sorted(
            {target for source, target in arcs if source == node}
        )
        assert graph.transpose().successors(node).tolist() == sorted({s for s, t in arcs if t == node})
    assert graph.indegree().tolist() == [
        sum(n for (_, t), n in expected.items() if t == v) for v in range(NODES)
    ]
    assert graph.outdegree().tolist() == [
        sum(n for (s, _), n in expected.items() if s == v) for v in range(NODES)
    ]
    assert graph.transpose().indegree().tolist() == graph.outdegree().tolist()


def test_arrays_are_shared_in_both_directions() -> None:
    offsets, targets = np.array([0, 2, 3, 3], np.uint64), np.array([1, 2, 0], np.uint32)
    arcs = Arcs.from_lists(offsets, targets)
    view = np.asarray(arcs.csr()[1])
    assert view.tolist() == [1, 2, 0]
    assert not view.flags.writeable
    assert np.shares_memory(view, targets)
    with pytest.raises(InvalidArgument, match="contiguous array of u32"):
        Arcs.from_lists(offsets, targets.astype(np.int64))
    with pytest.raises(InvalidArgument, match="increasing"):
        Arcs.from_lists(offsets, np.array([2, 1, 0], np.uint32))


def test_wrong_nodes_are_clear_errors() -> None:
    with pytest.raises(InvalidArgument, match="-1 is not a node"):
        Graph.from_arcs([0, -1], [0, 0])
    with pytest.raises(InvalidArgument, match="4294967296 is not a node"):
        Graph.from_arcs([0], [2**32])
    with pytest.raises(InvalidArgument, match="no arc from 0 to 3"):
        Graph.from_arcs([0], [3], nodes=3)
    graph = Graph.from_arcs([0], [1], names=["a", "b"])
    assert (graph.node("b"), graph.name(0), graph.node(1)) == (1, "a", 1)
    with pytest.raises(InvalidArgument, match="no node c"):
        graph.node("c")
    with pytest.raises(InvalidArgument, match="there is no node 2"):
        graph.successors(2)


def test_measures_are_found_by_name() -> None:
    graph = Graph.from_arcs([0, 1], [2, 2])
    scores = MEASURES["indegree"](graph)
    assert (scores.measure, scores.top(1)) == ("indegree", [(2, 2.0)])
    assert (scores.converged, scores.iterations, scores.error) == (True, None, None)
    with pytest.raises(InvalidArgument, match="no measure"):
        named("indegre")
    with pytest.raises(InvalidArgument, match="no option"):
        named("indegree")(graph, damping=1)
