"""Building a compressed graph from an edge list in bounded memory, in a process of its own.

The edge list is generated, shuffled by blocks so that its arcs are not in order, and converted within
``MEMORY`` bytes for sorting. ``sort`` of the system, which sorts the same file within the same memory, is the peer:
what anyone would begin with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Measurement
from bench.graphs.data import DEGREE, SIZES, nodes_of
from crivello._core import generate_edge_list

MEMORY = 512 << 20

_CONVERT = """
import json, resource, sys
from crivello.graph.files import convert
done = convert(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([done.arcs, done.seconds, done.bits_per_link, peak]))
"""


def measure() -> Iterator[Measurement]:
    for size in SIZES:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            edges = folder / "arcs.txt"
            generate_edge_list(edges, nodes_of(size), 1, DEGREE, 0.92)
            reverse_columns(edges, folder / "reversed.txt")
            run = subprocess.run(
                [sys.executable, "-c", _CONVERT, folder / "reversed.txt", folder / "a.graph", str(MEMORY)],
                capture_output=True,
                text=True,
                check=True,
            )
            arcs, seconds, bits, peak = json.loads(run.stdout)
            theirs = system_sort(folder / "reversed.txt", folder)
            yield Measurement(f"{size} M arcs to a graph", arcs / seconds, "sort", arcs / theirs, "arcs/s", 1)
            yield Measurement(f"{size} M arcs: peak memory", peak, "--memory", MEMORY, "bytes", 2, True)
            yield Measurement(
                f"{size} M arcs: size", bits, "text", 8 * edges.stat().st_size / arcs, "bits/link"
            )


def reverse_columns(source: Path, target: Path) -> None:
    """The arcs against their direction: an order as bad for sorting by source as any."""
    command: list[str | Path] = [
        "awk",
        "-F",
        "\\t",
        "-v",
        "OFS=\\t",
        "/^#/ {print; next} {print $2, $1}",
        source,
    ]
    with target.open("wb") as file:
        subprocess.run(command, stdout=file, check=True)


def system_sort(path: Path, folder: Path) -> float:
    """The seconds that the system's ``sort`` takes for the same arcs in the same memory."""
    started = time.perf_counter()
    subprocess.run(
        ["sort", "-n", "-u", "-k1,1", "-k2,2", "-S", str(MEMORY), "-T", folder, "-o", "/dev/null", path],
        env={**os.environ, "LC_ALL": "C"},
        check=True,
    )
    return time.perf_counter() - started
