"""Indexing real pages, with positions, compared with tantivy: time, memory, size, and the gain of codes and
orders.

The pages are those of ``bench._pages``. Both index title, headings, text and URL, each with positions, and
both store the text; sizes exclude stored fields. tantivy uses its analyzer ``en_stem``, which does not index
compound identifiers and so has fewer terms; a second index of tantivy is given exactly the terms of ours.
Every index is built in a separate process, with 512 MiB; memory is measured while the pages are streamed.

A crawl is indexed from its archive, including parsing, and compared with the same text from JSON lines, each
with two threads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench import Measurement
from bench._pages import crawled, write_crawled
from crivello._core import index_stats

MEMORY = 512 * 2**20
STORED = ("documents", "document index", "order")


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _measure(Path(folder))


def _measure(folder: Path) -> Iterator[Measurement]:
    def build(kind: str, name: str, *options: str) -> dict[str, Any]:
        command = [
            sys.executable,
            "-m",
            "bench._index_build",
            kind,
            str(folder / name),
            f"memory={MEMORY}",
            *options,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        built: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return built

    def fastest(kind: str, name: str, *options: str) -> dict[str, Any]:
        runs = [build(kind, f"{name}{number}", *options) for number in range(3)]
        return min(runs, key=lambda run: float(run["seconds"]))

    crawl, lines = crawled(), folder / "crawl.jsonl"
    write_crawled(crawl, lines)
    archive = fastest("archive", "archive", "threads=2", f"source={crawl}")
    text = fastest("lines", "lines", "threads=2", f"source={lines}")
    yield Measurement(
        "a crawl from its archive", archive["seconds"], "JSON lines", text["seconds"], "s", 1.3, True
    )
    yield Measurement(
        "memory, from the archive",
        archive["peak"] / 2**20,
        "JSON lines",
        text["peak"] / 2**20,
        "MiB",
        None,
        True,
    )
    ours = fastest("ours", "one", "threads=1", "add=0.01")
    theirs = fastest("tantivy", "tantivy")
    two = fastest("ours", "two", "threads=2")
    yield Measurement(
        "build, one thread", 1 / ours["seconds"], "tantivy", 1 / theirs["seconds"], "builds/s", 1.5
    )
    yield Measurement(
        "build, two threads", 1 / two["seconds"], "one thread", 1 / ours["seconds"], "builds/s", 1.7
    )
    for threads in (1, 2):
        grown = build("ours", f"streamed{threads}", f"threads={threads}", "streamed=yes")["peak"]
        yield Measurement(
            f"memory, {threads} thread(s)", grown / 2**20, "limit", MEMORY / 2**20, "MiB", 1, True
        )
    yield Measurement(
        "adding 1 %", ours["added"], "the whole build", ours["seconds"], "s", 0.05, smaller_is_better=True
    )
    terms = build("tantivy-terms", "tantivy-terms")
    inside = _stats(folder / "one0")
    smallest = build("ours", "smallest", "threads=2", "codes=smallest", "order=bisection")
    fastest_codes = build("ours", "fastest", "threads=2", "codes=fastest")
    for name, index, asked in (
        ("size", inside, 0.8),
        ("size, smallest", _stats(folder / "smallest"), 0.7),
        ("size, fastest", _stats(folder / "fastest"), None),
    ):
        for peer, run in (("tantivy", theirs), ("tantivy, our terms", terms)):
            yield Measurement(
                name, _size(index), peer, run["bytes"] / 10**6, "MB", asked, smaller_is_better=True
            )
    assert smallest and fastest_codes
    for order in ("url", "bisection"):
        built = build("ours", order, "threads=2", f"order={order}")
        size = _size(_stats(folder / order))
        yield Measurement(f"size, order {order}", size, "arrival", _size(inside), "MB", None, True)
        yield Measurement(
            f"time, order {order}", built["seconds"], "arrival", two["seconds"], "s", None, True
        )
    for component in inside["components"]:
        for code, bits in component["codes"]:
            if bits is not None:
                yield Measurement(
                    f"{component['name']}, {code}", bits, "entropy", component["entropy"], "bits", None, True
                )


def _stats(folder: Path) -> dict[str, Any]:
    segments = [(file.name, file.stat().st_size) for file in sorted(folder.glob("*.seg"))]
    stats: dict[str, Any] = msgspec.json.decode(index_stats(folder, segments[:1]))
    return stats


def _size(stats: dict[str, Any]) -> float:
    """Megabytes without stored fields."""
    kept: int = sum(size for name, size in stats["sections"].items() if name not in STORED)
    return kept / 10**6
