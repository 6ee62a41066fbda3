"""What each treatment of duplicates saves and loses on a crawl of real sites.

The sites of ``CRIVELLO_BENCH_DUPLICATES`` (default: the installation guides for two machines, the documentation of Python, and a
handbook, on loopback) are crawled once with each treatment. A page of the crawl that keeps everything is lost if the
text is not among the stored ones, and no stored page shares more than 90 % of its words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import Measurement
from bench.crawl import CRIVELLO, answers
from crivello import Collection, _core
from crivello._core import Layout

SITES = ("install-amd64", "install-arm64", "python", "handbook")
SEEDS = os.environ.get(
    "CRIVELLO_BENCH_DUPLICATES", " ".join(f"http://{site}.test:8080/doc/" for site in SITES)
).split()
TREATMENTS = (
    ("keep", "keep"),
    ("mark", "mark"),
    ("skip-links", "mark"),
    ("skip-links", "skip-links"),
    ("drop", "mark"),
    ("drop", "drop"),
)
CONFIRMED = 0.9
NEAR = 16
"""A page with more than 90 % of its words in common is within this Hamming distance, nearly always."""


@dataclass(frozen=True)
class Crawled:
    """What a crawl did and stored."""

    requests: int
    stored: int
    bytes: int
    indexable: int
    texts: dict[str, str]
    """The digest of each stored text, with a URL."""
    folder: Path


def measure() -> Iterator[Measurement]:
    if silent := [url for url in SEEDS if not answers(url)]:
        print(
            f"dedup_crawl: {silent[0]} does not answer: name sites in CRIVELLO_BENCH_DUPLICATES",
            file=sys.stderr,
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        everything: Crawled | None = None
        for exact, near in TREATMENTS:
            done = crawl(Path(folder, f"{exact}-{near}"), exact, near)
            everything = everything or done
            what = f"exact {exact}, near {near}"
            for name, ours, theirs in (
                ("requests", done.requests, everything.requests),
                ("pages stored", done.stored, everything.stored),
                ("bytes of the archive", done.bytes, everything.bytes),
                ("pages to index", done.indexable, everything.indexable),
            ):
                yield Measurement(f"{what}: {name}", ours, "keep", theirs, name.split()[0], None, True)
            gone = lost(everything, done)
            total = len(everything.texts)
            yield Measurement(f"{what}: texts lost", gone, "texts", total, "texts", None, True)


def crawl(folder: Path, exact: str, near: str) -> Crawled:
    """Crawls the sites with a treatment of duplicates."""
    flags = [
        "--exact-duplicates",
        exact,
        "--near-duplicates",
        near,
        "--delay",
        "0",
        "--allow-private",
        "--json",
    ]
    command = [str(CRIVELLO), "crawl", *SEEDS, "--into", str(folder), *flags]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    collection = Collection(folder)
    rows = [row for row in collection.pages() if row.length and row.digest]
    texts = {row.digest: row.url for row in rows if row.digest}
    archive = sum(file.stat().st_size for file in (folder / Layout.archive(0)).parent.iterdir())
    indexable = sum(row.indexable for row in rows)
    return Crawled(report["requests"], len(rows), archive, indexable, texts, folder)


def lost(everything: Crawled, done: Crawled) -> int:
    """The texts of a crawl of everything of which another has none that is nearly the same."""
    missing = [url for digest, url in everything.texts.items() if digest not in done.texts]
    ours, theirs = Collection(done.folder), Collection(everything.folder)
    stored = [ours.page(url) for url in done.texts.values()]
    known = [row for row in stored if row and row.simhash is not None]
    hashes: NDArray[np.uint64] = np.array([row.simhash for row in known], dtype=np.uint64)
    count = 0
    for url in missing:
        row = theirs.page(url)
        if row is None:
            continue
        text = theirs.text(row)
        near = np.bitwise_count(hashes ^ np.uint64(row.simhash or 0)) <= NEAR
        places = np.nonzero(near)[0] if row.simhash is not None else np.empty(0, np.intp)
        pairs = [(text, ours.text(known[place])) for place in places]
        alike = np.asarray(_core.similarities(pairs, "word", 1, "jaccard")) if pairs else np.zeros(1)
        count += not bool((alike > CONFIRMED).any())
    return count
