"""The scripts of examples/, each run as a reader would, on the sample web."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SAID = {
    "ask_by_mcp": ["tools: fetch, search, similar, why", "http://127.0.0.", "'url'"],
    "deduplicate_a_corpus": ["documents", "dropped"],
    "follow_feeds": ["following ", "new: http://127.0.0.", "A note of today"],
    "rank_a_web_graph": ["<Graph: ", "best by PageRank", "by PageRank   10"],
    "search_your_docs": ["pages of http://127.0.0.", " for 'lens'", "http://127.0.0."],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs_and_says_what_it_promises(example: Path) -> None:
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=120)
    said = [line for line in done.stderr.splitlines() if "for assistants, on standard input" not in line]
    assert (done.returncode, said) == (0, []), done.stderr
    for part in SAID[example.stem]:
        assert part in done.stdout, done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_begins_with_its_command(example: Path) -> None:
    assert f"python examples/{example.name}" in example.read_text().split('"""')[1]
