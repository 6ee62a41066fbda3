"""crivello rank: any measure of any graph, compared, plotted and written to files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from crivello.cli.graphs import measures_of, options_of, registry, tell
from crivello.errors import InvalidArgument
from crivello.graph.graph import Graph
from crivello.graph.scores import Scores
from crivello.graph.table import write_table
from tests.shell import says
from tests.terminal import Terminal

COMMAND = [sys.executable, "-c", "from crivello.cli import main; main()"]
EDGES = "# who links to whom\nbob alice\ncarol alice\nalice bob\ncarol bob\ndave carol\n"


def crivello(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = says(*arguments)
    assert done.returncode == code, done
    return done


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    file = tmp_path / "edges.txt"
    file.write_text(EDGES)
    return file


def test_the_best_nodes_are_listed_by_name(edges: Path) -> None:
    said = crivello("rank", "--graph", edges, "--measure", "indegree,outdegree", "--top", "3").stdout
    heading, *lines = said.splitlines()
    assert heading.split() == ["indegree", "outdegree"]
    assert [line.split() for line in lines] == [
        ["1", "2", "1", "alice"],
        ["2", "2", "1", "bob"],
        ["3", "1", "2", "carol"],
    ]
    told = crivello("rank", "--graph", edges, "--measure", "outdegree", "--top", "1", "--json").stdout
    assert json.loads(told) == {"rank": 1, "name": "carol", "outdegree": 2.0}


def test_every_measure_is_listed_with_its_options() -> None:
    listed = [json.loads(line) for line in crivello("rank", "--list", "--json").stdout.splitlines()]
    assert [measure["name"] for measure in listed] == list(registry())
    assert all(measure["about"] for measure in listed)
    lines = crivello("rank", "--list").stdout.splitlines()
    assert {line.split()[0] for line in lines} == set(registry())


@pytest.mark.parametrize("ending", ["tsv", "npy", "parquet"])
def test_the_values_of_all_nodes_are_written(edges: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"values.{ending}"
    crivello("rank", "--graph", edges, "--measure", "indegree,outdegree", "--out", file)
    names, indegrees, outdegrees = ["alice", "bob", "carol", "dave"], [2, 2, 1, 0], [1, 1, 2, 1]
    if ending == "tsv":
        rows = [line.split("\t") for line in file.read_text().splitlines()]
        assert rows[0] == ["node", "indegree", "outdegree"]
        assert rows[1:] == [
            [name, str(float(one)), str(float(other))]
            for name, one, other in zip(names, indegrees, outdegrees, strict=True)
        ]
    elif ending == "npy":
        assert np.load(file).T.tolist() == [indegrees, outdegrees]
    else:
        found = duckdb.read_parquet(str(file)).order("node").fetchall()
        assert found == list(zip(range(4), names, indegrees, outdegrees, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", file.name]


def test_odd_names_stay_one_field_of_a_line(tmp_path: Path) -> None:
    graph = Graph.from_arcs([0], [1], names=["a\tb\n", "é'\""])
    for ending in ("tsv", "parquet"):
        write_table(graph, {"in-degree": graph.indegree()}, tmp_path / f"it's.{ending}")
    assert (tmp_path / "it's.tsv").read_text().splitlines()[1:] == ["a b \t0.0", "é'\"\t1.0"]
    found = duckdb.read_parquet(str(tmp_path / "it's.parquet")).fetchall()
    assert found == [(0, "a\tb\n", 0), (1, "é'\"", 1)]


def test_a_file_that_cannot_be_written_leaves_nothing(edges: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no" / "values.tsv"
    said = crivello("rank", "--graph", edges, "--measure", "indegree", "--out", missing, code=3)
    assert "values.tsv" in said.stderr and len(said.stderr.splitlines()) <= 2
    assert [path.name for path in tmp_path.iterdir()] == ["edges.txt"]


def test_measures_are_compared_and_plotted(edges: Path, tmp_path: Path) -> None:
    plot = tmp_path / "agreement.svg"
    said = crivello(
        "rank", "--graph", edges, "--compare", "indegree,outdegree", "--top", "2", "--plot", plot, "--ranks"
    )
    assert "Kendall" in said.stdout and "common in the top 2" in said.stdout
    assert plot.read_text().startswith("<?xml")
    told = json.loads(crivello("rank", "--graph", edges, "--compare", "indegree,outdegree", "--json").stdout)
    [pair] = told["pairs"]
    assert (told["nodes"], pair["one"], pair["other"], pair["overlap"]) == (4, "indegree", "outdegree", 1.0)
    assert -1 <= pair["tau"] <= 1
    crivello("rank", "--graph", edges, "--measure", "indegree", "--plot", tmp_path / "values.png")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--measure", "indegre"], "did you mean indegree?"),
        (["--measure", ","], "no measure"),
        (["--measure", "indegree", "--option", "radius=3"], "has no option radius"),
        (["--measure", "indegree", "--option", "radius"], "NAME=VALUE"),
        (["--measure", "indegree", "--damping", "0.9"], "has no option damping"),
        (["--measure", "indegree", "--compare", "indegree,outdegree"], "exclude"),
        (["--compare", "indegree"], "two measures"),
        (["--measure", "indegree", "--ranks"], "--compare"),
        (["--measure", "indegree", "--out", "values.csv"], ".tsv"),
        (["--measure", "indegree", "--plot", "values.gif"], ".png"),
    ],
)
def test_misuse_is_one_sentence(edges: Path, arguments: list[str], sentence: str) -> None:
    said = crivello("rank", "--graph", edges, *arguments, code=2)
    assert said.stdout == "" and sentence in said.stderr
    assert len(said.stderr.splitlines()) <= 2


def test_a_graph_or_a_collection_must_be_named(edges: Path, tmp_path: Path) -> None:
    assert "either a collection or a graph" in crivello("rank", code=2).stderr
    assert f"--graph {edges}" in crivello("rank", edges, code=2).stderr
    assert (
        "no.txt" in crivello("rank", "--graph", tmp_path / "no.txt", "--measure", "indegree", code=3).stderr
    )
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")
    assert "no nodes" in crivello("rank", "--graph", empty, "--measure", "indegree", code=1).stderr


def test_what_is_known_of_the_error_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Scores([1.0], "walk", iterations=61, residual=8e-10))
    tell(Scores([1.0], "walk", iterations=200, residual=0.5, converged=False))
    tell(Scores([1.0], "ball", error=np.array([0.1, 0.25]), confidence=0.9))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "walk: converged after 61 iterations, residual 8e-10"
    assert said[1] == "walk: warning: did NOT converge after 200 iterations, residual 0.5"
    assert said[2] == "ball: estimated, within ±0.25 with probability 90%"


def test_on_a_terminal_the_bar_disappears_and_the_answer_stays(edges: Path) -> None:
    terminal = Terminal([*COMMAND, "rank", "--graph", edges, "--measure", "indegree", "--top", "1"])
    code, screen = terminal.end()
    assert code == 0 and [line.split() for line in screen if line] == [["1", "2", "alice"]]


def test_ctrl_c_ends_a_long_measure_and_leaves_nothing(edges: Path, tmp_path: Path) -> None:
    endless: list[str | Path] = [
        "--measure",
        "walks",
        "--option",
        "length=4000000000",
        "--out",
        tmp_path / "walks.tsv",
    ]
    terminal = Terminal([*COMMAND, "rank", "--graph", edges, *endless])
    terminal.wait_for("walks")
    terminal.type("\x03")
    code, screen = terminal.end()
    assert code == 130
    assert not any("Traceback" in line or "walks" in line for line in screen), screen
    assert [path.name for path in tmp_path.iterdir()] == ["edges.txt"]


def test_options_are_what_their_annotations_say() -> None:
    measures = measures_of("pagerank,katz")
    given = ["damping=0.5", "weighted=False", "method=power", "preference=alice, bob", "attenuation=none"]
    assert options_of(given, measures) == {
        "damping": 0.5,
        "weighted": False,
        "method": "power",
        "preference": ["alice", "bob"],
        "attenuation": None,
    }
    assert options_of(["preference=[0.5, 0.5]", "dangling=uniform"], measures) == {
        "preference": [0.5, 0.5],
        "dangling": "uniform",
    }
    for wrong in ("damping=high", "iterations=1.5", "weighted=2"):
        with pytest.raises(InvalidArgument, match="is not"):
            options_of([wrong], measures)
