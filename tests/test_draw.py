"""Drawings of graphs: readable, valid, the same every time."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

from crivello.graph.draw import LIMIT, Drawing, draw_most_important, draw_neighbourhood
from crivello.graph.draw.labels import common_folder, label_of, shortened, width
from crivello.graph.graph import Graph

SVG = "{http://www.w3.org/2000/svg}"


def site(pages: int, *, links: int = 6, hosts: int = 3, seed: int = 1) -> Graph:
    """Pages of some hosts; all link to the first of their host, and to others at random."""
    random = np.random.default_rng(seed)
    host = random.integers(0, hosts, pages)
    sources = np.repeat(np.arange(pages), links)
    targets = random.integers(0, pages, pages * links)
    targets[::links] = [int(np.flatnonzero(host == host[page])[0]) for page in range(pages)]
    names = [
        f"https://host{host[page]}.example/folder/a-page-{page}-with-a-long-name" for page in range(pages)
    ]
    return Graph.from_arcs(sources, targets, nodes=pages, names=names)


def overlapping(drawing: Drawing) -> list[tuple[str, str]]:
    """The pairs of labels whose boxes overlap, and labels that lie over another node's disc."""
    found = []
    for one, other in combinations(drawing.discs, 2):
        a, b = one.box, other.box
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            found.append((one.label, other.label))
    return found


def test_two_hundred_nodes_are_readable() -> None:
    graph = site(1000)
    drawing = draw_neighbourhood(graph, 5, graph.indegree(), radius=3)
    assert len(drawing.discs) == LIMIT
    assert overlapping(drawing) == []
    root = ElementTree.fromstring(str(drawing))
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "label"]
    assert len(labels) == LIMIT and all(labels)
    links = {link.get("href") for link in root.iter(f"{SVG}a")}
    assert graph.name(5) in links and len(links) == LIMIT
    _, _, wide, tall = map(float, root.attrib["viewBox"].split())
    assert wide < 4000 and tall < 4000
    assert "most important of" in drawing.notes[0]
    assert {text for text, _ in drawing.legend} >= {
        f"host{host}.example ({sum(f'//host{host}.' in disc.link for disc in drawing.discs)})"
        for host in range(3)
    }


def test_the_same_graph_is_drawn_the_same() -> None:
    graph = site(80)
    assert str(draw_most_important(graph, graph.indegree())) == str(
        draw_most_important(graph, graph.indegree())
    )


ARCS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


@settings(max_examples=30, deadline=None)
@given(ARCS, st.lists(st.text(max_size=60), min_size=12, max_size=12), st.integers(0, 11))
def test_any_small_graph_with_any_names_is_valid_xml_without_overlaps(
    arcs: list[tuple[int, int]], names: list[str], centre: int
) -> None:
    graph = Graph.from_arcs([a for a, _ in arcs], [b for _, b in arcs], nodes=12, names=names)
    drawing = draw_neighbourhood(graph, centre, graph.indegree(), radius=2)
    ElementTree.fromstring(str(drawing))
    assert overlapping(drawing) == []
    near = {centre, *(a for a, b in arcs if b == centre), *(b for a, b in arcs if a == centre)}
    assert len(drawing.discs) >= len(near)
    assert drawing.discs[0].is_centre


def test_arrows_point_to_what_is_linked_and_opposite_ones_are_one() -> None:
    graph = Graph.from_arcs([0, 1, 2, 2], [1, 0, 0, 2], names=["a", "b", "c"])
    drawing = draw_neighbourhood(graph, 0, graph.indegree(), radius=1)
    assert [disc.label for disc in drawing.discs] == ["a", "b", "c"]
    assert sorted((arrow.source, arrow.target, arrow.both) for arrow in drawing.arrows) == [
        (0, 1, True),
        (2, 0, False),
    ]
    legend = {text for text, _ in drawing.legend}
    assert legend == {"the node itself (1)", "both ways (1)", "links to it (1)"}


def test_one_node_alone_and_a_graph_without_arcs() -> None:
    lonely = Graph.from_arcs([], [], nodes=1)
    ElementTree.fromstring(str(draw_neighbourhood(lonely, 0, lonely.indegree())))
    apart = Graph.from_arcs([], [], nodes=30)
    drawing = draw_most_important(apart, apart.indegree())
    assert len(drawing.discs) == 30 and overlapping(drawing) == []


def test_near_nodes_come_first_and_then_the_important_ones() -> None:
    # 0 → 1 … 5; 9 is far more important, but two steps away.
    graph = Graph.from_arcs([0, 0, 0, 0, 0, 1, 6, 7, 8, 5, 4], [1, 2, 3, 4, 5, 9, 9, 9, 9, 4, 5], nodes=10)
    drawing = draw_neighbourhood(graph, 0, graph.indegree(), radius=2, limit=3)
    assert [disc.label for disc in drawing.discs] == ["0", "4", "5"]
    drawing = draw_neighbourhood(graph, 0, graph.indegree(), radius=2, limit=7)
    assert drawing.discs[-1].label == "9"


def test_labels_are_shortened_in_the_middle() -> None:
    assert shortened("a" * 20 + "b" * 20, 11) == "aaaaa…bbbbb"
    assert shortened("short", 11) == "short"
    names = ["http://a.example/doc/x/one.html", "http://a.example/doc/y.html"]
    assert common_folder(names) == "http://a.example/doc/"
    assert common_folder([*names, "http://b.example/doc/y.html"]) == ""
    assert label_of(names[0], "http://a.example/doc/") == "x/one.html"
    assert label_of("https://a.example/") == "a.example"
    assert label_of("line\nbreak") == "line\N{REPLACEMENT CHARACTER}break"


@pytest.mark.browser
def test_in_a_browser_no_label_is_wider_than_was_planned(browser: Browser) -> None:
    graph = site(300)
    drawing = draw_neighbourhood(graph, 5, graph.indegree(), radius=2)
    page = browser.new_page()
    page.set_content(str(drawing))
    found = page.evaluate(
        "[...document.querySelectorAll('.label')].map(label => {"
        " const box = label.getBBox(); return [box.x, box.y, box.x + box.width, box.y + box.height] })"
    )
    page.close()
    assert len(found) == len(drawing.discs)
    for a, b in combinations(found, 2):
        assert not (a[0] < b[2] and b[0] < a[2] and a[1] + 1 < b[3] and b[1] + 1 < a[3])


def test_widths_are_estimated_by_character() -> None:
    assert width("illi", 10) < width("mwmw", 10) < width("漢字漢字漢", 10)
