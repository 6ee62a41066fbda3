"""The link graph and PageRank, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from crivello._core import signature
from crivello.errors import CorruptFile, InvalidArgument, StorageError
from crivello.graph import Graph, Ranks, build_graph, rank_edge_list, rank_graph, write_links

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parents[1] / "../shared/data"))

LINKS = {
    "a": ["b", "c", "nowhere", "b", "a"],
    "b": ["c"],
    "c": ["a"],
    "d": ["c"],
    "dead end": [],
}


def link(path: Path, links: Iterable[tuple[str, list[str]]]) -> int:
    return write_links(path, [(signature(page), [*map(signature, targets)]) for page, targets in links])


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


def test_from_the_log_to_the_ranks(tmp_path: Path) -> None:
    # The first record about a page is out of date.
    committed = link(tmp_path / "links.log", [("a", ["d"]), *LINKS.items()])
    built = build_graph(tmp_path / "links.log", committed, tmp_path / "a.graph")
    assert (built.nodes, built.arcs) == (5, 5)
    graph = Graph(tmp_path / "a.graph", built.length)
    assert (graph.nodes, graph.arcs, graph.bytes) == (5, 5, built.length)
    assert graph.bits_per_link > 0
    successors = graph.successors(signature("a"))
    assert successors is not None
    assert set(successors) == {signature("b"), signature("c")}
    assert graph.successors(signature("dead end")) == []
    assert graph.successors(signature("nowhere")) is None

    ranked = rank_graph(graph, tmp_path / "a.ranks")
    assert 0 < ranked.iterations < 200
    assert ranked.residual <= 1e-9
    ranks = Ranks(tmp_path / "a.ranks", ranked.length)
    assert len(ranks) == 5
    assert ranks.get([signature("nowhere")]) == [None]
    expected = slow_pagerank(LINKS)
    found = ranks.get([signature(page) for page in expected])
    assert found == pytest.approx([rank * 5 for rank in expected.values()], rel=1e-6)


def test_an_empty_log_is_an_empty_graph(tmp_path: Path) -> None:
    built = build_graph(tmp_path / "links.log", link(tmp_path / "links.log", []), tmp_path / "a.graph")
    graph = Graph(tmp_path / "a.graph", built.length)
    assert (graph.nodes, graph.arcs) == (0, 0)
    assert len(Ranks(tmp_path / "a.ranks", rank_graph(graph, tmp_path / "a.ranks").length)) == 0


def test_damage_is_an_error_with_its_place(tmp_path: Path) -> None:
    committed = link(tmp_path / "links.log", LINKS.items())
    path = tmp_path / "a.graph"
    length = build_graph(tmp_path / "links.log", committed, tmp_path / "a.graph").length
    whole = path.read_bytes()
    path.write_bytes(whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
    with pytest.raises(CorruptFile) as damage:
        Graph(path, length).successors(signature("a"))
    assert (damage.value.path, damage.value.offset) == (path, 16)
    path.write_bytes(whole[:-1])
    with pytest.raises(CorruptFile):
        Graph(path, length)


def test_ranks_the_names_of_an_edge_list(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("# who links to whom\na,b\na,c\nb,c\nc,a\nd,c\n")
    ranked = rank_edge_list(path, damping=0.7)
    assert [name for name, _ in ranked] == ["c", "a", "b", "d"]
    expected = slow_pagerank({"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c"]}, damping=0.7)
    assert dict(ranked) == pytest.approx(expected, abs=1e-8)


def test_wrong_edge_lists_and_settings_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("a b\nb\n")
    with pytest.raises(InvalidArgument, match=r"edges\.txt:2: expected two names"):
        rank_edge_list(path)
    path.write_text("a b\n")
    with pytest.raises(InvalidArgument, match="damping"):
        rank_edge_list(path, damping=1.0)
    with pytest.raises(StorageError):
        rank_edge_list(tmp_path / "missing.txt")


def test_wiki_vote_agrees_with_the_definition(tmp_path: Path) -> None:
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
    assert dict(rank_edge_list(path)) == pytest.approx(expected, abs=1e-9)

    committed = link(tmp_path / "links.log", links.items())
    built = build_graph(tmp_path / "links.log", committed, tmp_path / "a.graph")
    graph = Graph(tmp_path / "a.graph", built.length)
    assert (graph.nodes, graph.arcs) == (7115, 103689)
    assert graph.bits_per_link < 8.8
    ranks = Ranks(tmp_path / "a.ranks", rank_graph(graph, tmp_path / "a.ranks").length)
    found = ranks.get([signature(page) for page in expected])
    assert found == pytest.approx([rank * 7115 for rank in expected.values()], rel=1e-5)
