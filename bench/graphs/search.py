"""Known-item search on a crawl, with each measure of the graph as the static rank, and with none.

The pages are those of a crawl (``bench._pages.crawled``), the queries those of ``tests.known_item``, made from
two samples of its pages; a second collection has the sites that the first letters of their names choose. Settings are the
defaults. Each line compares the share of items found among the top three by a measure with the share by text alone.
``python -m bench.graphs.search`` prints the table, with the mean reciprocal rank, for both ways to turn a value
into a strength.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray
from tests import known_item

from bench import Measurement
from bench._pages import crawled
from crivello import _core
from crivello._core import Row
from crivello.collection import Collection
from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES
from crivello.graph.update import strengths
from crivello.index import Document, Index, options_of
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings

SEEDS = (1, 2)
SAMPLE = 3_000
DEPTH = 10
FAST = ("degree", "spectral")
"""The families that take no more than seconds on a crawl."""

Strength = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def measure() -> Iterator[Measurement]:
    for name, table in _tables(strengths):
        _, alone = table.pop("none")
        for each, (_, share) in table.items():
            yield Measurement(
                f"{name}: found by {each}",
                100 * share,
                "text alone",
                100 * alone,
                "%",
                smaller_is_better=False,
            )


def by_value(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value relative to the mean: the transformation to compare with."""
    mean = values.mean() if len(values) else 1.0
    return np.maximum(values / mean, 0.0) if mean > 0 else np.zeros_like(values)


def _tables(strength: Strength) -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """For each collection and seed: mean reciprocal rank and share found of each measure."""
    collection = Collection(crawled())
    graph = collection.graph()
    rows = [
        row for row in collection.pages() if row.status == 200 and row.digest and row.duplicate_of is None
    ]
    for name, chosen in (("all sites", rows), ("half of the sites", _half(rows))):
        with tempfile.TemporaryDirectory() as folder:
            part = _induced(graph, chosen)
            files = _ranks(part, Path(folder), strength)
            segments = _indexed(collection, chosen, Path(folder))
            for seed in SEEDS:
                items = known_item.known_items(_documents(collection, chosen, seed), seed)
                table = {
                    measure: _judged(items, Search(Path(folder), segments, ranks, SearchSettings()))
                    for measure, ranks in files.items()
                }
                yield f"{name}, seed {seed}", table


def _half(rows: list[Row]) -> list[Row]:
    sites = sorted({urlsplit(row.url).netloc for row in rows})
    kept = set(sites[::2])
    return [row for row in rows if urlsplit(row.url).netloc in kept]


def _induced(graph: Graph, rows: list[Row]) -> Graph:
    """The graph of these pages alone."""
    nodes = sorted({node for row in rows if (node := graph.names.find(row.url)) is not None})  # type: ignore[union-attr]
    return graph.subgraph(nodes)


def _ranks(graph: Graph, folder: Path, strength: Strength) -> dict[str, tuple[Path, int, str] | None]:
    """The files of the ranks by each measure."""
    files: dict[str, tuple[Path, int, str] | None] = {"none": None}
    signatures = _core.signatures([graph.name(node) for node in range(graph.nodes)])
    for name, each in MEASURES.items():
        if each.small or (each.family not in FAST and "--all" not in sys.argv):
            continue
        values = np.asarray(each(graph))
        ranks = list(zip(signatures, values.tolist(), strength(values).tolist(), strict=True))
        path = folder / f"{name}.ranks"
        files[name] = (path, _core.write_ranks(ranks, path), name)
    return files


def _indexed(collection: Collection, rows: list[Row], folder: Path) -> list[tuple[str, int]]:
    """An index of these pages, with the anchor texts of links to them."""
    pages = [_core.signature(row.url) for row in rows]
    documents = collection.documents(options_of(collection.settings), pages=pages)
    return Index(folder).add_pages(documents)[1]


def _documents(collection: Collection, rows: list[Row], seed: int) -> list[Document]:
    sample = Random(seed).sample(rows, min(SAMPLE, len(rows)))
    return [Document(row.url, row.title, collection.text(row), language=row.language) for row in sample]


def _judged(items: list[known_item.KnownItem], search: Search) -> tuple[float, float]:
    """The mean reciprocal rank of the items, and the share found among the first."""
    reciprocals = []
    for item in items:
        own = msgspec.structs.replace(search.settings, language=item.language, suggest=False)
        hits = search.search(item.query, top=DEPTH, passages=False, settings=own)
        places = (place for place, hit in enumerate(hits, 1) if hit.url in item.urls)
        place = next(places, None)
        reciprocals.append(1 / place if place else 0.0)
    found = sum(reciprocal >= 1 / known_item.FIRST for reciprocal in reciprocals)
    return sum(reciprocals) / len(items), found / len(items)


if __name__ == "__main__":
    for what, way in (("by position", strengths), ("by value", by_value)):
        for name, table in _tables(way):
            for measure_name, (mean, share) in table.items():
                print(f"{what:12}  {name:26}  {measure_name:14}  {mean:.4f}  {100 * share:.1f} %", flush=True)
