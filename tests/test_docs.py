"""What is not documented, or documented wrongly, fails here."""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from docs import recording
from docs.generate import ROOT, documents, help_of, main, renewed, shown, verbs
from typer.main import get_command

from crivello import settings
from crivello.cli.app import application
from crivello.cli.graphs import registry
from crivello.graph.graph import Graph
from crivello.graph.measures import Measure
from tests.shell import CRIVELLO

DOCS = ROOT / "docs"
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ASSIGNMENT = re.compile(r"^(CRIVELLO_\w+)=")
_AFTER_A_COMMAND = ("|", "<", ">", ">>", "2>", "&", "&&", ";")
_NOT_SETTINGS = {"CRIVELLO_DEBUG"}


def _fenced(document: Path, language: str | None = None) -> Iterator[str]:
    for match in _FENCED.finditer(document.read_text()):
        if language is None or match[1] == language:
            yield match[2]


def _examples() -> list[tuple[str, str]]:
    """Every line of a fenced block that runs ``crivello``, with the document it is in."""
    return [
        (document.name, line.strip().removeprefix("$ "))
        for document in documents()
        for block in _fenced(document)
        for line in block.splitlines()
        if re.match(r"\s*(\$ )?(CRIVELLO_\w+=\S+ )*crivello\s", line)
    ]


def test_the_generated_parts_are_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_a_generated_part_that_is_wrong_is_noticed() -> None:
    page = (DOCS / "settings.md").read_text()
    assert renewed(page.replace("`CRIVELLO_CRAWL_DELAY`", "`CRIVELLO_DELAY`")) == page


@pytest.mark.parametrize("verb", list(verbs()))
def test_every_verb_is_in_the_page_of_the_shell_with_its_help(verb: str) -> None:
    page = (DOCS / "shell.md").read_text()
    assert re.search(rf"^#+ `{f'crivello {verb}'.strip()}`$", page, re.MULTILINE)
    assert help_of(verb) in page


@pytest.mark.parametrize("verb", ["", "crawl", "lab url"])
def test_the_installed_command_says_the_same(verb: str) -> None:
    command = [str(CRIVELLO), *verb.split(), "--help"]
    environment = {**os.environ, "COLUMNS": "100"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert help_of(verb) == f"```text\n{said.rstrip()}\n```\n"


@pytest.mark.parametrize("setting", list(settings.all_settings()), ids=lambda setting: setting.variable)
def test_every_setting_is_in_the_page_of_settings(setting: settings.Setting) -> None:
    rows = [
        line for line in (DOCS / "settings.md").read_text().splitlines() if f"`{setting.variable}`" in line
    ]
    assert len(rows) == 1
    assert f"| `{setting.name}` | `{shown(setting)}` | {setting.help} |" in rows[0]


@pytest.mark.parametrize("measure", list(registry().values()), ids=lambda measure: measure.name)
def test_every_measure_is_in_the_page_of_centrality_with_its_cost(measure: Measure) -> None:
    page = (DOCS / "centrality.md").read_text()
    assert f"<!-- generated: measures {measure.family} -->" in page
    assert re.search(rf"^### .*`{measure.name}`", page, re.MULTILINE)
    assert f"| `{measure.name}` | {measure.family} |" in page
    doc = measure.method.__doc__ or ""
    referred = [getattr(Graph, name, None) for name in re.findall(r"``(\w+)``", doc)]
    told = " ".join([doc, *(method.__doc__ or "" for method in referred if callable(method))])
    assert re.search(r"Cost|O\(", told)


def test_the_tour_names_every_folder_of_code() -> None:
    tour = (DOCS / "architecture.md").read_text()
    package = ROOT / "python" / "crivello"
    folders = [file.parent for file in package.rglob("__init__.py") if file.parent != package]
    native = [file.parent for file in (ROOT / "crates/core/src").rglob("mod.rs")]
    folders += [folder for folder in native if folder.name != "tests"]
    paths = [f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders]
    assert [path for path in paths if path not in tour] == []


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in _LINK.findall(document.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), target
        if anchor:
            assert anchor in _anchors(file), target


def _anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_there_are_examples() -> None:
    assert {"README.md", "shell.md", "crawl.md", "search.md"} <= {document for document, _ in _examples()}


@pytest.mark.parametrize(("document", "line"), sorted(set(_examples())))
def test_every_example_is_a_real_command(document: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    while match := _ASSIGNMENT.match(words[0]):
        assert match[1] in _NOT_SETTINGS | {setting.variable for setting in settings.all_settings()}, document
        words.pop(0)
    end = next((place for place, word in enumerate(words) if word in _AFTER_A_COMMAND), len(words))
    _parse(_command_line(), "crivello", words[1:end])


@functools.cache
def _command_line() -> Any:
    return get_command(application())


def _parse(command: Any, name: str, words: list[str], parent: Any = None) -> None:
    """Reads the words as the command would, without running it."""
    context = command.make_context(name, list(words), parent=parent)
    if hasattr(command, "commands"):
        verb, child, rest = command.resolve_command(context, words)
        _parse(child, verb, rest, context)


def test_the_recording_is_of_its_commands_and_loads_nothing() -> None:
    image = recording.IMAGE.read_text()
    root = ElementTree.fromstring(image)
    shown = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    commands = [line.removeprefix("$ ") for line in shown if line.startswith("$ ")]
    assert commands == [*recording.COMMANDS, recording.LAST]
    for command in commands:
        _parse(get_command(application()), "crivello", shlex.split(command)[1:])
    assert "741" in " ".join(shown) and len(image) < 100_000
    assert "<script" not in image and not re.search(r"url\((?!#)|href=|@import", image)


def test_what_is_drawn_is_what_was_said() -> None:
    said = [f"line {number} <&>" for number in range(40)] + ["x" * 300]
    drawn = recording.drawn([recording.Ran("crivello index sample", said, 1.0)])
    texts = [
        "".join(text.itertext())
        for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts[2:42] == said[:40] and texts[42].endswith("x…") and len(texts[42]) < 100


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_python_snippets_compile(document: Path) -> None:
    for snippet in _fenced(document, "python"):
        compile(snippet, document.name, "exec")


def test_the_readme_shows_python() -> None:
    assert list(_fenced(ROOT / "README.md", "python"))
