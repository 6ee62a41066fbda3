"""Exact harmonic centrality beside NetworKit and igraph, and HyperBall within 2 GiB, loading excluded.

Exact: the votes of Wikipedia (``CRIVELLO_DATA/graph/wiki-Vote.txt``) and a generated graph with 0.2 M arcs. HyperBall:
a generated graph with 100 M arcs (``CRIVELLO_BENCH_ARCS`` is another number of millions), 2^10 registers, incoming
distances, in a process of its own, whose peak memory counts the arcs and their transpose. Its 95 % intervals are
compared with exact searches from 1,000 nodes: the share that they hold for, beside the one that they state.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import Measurement, seconds
from crivello._core import Arcs
from crivello.graph.files import generate
from crivello.graph.graph import Graph

DEGREE = 25
SAMPLE = 1000
CONFIDENCE = 0.95


def read(folder: Path) -> Graph:
    offsets, targets = np.fromfile(folder / "offsets", np.uint64), np.fromfile(folder / "targets", np.uint32)
    return Graph(Arcs.from_lists(offsets, targets))


def votes() -> Iterator[tuple[str, Graph]]:
    path = Path(os.environ.get("CRIVELLO_DATA", "data")) / "graph" / "wiki-Vote.txt"
    if path.exists():
        arcs = np.unique(np.loadtxt(path, dtype=np.int64), return_inverse=True)[1].reshape(-1, 2)
        yield "wiki-Vote", Graph.from_arcs(arcs[:, 0], arcs[:, 1])
    yield "generated, 0.2 M arcs", generate(200_000 // DEGREE, degree=DEGREE)


def measure() -> Iterator[Measurement]:
    # Not at the top: the process that is measured does not need their memory.
    import igraph
    import networkit

    networkit.setNumberOfThreads(os.cpu_count() or 1)
    for name, graph in votes():
        offsets, targets = (np.asarray(part).astype(np.int64) for part in graph._arcs.csr()[:2])
        sources = np.repeat(np.arange(graph.nodes), offsets[1:] - offsets[:-1])
        peer = networkit.GraphFromCoo(
            (np.ones(len(sources)), (sources, targets)), n=graph.nodes, directed=True
        )
        other = igraph.Graph(graph.nodes, np.stack([sources, targets], axis=1), directed=True)
        # The peers sum the distances to all others.
        ours = 1 / seconds(partial(graph.harmonic, direction="out", method="exact"))
        theirs = 1 / seconds(networkit.centrality.HarmonicCloseness(peer, False).run, times=1)
        yield Measurement(f"harmonic of {name}", ours, "NetworKit", theirs, "times/s", asked=1.5)
        theirs = 1 / seconds(partial(other.harmonic_centrality, mode="out"), times=1)
        yield Measurement(f"harmonic of {name}", ours, "igraph", theirs, "times/s")
    yield from hyperball(int(os.environ.get("CRIVELLO_BENCH_ARCS", "100").split()[-1]))


def hyperball(size: int) -> Iterator[Measurement]:
    """The time, the peak memory and the intervals of HyperBall on a graph with so many million arcs."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        graph = generate(size * 1_000_000 // DEGREE, degree=DEGREE)
        for name, part in zip(("offsets", "targets"), graph._arcs.csr(), strict=False):
            np.asarray(part).tofile(folder / name)
        command = [sys.executable, "-m", "bench.graphs.distances", temporary]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        sample = np.random.default_rng(2).choice(graph.nodes, min(SAMPLE, graph.nodes), replace=False)
        exact = graph.distance_sums(nodes=sample)
        peak, took = found["peak"] / 2**20, found["seconds"]
        arcs = f"{graph.arcs / 1e6:,.0f} M arcs"
        yield Measurement(f"HyperBall, {arcs}", peak, "2 GiB", 2048, "MiB", asked=1, smaller_is_better=True)
        yield Measurement(f"HyperBall, {arcs}", 1 / took, "ten minutes", 1 / 600, "times/s")
        for name in ("harmonic", "reachable", "lin", "closeness"):
            true = exact.closeness() if name == "closeness" else getattr(exact, name)
            values, errors = (np.fromfile(folder / f"{name}.{part}") for part in ("values", "errors"))
            held: NDArray[np.bool_] = np.abs(values[sample] - np.asarray(true)) <= errors[sample] + 1e-9
            yield Measurement(f"intervals of {name}", held.mean(), "stated", CONFIDENCE, "share", asked=1)


def child(folder: Path) -> None:
    """Computes HyperBall, writes its values and prints its time and the peak memory of the process."""
    import resource
    import time

    graph = read(folder)
    started = time.perf_counter()
    sums = graph.hyperball(confidence=CONFIDENCE)
    took = time.perf_counter() - started
    for name in ("harmonic", "reachable", "lin", "closeness"):
        scores = sums.closeness() if name == "closeness" else getattr(sums, name)
        np.asarray(scores).tofile(folder / f"{name}.values")
        np.asarray(scores.error).tofile(folder / f"{name}.errors")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": took, "peak": peak}))


if __name__ == "__main__":
    child(Path(sys.argv[1]))
