"""The Python of every page of docs/ runs, in the order of the page, and has the values that its comments say.

A page starts with the files and names that its text presupposes. A block after ``<!-- not run: WHY -->`` is left out;
those of README.md, collection.md and search.md are run by test_readme.py with what they print, those of extending.md by
test_extending.py.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from docs.generate import ROOT

import crivello
from tests.doors import served, token
from tests.small_web import SmallWeb, links, words

ELSEWHERE = {"collection.md", "search.md", "extending.md"}
SERVED = {"doors.md", "refresh.md"}
_BLOCK = re.compile(r"(<!-- not run: [^>\n]+ -->\n)?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"# ((?:array\(|\[|\(|range|\d).*)")
TEXTS = [
    "The harbour light was lit at dusk by the keeper, who climbed two hundred steps with a can of oil.",
    "The harbour light was lit at dusk by the keeper, who climbed two hundred steps with a can of oil!",
    "Bees keep their hive at one temperature through the winter, and fly out on the first warm day of March.",
    "A Fresnel lens is cut into rings of glass, and throws the light of a small flame twenty miles to sea.",
]


def blocks(page: str) -> list[str]:
    found = _BLOCK.findall((ROOT / "docs" / page).read_text())
    return [block for marked, block in found if not marked]


PAGES = sorted(
    path.name
    for path in (ROOT / "docs").glob("*.md")
    if path.name not in ELSEWHERE | SERVED and blocks(path.name)
)


def pages_jsonl() -> None:
    rows = [{"id": place, "text": text, "body": text} for place, text in enumerate(TEXTS)]
    Path("pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def tree() -> crivello.Collection:
    """A collection of two pages of www.example.org."""
    for path, text in (("index.html", links("/a.html")), ("a.html", words(40))):
        Path("tree").mkdir(exist_ok=True)
        Path("tree", path).write_text(f"<title>{path}</title>{text}")
    with crivello.create("made") as made:
        made.import_(Path("tree"), base="https://www.example.org/", progress=False)
    return crivello.open("made")


def versions() -> dict[str, Any]:
    """A page as it was ten days ago and as it is today, from a WARC file."""
    url, now = "https://www.example.org/", datetime.now(UTC)
    with gzip.open("two.warc.gz", "wb") as file:
        for days, text in ((10, words(40)), (0, words(40, "new"))):
            page = f"<title>Lamps</title><p>{text}".encode()
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
            date = (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
                f"WARC-Record-ID: <urn:uuid:{uuid4()}>\r\nContent-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(block)}\r\n\r\n"
            )
            file.write(head.encode() + block + b"\r\n\r\n")
    with crivello.create("two") as made:
        made.import_("two.warc.gz", progress=False)
    return {"collection": crivello.open("two")}


def archives() -> dict[str, Any]:
    Path("crawls").mkdir()
    tree().export("crawls/a.warc.gz", progress=False)
    return {}


def divided(by: str) -> dict[str, Any]:
    folder = Path(f"by-{by}")
    documents = [{"id": place, "title": "x", "body": text} for place, text in enumerate(TEXTS)]
    with crivello.create(folder, index={"shards": 2, "partition": by}) as made:
        made.add(documents)
    return {"folder": folder, "collection": crivello.open(folder)}


def duplicates() -> dict[str, Any]:
    pages_jsonl()
    return {"texts": TEXTS * 5}


def edges() -> dict[str, Any]:
    names = ["https://www.example.org/", "https://a.example/", "https://b.example/"]
    arcs = [(0, 1), (1, 2), (2, 0), (0, 2)]
    with gzip.open("edges.txt.gz", "wt") as file:
        file.writelines(f"{names[one]}\t{names[other]}\n" for one, other in arcs)
    return {}


def judged() -> dict[str, Any]:
    Path("qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 b 1\n")
    for name, order in (("books.run", "ab"), ("soft.run", "ba")):
        lines = [
            f"{query} Q0 {id_} {place} {9 - place} x\n"
            for query in "12"
            for place, id_ in enumerate(order, 1)
        ]
        Path(name).write_text("".join(lines))
    return {}


def url_files() -> dict[str, Any]:
    folder = Path("sieve")
    (folder / "frontier").mkdir(parents=True)
    for name in "ab":
        with gzip.open(f"{name}.txt.gz", "wt") as file:
            file.write(f"https://both.example/\nhttps://{name}.example/\n")
    return {"folder": folder}


GIVEN: dict[str, Callable[[], dict[str, Any] | None]] = {
    "archives.md": archives,
    "duplicates.md": duplicates,
    "evaluate.md": judged,
    "filters.md": lambda: {"batch": ["a", "b", "a"]},
    "graph.md": edges,
    "index.md": lambda: Path("folder").mkdir(),
    "lab.md": pages_jsonl,
    "sieve.md": url_files,
    "store.md": versions,
}
# In these, names that a block takes from the text before it.
BETWEEN: dict[str, Callable[[int], dict[str, Any]]] = {
    "shards.md": lambda number: divided("terms" if number else "documents"),
}
INSTEAD = {"ProcessPoolExecutor": "ThreadPoolExecutor"}  # forking a process with threads is a warning


def run(block: str, names: dict[str, Any], page: str) -> None:
    """Runs a block statement by statement, and compares the values of expressions with the comments beside or below."""
    for old, new in INSTEAD.items():
        block = block.replace(old, new)
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), page, "exec"), names)
            continue
        value = eval(compile(ast.Expression(statement.value), page, "eval"), names)
        last = (statement.end_lineno or statement.lineno) - 1
        below = lines[last + 1] if last + 1 < len(lines) and lines[last + 1].startswith("#") else ""
        if said := _VALUE.search(lines[last][statement.end_col_offset or 0 :]) or _VALUE.match(below):
            assert agrees(value, said[1]), f"{page}: {ast.unparse(statement)} is {value!r}, not {said[1]}"


def agrees(value: object, said: str) -> bool:
    """Whether a comment begins with a value; three dots stand for the rest of a number."""
    shown, said = repr(value).replace(" ", ""), said.replace(" ", "")
    number = said.partition("...")[0] if re.match(r"\d+\.\d+\.\.\.", said) else ""
    return shown.startswith(number) if number else said.startswith(shown)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = (GIVEN[page]() if page in GIVEN else None) or {}
    for number, block in enumerate(blocks(page)):
        names.update(BETWEEN[page](number) if page in BETWEEN else {})
        run(block, names, page)


def test_pages_are_visited_again_as_the_page_says(tmp_path: Path) -> None:
    with SmallWeb({"a.test": {"/": links("/b"), "/b": words(30)}}) as web:
        web.crawl(tmp_path / "c", "a.test")
        with crivello.open(tmp_path / "c", write=True) as collection:
            names: dict[str, Any] = {"collection": collection}
            for block in blocks("refresh.md"):
                run(block, names, "refresh.md")
    assert names["found"]


def test_the_python_of_the_doors_runs(tmp_path: Path) -> None:
    with crivello.create(tmp_path / "example") as example:
        example.add({"id": place, "title": "x", "body": text} for place, text in enumerate(TEXTS))
    secret = token(tmp_path / "example", "read")
    with served(tmp_path / "example") as url:
        for block in blocks("doors.md"):
            names: dict[str, Any] = {}
            run(block.replace("http://127.0.0.1:8080", url).replace("crv_…", secret), names, "doors.md")
            names["client"].close()


def test_a_wrong_value_is_noticed() -> None:
    run("x = [1]\nx[0]  # 1\n", {}, "a page")
    run("import numpy\nnumpy.array([1, 2])\n# array([1, 2])  what it is\n", {}, "a page")
    with pytest.raises(AssertionError, match="is 1, not 2"):
        run("x = [1]\nx[0]  # 2\n", {}, "a page")
    assert agrees(0.9371, "0.93...: an incomplete code") and not agrees(0.9271, "0.93...: an incomplete code")


def test_little_is_not_run() -> None:
    left_out = {
        (path.name, marked.strip())
        for path in (ROOT / "docs").glob("*.md")
        for marked, _ in _BLOCK.findall(path.read_text())
        if marked
    }
    assert left_out == {("duplicates.md", "<!-- not run: needs Spark and datasets -->")}
