"""crivello lab graph: the examples, and the axioms of the measures as Boldi and Vigna proved them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from crivello.graph.graph import Graph
from crivello.graph.measures import MEASURES
from crivello.lab.graph import EXAMPLES, axioms_of, study
from crivello.lab.graph.plot import draw
from tests.shell import says

# Size for growing cliques, size for growing cycles, density, score monotonicity: table 2 of "Axioms for centrality" (2014).
PROVED = {
    "indegree": (True, False, True, True),
    "harmonic": (True, True, True, True),
    "closeness": (False, False, False, False),
    "lin": (True, False, False, False),
    "betweenness": (False, True, False, False),
    "eigenvector": (True, False, True, False),
    "seeley": (False, False, True, False),
    "katz": (True, False, True, True),
    "pagerank": (False, False, True, True),
    "authorities": (True, False, True, False),
    "salsa": (False, False, True, False),
}


def crivello(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says(*arguments)


@pytest.mark.parametrize("measure", sorted(set(PROVED) & set(MEASURES)))
def test_the_axioms_are_those_that_were_proved(measure: str) -> None:
    found = axioms_of(MEASURES[measure])
    assert not found.unknown
    verdicts = (found.size_of_clique, found.size_of_cycle, found.density, found.score_monotonicity)
    assert tuple(verdict is not None and verdict.holds for verdict in verdicts) == PROVED[measure]


def test_a_violation_is_shown() -> None:
    found = axioms_of(MEASURES["outdegree"]).score_monotonicity
    assert found is not None and not found.holds
    assert "is added to" in found.violation


def test_nodes_of_a_role_are_equal_in_every_example() -> None:
    """What is printed for one of them holds for all, or the table would lie."""
    for example in EXAMPLES:
        graph: Graph = example.graph()
        for degrees in (graph.indegree(), graph.outdegree()):
            by_role: dict[str, set[float]] = {}
            for role, value in zip(example.roles, degrees.tolist(), strict=True):
                by_role.setdefault(role, set()).add(value)
            assert all(len(values) == 1 for values in by_role.values()), example.name


def test_every_measure_is_in_every_table(tmp_path: Path) -> None:
    outcome = study()
    assert set(outcome.axioms) == set(MEASURES)
    assert [table.example for table in outcome.tables] == [example.name for example in EXAMPLES]
    for table in outcome.tables:
        assert [row.measure for row in table.rows] == list(MEASURES)
        for row in table.rows:
            assert row.unknown or len(row.values) == len(row.ranks) == len(table.roles)
    star = outcome.tables[0]
    [indegree] = [row for row in star.rows if row.measure == "indegree"]
    assert (indegree.best, indegree.values, indegree.ranks) == (["centre"], [6, 1, 0], [1, 2, 5])
    draw(outcome, tmp_path / "examples.svg")
    ElementTree.parse(tmp_path / "examples.svg")


def test_the_command_prints_tables_or_json(tmp_path: Path) -> None:
    plot = tmp_path / "examples.png"
    said = crivello("lab", "graph", "--measure", "indegree,outdegree", "--plot", plot)
    assert said.returncode == 0 and plot.stat().st_size > 0
    assert "bought votes" in said.stdout and "density" in said.stdout
    told = json.loads(crivello("lab", "graph", "--measure", "indegree", "--json").stdout)
    assert set(told["axioms"]) == {"indegree"} and told["axioms"]["indegree"]["density"]["holds"]
    refused = crivello("lab", "graph", "--measure", "indegre")
    assert refused.returncode == 2 and "did you mean indegree?" in refused.stderr
