"""The graphs of the benchmarks: real ones, the crawl's, and generated ones of 10 and 100 million arcs.

``CRIVELLO_DATA`` is the folder of the data (by default beside the project); ``CRIVELLO_BENCH_ARCS`` lists the
sizes of the generated graphs, in millions of arcs (default: ``10 100``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bench._pages import crawled
from crivello import Collection
from crivello.graph.files import generate, load
from crivello.graph.graph import Graph

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parents[2] / "../shared/data")) / "graph"
SIZES = [int(size) for size in os.environ.get("CRIVELLO_BENCH_ARCS", "10 100").split()]

# The mean degree of a generated graph; see crates/core/src/graph/generate.rs.
DEGREE = 25


def graphs() -> Iterator[tuple[str, Graph]]:
    """Each graph with its name, the smallest first."""
    for name in ("wiki-Vote.txt", "polblogs.graph"):
        if (DATA / name).exists():
            yield Path(name).stem, load(DATA / name)
        else:
            print(f"bench: {DATA / name} is missing; CRIVELLO_DATA names the folder", file=sys.stderr)
    yield "crawl", crawl()
    for size in SIZES:
        yield f"generated, {size} M arcs", generated(size)


@cache
def crawl() -> Graph:
    """The graph of a crawl of real sites."""
    with Collection(crawled()) as collection:
        graph: Graph = collection.graph()
    return graph


def nodes_of(size: int) -> int:
    """The number of nodes of a generated graph of so many million arcs."""
    return size * 1_000_000 // DEGREE


@cache
def generated(size: int) -> Graph:
    """A generated graph of so many million arcs, about."""
    return generate(nodes_of(size), degree=DEGREE)
