"""crivello graph: what a graph is like, other forms of it, and drawings."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello.graph.graph import Graph
from crivello.graph.info import describe
from tests.shell import says

PAGES = "".join(
    f"http://{source}.example/ http://{target}.example/\n"
    for source, target in [("a", "b"), ("b", "a"), ("c", "a"), ("c", "c/x"), ("c/x", "c")]
).replace("c/x.example/", "c.example/x")


def crivello(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = says(*arguments)
    assert done.returncode == code, done
    return done


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    file = tmp_path / "pages.txt"
    file.write_text(PAGES)
    return file


ARCS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


@given(ARCS)
def test_a_description_is_that_of_networkx(arcs: list[tuple[int, int]]) -> None:
    graph = Graph.from_arcs([a for a, _ in arcs], [b for _, b in arcs], nodes=10)
    peer = networkx.DiGraph(arcs)
    peer.add_nodes_from(range(10))
    found = describe(graph)
    assert (found.nodes, found.arcs) == (10, peer.number_of_edges())
    assert found.loops == networkx.number_of_selfloops(peer)
    peer_without = networkx.DiGraph([arc for arc in peer.edges if arc[0] != arc[1]])
    expected = networkx.overall_reciprocity(peer_without) if peer_without.edges else 0
    assert found.reciprocity == pytest.approx(expected)
    out, into = dict(peer.out_degree()), dict(peer.in_degree())
    assert found.dangling == sum(degree == 0 for degree in out.values())
    assert found.sources == sum(degree == 0 for degree in into.values())
    assert found.isolated == sum(out[node] == into[node] == 0 for node in range(10))
    assert (found.indegree.largest, found.outdegree.largest) == (max(into.values()), max(out.values()))
    strong = sorted(map(len, networkx.strongly_connected_components(peer)))
    weak = sorted(map(len, networkx.weakly_connected_components(peer)))
    assert (found.strong_components, found.largest_strong_component) == (len(strong), strong[-1])
    assert (found.weak_components, found.largest_weak_component) == (len(weak), weak[-1])
    assert sum(found.bow_tie.values()) == 10 and found.bow_tie["core"] == strong[-1]


def test_arcs_are_counted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.from_arcs([0, 0, 0, 1, 2, 3, 3], [0, 1, 2, 0, 3, 2, 0])
    whole = describe(graph)
    monkeypatch.setattr("crivello.graph.info._ARCS_AT_ONCE", 1)
    assert describe(graph) == whole
    assert whole.loops == 1 and whole.reciprocity == pytest.approx(4 / 6)


def test_info_tells_of_hosts_and_components(pages: Path) -> None:
    said = crivello("graph", "info", pages).stdout
    assert "reciprocity" in said and "bow-tie: core" in said and "c.example" in said
    told = json.loads(crivello("graph", "info", pages, "--json").stdout)
    assert (told["nodes"], told["arcs"], told["all_hosts"]) == (4, 5, 3)
    [first, *_] = told["hosts"]
    assert first == {"name": "c.example", "pages": 2, "within": 2, "incoming": 0, "outgoing": 1}
    assert told["bytes"] == len(PAGES)
    assert told["indegree"]["nodes"][0] == ["http://a.example/", 2]


def test_an_empty_graph_is_described(tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.write_text("# nothing\n")
    told = json.loads(crivello("graph", "info", file, "--json", code=1).stdout)
    assert (told["nodes"], told["arcs"], told["bow_tie"]["core"]) == (0, 0, 0)


def test_a_page_a_host_and_all_hosts_are_drawn(pages: Path, tmp_path: Path) -> None:
    around = tmp_path / "around.svg"
    crivello("graph", "draw", pages, "HTTP://c.example", "--measure", "indegree", "--out", around)
    assert _labels(around.read_text()) == Counter(["c.example", "c.example/x", "a.example"])
    hosts = crivello("graph", "draw", pages, "--measure", "indegree").stdout
    assert _labels(hosts) == Counter(["a.example", "b.example", "c.example"])
    host = crivello("graph", "draw", pages, "b.example", "--measure", "indegree").stdout
    assert _labels(host) == Counter(["a.example", "b.example"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["around.svg", "pages.txt"]


def _labels(svg: str) -> Counter[str | None]:
    root = ElementTree.fromstring(svg)
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    return Counter(text.text for text in texts if text.get("class") == "label")


def test_what_cannot_be_drawn_is_one_sentence(pages: Path, tmp_path: Path) -> None:
    missing = crivello("graph", "draw", pages, "http://no.example/", "--measure", "indegree", code=2)
    assert missing.stdout == "" and "no node http://no.example/" in missing.stderr
    assert "did you mean" in crivello("graph", "draw", pages, "--measure", "indegre", code=2).stderr
    assert "is not" in crivello("graph", "draw", pages, "--nodes", "2000", code=2).stderr
    out = tmp_path / "no" / "x.svg"
    assert "x.svg" in crivello("graph", "draw", pages, "--measure", "indegree", "--out", out, code=3).stderr


def test_other_forms_are_written(pages: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.csv.gz"
    said = crivello("graph", "convert", pages, target, "--memory", "64M")
    assert said.stdout == "" and "4 nodes and 5 arcs" in said.stderr
    one, other = (json.loads(crivello("graph", "info", path, "--json").stdout) for path in (pages, target))
    assert one["form"] == other["form"] == "edge-list"
    same = set(one) - {"source", "bytes"}
    assert {name: one[name] for name in same} == {name: other[name] for name in same}
    told = json.loads(crivello("graph", "convert", pages, tmp_path / "again.txt", "--json").stdout)
    assert (told["nodes"], told["arcs"]) == (4, 5)


def test_what_cannot_be_converted_is_one_sentence(pages: Path, tmp_path: Path) -> None:
    assert "form of a graph" in crivello("graph", "convert", pages, tmp_path / "x.what", code=2).stderr
    assert (
        "not a size"
        in crivello("graph", "convert", pages, tmp_path / "x.csv", "--memory", "lots", code=2).stderr
    )
    assert "no form" in crivello("graph", "convert", pages, tmp_path / "x", "--form", "what", code=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pages.txt"]
