"""What a notebook shows: results, reports and graphs as HTML, and progress in place, in a real kernel."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crivello
from crivello.graph import Graph
from crivello.search.results import Hit, Results, Snippet

HOSTILE = '<script>alert(1)</script>"'


def test_results_look_like_the_page_and_are_escaped() -> None:
    snippet = Snippet(((HOSTILE, False), ("lens", True)))
    hits = (
        Hit(1, 2.5, f"https://a.example/?{HOSTILE}", HOSTILE, snippet, language="en"),
        Hit(2, 1.5, "javascript:alert(1)", "", snippet),
    )
    shown = Results(HOSTILE, 2, 100, hits)._repr_html_()
    assert "<script" not in shown and "<mark>lens</mark>" in shown
    assert shown.count("<a href=") == 1 and 'href="javascript' not in shown
    assert "en · 2.500" in shown


def test_a_graph_is_drawn_and_a_large_one_counted() -> None:
    graph = Graph.from_arcs([0, 1, 2, 3], [1, 2, 0, 0], names=["<b>a</b>", "b", "c", "d"])
    shown = graph._repr_html_()
    assert shown.startswith("<p>Graph: 4 nodes, 4 arcs</p><img ") and "<b>" not in shown
    image = base64.b64decode(shown.partition("base64,")[2].partition('"')[0]).decode()
    assert image.startswith("<svg") and "&lt;b&gt;a" in image
    many = np.arange(1_000_001)
    assert Graph.from_arcs(many, many + 1)._repr_html_() == "<p>Graph: 1,000,002 nodes, 1,000,001 arcs</p>"


def test_scores_show_the_best() -> None:
    scores = Graph.from_arcs([0, 1, 2], [1, 1, 1]).indegree()
    assert "<td>1</td><td>3</td>" in scores._repr_html_() and "indegree of 3 nodes" in scores._repr_html_()
    some: Any = scores[:2]
    assert some._repr_html_().startswith("<pre>")


def test_a_story_is_a_table(tmp_path: Path) -> None:
    with crivello.create(tmp_path / "c") as collection:
        shown = collection.why("https://a.example/?<b>")._repr_html_()
    assert shown.startswith("<table>") and "?<b>" not in shown


def test_progress_is_one_output_that_is_updated_and_emptied(tmp_path: Path) -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    program = f"""
import crivello
from crivello.lab.web import SampleWeb
with SampleWeb(hosts=3, pages_per_host=6, slow=0) as web, crivello.create({str(tmp_path / "c")!r}, crawl={{"delay": 0.02}}) as c:
    c.crawl(web.seeds[:1])
    c.index()
"""
    kernel, client = manager.start_new_kernel(kernel_name="python3")
    try:
        said: list[dict[str, Any]] = []
        answer = client.execute_interactive(program, output_hook=said.append, timeout=100)
        assert answer["content"]["status"] == "ok", answer["content"]
        begun = [one for one in said if one["msg_type"] == "display_data"]
        updates = [one["content"] for one in said if one["msg_type"] == "update_display_data"]
        assert len(begun) == 2
        assert any("pages fetched" in one["data"].get("text/html", "") for one in updates)
        assert any("<progress" in one["data"].get("text/html", "") for one in updates)
        last = {one["transient"]["display_id"]: one["data"]["text/html"] for one in updates}
        assert list(last.values()) == ["", ""]
        assert not [one for one in said if one["msg_type"] == "stream"]
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
