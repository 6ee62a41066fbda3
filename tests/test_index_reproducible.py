"""The same pages in the same order give the same bytes, whatever the threads and the memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crivello._core import parse_html
from crivello.index import Document, Index
from tests import cranfield
from tests.searching import indexing
from tests.test_parse import data
from tests.test_shell import crivello

SMALL = 16 << 20
LARGE = 256 << 20


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Real pages in several languages, and the abstracts of Cranfield."""
    pages = []
    for file in sorted(data("pages").iterdir()):
        url = f"https://{file.name}/"
        page = parse_html(file.read_bytes(), url)
        headings = "\n".join(page.headings)
        pages.append(Document(url, page.title, page.text, page.language, headings, kind="text/html"))
    return pages + cranfield.documents()


@pytest.mark.parametrize("order", ["arrival", "url", "bisection"])
@pytest.mark.parametrize("codes", ["balanced", "smallest"])
def test_threads_and_memory_leave_no_trace(
    documents: list[Document], order: str, codes: str, tmp_path: Path
) -> None:
    segments = set()
    for threads, memory in [(1, LARGE), (1, SMALL), (2, LARGE), (2, SMALL), (3, SMALL), (2, SMALL)]:
        settings = indexing(threads=threads, memory=memory, order=order, prefer=codes)
        [(name, _)] = Index(tmp_path, settings=settings).add(documents)
        segments.add((tmp_path / name).read_bytes())
    assert len(segments) == 1


def test_two_commands_write_the_same_segment(documents: list[Document], tmp_path: Path) -> None:
    lines = (json.dumps(document._asdict()) for document in documents)
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    segments = set()
    for folder, threads, memory in [("one", "1", LARGE), ("two", "3", SMALL)]:
        source = ("--from", tmp_path / "pages.jsonl")
        done = crivello("index", tmp_path / folder, *source, "--threads", threads, "--memory", str(memory))
        assert done.returncode == 0, done.stderr
        [segment] = (tmp_path / folder / "index").glob("*.seg")
        segments.add(segment.read_bytes())
    assert len(segments) == 1
