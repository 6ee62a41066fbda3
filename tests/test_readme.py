"""Programs and sessions of the documentation do what it says: they are run, and what they print is compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from docs.generate import ROOT

from crivello.lab.web import SampleWeb
from tests.crawling import CRIVELLO

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PAGES = ["README.md", "docs/collection.md", "docs/search.md"]
# What differs from one run or machine to the next, and what takes the place of it.
_VARYING = [
    (
        re.compile(
            r"^(seconds|bytes|  memory|  known from its cache|requests|terms|postings|bits per link|iterations) .*$"
        ),
        r"\1 …",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\d+\.\d ms"), "… ms"),
    (re.compile(r"(127\.0\.0\.\d+):\d+"), r"\1:PORT"),
]


def programs(page: str) -> list[tuple[str, str]]:
    """The programs of a page that are followed by what they print."""
    blocks = [(match[1], match[2], match.span()) for match in _FENCED.finditer((ROOT / page).read_text())]
    text = (ROOT / page).read_text()
    return [
        (program, printed)
        for (kind, program, span), (next_kind, printed, next_span) in pairwise(blocks)
        if (kind, next_kind) == ("python", "text") and not text[span[1] : next_span[0]].strip()
    ]


def session(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a page's sessions, each with the lines that are shown below it."""
    blocks = [match[2] for match in _FENCED.finditer((ROOT / page).read_text()) if match[1] == "console"]
    for entry in re.split(r"^\$ ", "".join(blocks), flags=re.MULTILINE)[1:]:
        command, _, printed = entry.partition("\n")
        yield command, printed.rstrip().splitlines()


def settled(line: str) -> str:
    """A line without what varies."""
    for pattern, replacement in _VARYING:
        line = pattern.sub(replacement, line)
    return " ".join(line.split())


def _with_defaults() -> dict[str, str]:
    """The environment without settings: a page shows what a new user sees."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CRIVELLO_CRAWL_")}


@pytest.mark.parametrize("page", _PAGES)
def test_programs_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    found = programs(page)
    assert found
    if page == "README.md":
        assert len(found) == (ROOT / page).read_text().count("```python")
    for program, printed in found:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=_with_defaults(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.stdout, done.returncode) == (printed, 0), done.stderr


def test_the_session_of_the_readme_goes_as_shown(tmp_path: Path) -> None:
    """On a web that answers at once, with a shorter delay; of a long answer the page may show the beginning."""
    commands = list(session("README.md"))
    assert len(commands) >= 4
    environment = {**_with_defaults(), "COLUMNS": "1000"}
    with SampleWeb(slow=0) as web:
        for command, printed in commands:
            words = shlex.split(
                command.replace(":8090", f":{web.port}").replace("--delay 0.05", "--delay 0.01")
            )
            assert words[0] == "crivello"
            done = subprocess.run(
                [CRIVELLO, *words[1:]],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=240,
            )
            assert done.returncode == 0, done.stdout
            said = [settled(line) for line in done.stdout.splitlines()[: len(printed)]]
            assert said == [settled(line) for line in printed], command
