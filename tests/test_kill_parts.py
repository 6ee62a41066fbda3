"""SIGKILL while pages are archived, converted, visited again and imported, and while the runs of the table are
merged: every committed version of every page is there once, and a check of the collection finds no damage.

``CRIVELLO_TEST_KILLS`` says how many kills there are of each kind, at most 10 of each collection; 3 unless it is set.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from crivello import Collection
from tests.archived import response, revisit
from tests.crawling import kill
from tests.many_hosts import ManyHosts
from tests.small_web import words

KILLS = int(os.environ.get("CRIVELLO_TEST_KILLS", "3"))
# The kills of each collection: all of it is checked after each of them.
ROUNDS = list(enumerate(min(10, KILLS - start) for start in range(0, KILLS, 10)))
HOSTS, PAGES = 8, 15
FILES, RECORDS = 6, 5
Version = tuple[str, float, str | None]


class ChangingWeb(ManyHosts):
    """Every second page is another one each time that it is asked for."""

    def html(self, host: int, page: int) -> str:
        changed = f"<p>It was asked for {len(self)} times.</p>" if page % 2 else ""
        return super().html(host, page) + changed


class WebOfDocuments(ManyHosts):
    """Every second page is a document to be converted."""

    def answer(self, host: int, target: bytes) -> tuple[int, bytes]:
        page, answer = super().answer(host, target)
        if page >= self.pages or page % 2 == 0:
            return page, answer
        links = "".join(f"[one](/page/{child}.html)\n" for child in (2 * page + 1, 2 * page + 2))
        body = f"# Document {page} of host {host}\n\n{words(60, f'w{host}x{page}y')}\n\n{links}".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/markdown\r\nContent-Length: {len(body)}\r\n\r\n"
        return page, head.encode() + body


def versions(folder: Path) -> Counter[Version]:
    """The committed versions: what was written in order, and again what the table finds for each URL."""
    if not (folder / "manifest.json").exists():
        return Counter()
    table = Collection(folder).table
    written = Counter((row.url, row.fetched_at, row.payload) for rows, _ in table.batches() for row in rows)
    for url in {url for url, _, _ in written}:
        found = table.versions(url)
        assert [row.fetched_at for row in found] == sorted((row.fetched_at for row in found), reverse=True)
        for row in found:
            written[row.url, row.fetched_at, row.payload] += 1
    assert set(written.values()) <= {2}, "a version is written once, and found once"
    return written


def damage(folder: Path) -> list[str]:
    found = Collection(folder).check(progress=False)
    return [str(finding) for finding in found if finding.severity != "note"]


def strike(arguments: Sequence[object], progress: Callable[[], int], until: int) -> tuple[bool, str]:
    """Starts a victim, and kills it as soon as its progress is seen to be this far: whether it had ended before, and
    what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.pages_victim", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
        start_new_session=True,
    )
    assert process.stderr is not None
    deadline = time.monotonic() + 60
    try:
        while progress() < until and process.poll() is None:
            assert time.monotonic() < deadline, "it stands still"
            time.sleep(0.001)
        has_ended = process.poll() is not None
    finally:
        kill(process)
    with process.stderr as said:
        return has_ended and process.returncode == 0, said.read().decode(errors="replace")


@pytest.mark.parametrize(("number", "kills"), ROUNDS)
@pytest.mark.parametrize(
    ("kind", "memory"), [("crawl", 2**20), ("convert", 2**20), ("refresh", 2**20), ("compact", 2**13)]
)
def test_a_kill_costs_no_committed_version(
    tmp_path: Path, kind: str, memory: int, number: int, kills: int
) -> None:
    chance = random.Random(f"{kind} {number}")
    folder = tmp_path / "c"
    before: Counter[Version] = Counter()
    grew = merged = 0
    goes_on = kind in ("refresh", "compact")
    most = HOSTS * PAGES * (3 if goes_on else 1)
    pages = PAGES * {"crawl": kills, "convert": max(2, kills // 2)}.get(kind, 1)
    kind_of_web = WebOfDocuments if kind == "convert" else ChangingWeb
    with kind_of_web(HOSTS, pages, think=HOSTS / 400) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        victim = [folder, "refresh" if goes_on else "crawl", memory, hosts_file, *web.seeds]
        for _ in range(kills):
            has_ended, said = strike(victim, web.__len__, len(web) + chance.randint(1, most))
            assert "Traceback" not in said and not (has_ended and goes_on), said
            while web.busy:
                time.sleep(0.001)
            after = versions(folder)
            assert before <= after, "what was committed stays"
            assert damage(folder) == []
            grew += after.total() > before.total()
            runs = Collection(folder).state("table").get("cells", {}).get("runs", []) if after else []
            merged = max([merged, *(run["level"] for run in runs)])
            before = after
        if kind == "convert":
            has_ended, said = strike(victim, lambda: 0, 1)
            assert has_ended, said
            rows = [row for row in Collection(folder).pages() if row.status == 200]
            assert {row.url for row in rows} == web.urls()
            texts = [Collection(folder).text(row) for row in rows if row.content_type == "text/markdown"]
            assert len(texts) == HOSTS * (pages // 2) and all("Document " in text for text in texts)
            assert damage(folder) == []
    assert kind == "convert" or grew >= kills // 3, "some runs lived to see a checkpoint"
    assert kind != "compact" or merged > 0
    visits = Counter(url for url, _, _ in before)
    assert not goes_on or max(visits.values()) > 1, "pages were visited again"


@pytest.mark.parametrize(("number", "kills"), ROUNDS)
def test_a_kill_while_importing_costs_and_doubles_nothing(tmp_path: Path, number: int, kills: int) -> None:
    chance = random.Random(f"import {number}")
    folder, files = tmp_path / "c", tmp_path / "files"
    files.mkdir()
    expected = set()
    for file in range(FILES * kills):
        host = f"http://h{file}.test/"
        members = []
        for page in range(RECORDS):
            text = words(60, f"w{file}x{page}y")
            members.append(response(f"{host}{page}", f"<title>{page}</title><p>{text}</p>"))
            expected.add((f"{host}{page}", 1714564800.0))
        members.append(revisit(f"{host}0", f"{host}0", "2024-05-02T12:00:00Z"))
        expected.add((f"{host}0", 1714651200.0))
        (files / f"{file:05}.warc.gz").write_bytes(b"".join(members))

    def archived() -> int:
        return sum(one.stat().st_size for one in folder.glob("archive/*"))

    victim = [folder, "import", 2**20, "", *sorted(files.iterdir())]
    most = sum(one.stat().st_size for one in files.iterdir()) // kills
    before: Counter[Version] = Counter()
    grew = 0
    for _ in range(kills):
        _, said = strike(victim, archived, archived() + chance.randint(1, most))
        assert "Traceback" not in said, said
        after = versions(folder)
        assert before <= after, "what was committed stays"
        assert damage(folder) == []
        grew += after.total() > before.total()
        before = after
    assert grew >= kills // 3, "some runs lived to see a checkpoint"
    has_ended, said = strike(victim, lambda: 0, 1)
    assert has_ended, said
    rows = Counter(
        (row.url, row.fetched_at) for rows, _ in Collection(folder).table.batches() for row in rows
    )
    assert set(rows) == expected and set(rows.values()) == {1}
    assert damage(folder) == []
