"""The recipes of CONTRIBUTING.md: every name is where it says, and those that need no compiler are followed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECIPES = ("setting", "verb", "query operator", "scorer", "sieve", "code", "format", "measure of the graph")
_RECIPE = re.compile(r"^## Add an? (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`(\w+)`(?: and its line)? in\s+\[[^]]*\]\(([^)]+)\)")


def recipes() -> dict[str, str]:
    return dict(_RECIPE.findall((ROOT / "CONTRIBUTING.md").read_text()))


@pytest.mark.parametrize("name", RECIPES)
def test_there_is_a_recipe_whose_names_are_where_it_says(name: str) -> None:
    recipe = recipes()[name]
    named = _NAMED.findall(recipe)
    assert named or "](" in recipe
    for word, path in named:
        assert re.search(rf"\b{word}\b", (ROOT / path).read_text()), f"{path} has no {word}"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, to be changed."""
    shutil.copytree(
        ROOT / "python" / "crivello", tmp_path / "crivello", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "crivello"


def run(package: Path, *arguments: str) -> str:
    """What a command of the changed package prints."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "COLUMNS": "100"}
    command = [sys.executable, "-c", "from crivello.cli import main; main()", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=package.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


def insert(file: Path, before: str, text: str) -> None:
    content = file.read_text()
    assert content.count(before) == 1, f"{file.name} has {content.count(before)} times {before!r}"
    file.write_text(content.replace(before, text + before))


def test_a_setting_is_one_field(package: Path) -> None:
    fields = package / "settings" / "fields" / "serve.py"
    field = re.compile(r"    port: Annotated\[.*?\] = \(?\n?.*?8080\n? *\)?\n", re.DOTALL)
    [port] = field.findall(fields.read_text())
    insert(fields, port, port.replace("    port:", "    spare_port:").replace("8080", "8081"))
    assert "--spare-port" in run(package, "serve", "--help")


def test_a_verb_is_a_module_and_its_line(package: Path) -> None:
    (package / "cli" / "greet.py").write_text(
        "import typer\n\n"
        "def register(app: typer.Typer) -> None:\n    app.command('greet')(greet)\n\n"
        'def greet() -> None:\n    """Say hello."""\n    print(\'hello\')\n'
    )
    app = package / "cli" / "app.py"
    insert(app, '        "index": ', '        "greet": "crivello greet",\n')
    assert run(package, "greet") == "hello\n"
    assert "crivello greet" in run(package, "--help")


def test_a_measure_is_a_method_with_a_decorator(package: Path) -> None:
    degrees = package / "graph" / "degrees.py"
    degrees.write_text(
        degrees.read_text() + "\n"
        '    @measure("links to and from a page", family="degree")\n'
        "    def degree(self) -> Scores:\n"
        '        """d(x) = d⁻(x) + d⁺(x). Cost: O(n + m)."""\n'
        '        return Scores(self.indegree() + self.outdegree(), "degree")\n'
    )
    assert "links to and from a page" in run(package, "rank", "--list")
    edges = package.parent / "edges.txt"
    edges.write_text("a b\nb c\n")
    assert run(package, "rank", "--graph", str(edges), "--measure", "degree", "--top", "1").split() == [
        "1",
        "2",
        "b",
    ]
    assert "degree" in run(package, "lab", "graph", "--measure", "degree")
