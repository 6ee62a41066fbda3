"""PageRank of edge lists, from the file to the ranks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from crivello.errors import InvalidArgument, StorageError
from crivello.graph import load

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parents[1] / "../shared/data"))


def slow_pagerank(links: Mapping[str, Iterable[str]], damping: float = 0.85) -> dict[str, float]:
    """The sums of the definition, pulled along the incoming links, for a fixed number of rounds."""
    incoming: dict[str, list[str]] = {page: [] for page in links}
    successors = {
        page: {to for to in targets if to in links and to != page} for page, targets in links.items()
    }
    for page, targets in successors.items():
        for target in targets:
            incoming[target].append(page)
    ranks = dict.fromkeys(links, 1 / len(links))
    for _ in range(100):
        lost = sum(rank for page, rank in ranks.items() if not successors[page])
        ranks = {
            page: (1 - damping + damping * lost) / len(links)
            + damping * sum(ranks[source] / len(successors[source]) for source in sources)
            for page, sources in incoming.items()
        }
    return ranks


def test_ranks_the_names_of_an_edge_list(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("# who links to whom\na,b\na,c\nb,c\nc,a\nd,c\n")
    graph = load(path)
    ranks = graph.pagerank(damping=0.7)
    assert [graph.name(node) for node, _ in ranks.top(4)] == ["c", "a", "b", "d"]
    expected = slow_pagerank({"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c"]}, damping=0.7)
    found = {graph.name(node): float(rank) for node, rank in enumerate(ranks)}
    assert found == pytest.approx(expected, abs=1e-8)


def test_wrong_edge_lists_and_settings_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("a b\nb\n")
    with pytest.raises(InvalidArgument, match=r"edges\.txt:2: expected two names"):
        load(path)
    path.write_text("a b\n")
    with pytest.raises(InvalidArgument, match="damping"):
        load(path).pagerank(damping=1.0)
    with pytest.raises(StorageError):
        load(tmp_path / "missing.txt")


def test_wiki_vote_agrees_with_the_definition() -> None:
    path = DATA / "graph/wiki-Vote.txt"
    if not path.exists():
        pytest.skip(f"{path} is not there: set CRIVELLO_DATA to the folder with graph/wiki-Vote.txt")
    links: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            source, target = line.split()
            links.setdefault(source, []).append(target)
            links.setdefault(target, [])
    expected = slow_pagerank(links)
    graph = load(path)
    found = {graph.name(node): float(rank) for node, rank in enumerate(graph.pagerank())}
    assert found == pytest.approx(expected, abs=1e-9)
