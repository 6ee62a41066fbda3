"""The ranks of hosts or domains in the form of Common Crawl's web graphs.

>>> write_ranks("domain-ranks.txt.gz", graph, graph.harmonic(), graph.pagerank())
>>> read_ranks("domain-ranks.txt.gz").names[:2]
['example.com', 'example.org']
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello._core import NodeNames, read_host_ranks, write_host_ranks
from crivello.graph.files import Files


@dataclass(frozen=True, slots=True)
class HostRanks:
    """The lines of a file of ranks, the highest harmonic centrality first.

    ``positions`` are those by PageRank, from 1; ``sizes`` the numbers of hosts of domains, if the file has them.
    """

    names: list[str]
    harmonic: NDArray[np.float64]
    pagerank: NDArray[np.float64]
    positions: NDArray[np.uint64]
    sizes: NDArray[np.uint64] | None


def read_ranks(path: str | PathLike[str]) -> HostRanks:
    """The ranks in a file (`ranks` of Common Crawl's web graphs), plain or compressed."""
    names, harmonic, positions, pagerank, sizes = read_host_ranks(path)
    return HostRanks(
        names,
        np.asarray(harmonic),
        np.asarray(pagerank),
        np.asarray(positions),
        np.asarray(sizes) if len(sizes) else None,
    )


def write_ranks(
    path: str | PathLike[str],
    graph: Files,
    harmonic: ArrayLike,
    pagerank: ArrayLike,
    sizes: ArrayLike | None = None,
) -> None:
    """Writes the values of two measures of a graph of hosts; ``sizes`` are the numbers of hosts of domains."""
    names = graph.stored_names() or NodeNames.of([str(node) for node in range(graph.nodes)])
    write_host_ranks(
        path,
        names,
        np.ascontiguousarray(harmonic, dtype=np.float64),
        np.ascontiguousarray(pagerank, dtype=np.float64),
        None if sizes is None else np.ascontiguousarray(sizes, dtype=np.uint64),
    )
