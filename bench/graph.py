"""PageRank of a random graph, compared with networkx (which uses SciPy's sparse matrices)."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import networkx

from bench import Measurement, seconds
from crivello import _core
from crivello.graph import Graph, build_graph, rank_graph, write_links

NODES = 100_000
LINKS_A_NODE = 10


def measure() -> Iterator[Measurement]:
    source = random.Random(1)
    successors = [[source.randrange(NODES) for _ in range(LINKS_A_NODE)] for _ in range(NODES)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        signatures = _core.signatures([f"http://a.example/{node}" for node in range(NODES)])
        links = [
            (signatures[node], [signatures[target] for target in targets])
            for node, targets in enumerate(successors)
        ]
        committed = write_links(folder / "links.log", links)
        built = build_graph(folder / "links.log", committed, folder / "a.graph")
        graph = Graph(folder / "a.graph", built.length)
        peer = networkx.DiGraph()
        peer.add_nodes_from(range(NODES))
        peer.add_edges_from((node, target) for node, targets in enumerate(successors) for target in targets)
        # The same damping and the same precision: the peer's tolerance is per node.
        ours = seconds(lambda: rank_graph(graph, folder / "a.ranks", threshold=1e-6))
        theirs = seconds(lambda: networkx.pagerank(peer, tol=1e-6 / NODES), times=1)
        yield Measurement("PageRank, 1 M links", 1 / ours, "networkx", 1 / theirs, "times/s")
