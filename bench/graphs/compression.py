"""Compressed graphs, compared with webgraph: bits per link, and the time to decode.

The peer is the command ``webgraph`` (``cargo install webgraph-cli --root target/peer``), on the same graph in the same
order: its default compression, its sequential scan, and random access with static dispatch. Without the command, the
size is compared with the BVGraph written here, and the speeds with the lists in memory, without a target. One thread
each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import Measurement
from bench.graphs.data import graphs

ROOT = Path(__file__).parents[2]
LARGER = 1.05
SLOWER = 1 / 0.7
ACCESSES = 1_000_000

_DECODE = """
import json, sys, time
import numpy as np
from crivello._core import Arcs

arcs = Arcs.open(sys.argv[1])
batches = np.random.default_rng(1).integers(0, arcs.nodes, int(sys.argv[2]), dtype=np.uint64).reshape(-1, 10_000)

def access():
    links, started = 0, time.perf_counter()
    for nodes in batches:
        links += len(np.asarray(arcs.successors_of(nodes)[1]))
    return (time.perf_counter() - started) / max(links, 1)

scans, accesses = [], []
for _ in range(3):
    started = time.perf_counter()
    arcs.verify()
    scans.append((time.perf_counter() - started) / max(arcs.arcs, 1))
    accesses.append(access())
started = time.perf_counter()
_, targets, _ = arcs.csr()
np.asarray(targets).sum()
scan = (time.perf_counter() - started) / max(arcs.arcs, 1)
print(json.dumps([number * 1e9 for number in (min(scans), min(accesses), scan, min(access() for _ in range(3)))]))
"""


def measure() -> Iterator[Measurement]:
    command = peer()
    for name, graph in graphs():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            bits, _ = graph._arcs.save(folder / "ours.graph")
            scan, access, memory_scan, memory_access = decode(folder / "ours.graph")
            theirs = graph._arcs.save_bvgraph(folder / "plain")
            if command is None:
                yield Measurement(f"{name}: size", bits, "BVGraph", theirs, "bits/link", LARGER, True)
                yield Measurement(f"{name}: all lists", scan, "to memory", memory_scan, "ns/link", None, True)
                yield Measurement(
                    f"{name}: random access", access, "in memory", memory_access, "ns/link", None, True
                )
                continue
            run(command, "to", "bvgraph", "--sequential", folder / "plain", folder / "theirs")
            run(command, "build", "ef", folder / "theirs")
            found = re.search(r"^bitsperlink=(.*)$", (folder / "theirs.properties").read_text(), re.M)
            theirs = float(found[1]) if found else 0.0
            yield Measurement(f"{name}: size", bits, "webgraph", theirs, "bits/link", LARGER, True)
            theirs = peer_speed(command, folder / "theirs")
            yield Measurement(f"{name}: all lists", scan, "webgraph", theirs, "ns/link", SLOWER, True)
            theirs = peer_speed(command, folder / "theirs", "--random", str(ACCESSES))
            yield Measurement(f"{name}: random access", access, "webgraph", theirs, "ns/link", SLOWER, True)


def peer() -> Path | None:
    """The command of webgraph; None, with a word to people, if it is not there."""
    found = shutil.which(
        "webgraph", path=f"{ROOT / 'target/peer/bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    )
    if found is None:
        print("bench: no webgraph: cargo install webgraph-cli --root target/peer", file=sys.stderr)
        return None
    return Path(found)


def run(command: Path, *arguments: str | Path) -> str:
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def decode(path: Path) -> tuple[float, float, float, float]:
    """The nanoseconds a link of a scan and of random access, on one thread: of the file, then by way of memory."""
    done = subprocess.run(
        [sys.executable, "-c", _DECODE, path, str(ACCESSES)],
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    scan, access, memory_scan, memory_access = json.loads(done.stdout)
    return scan, access, memory_scan, memory_access


def peer_speed(command: Path, basename: Path, *options: str) -> float:
    """The nanoseconds a link of the fastest of three runs."""
    said = run(command, "bench", "bvgraph", "--static", "--repeats", "3", *options, basename)
    return min(float(number) for number in re.findall(r"([\d.]+) ns/arc", said))
