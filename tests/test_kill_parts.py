"""SIGKILL while pages are archived, visited again, and while the runs of the table are merged: every committed
version of every page is there once, and a check of the collection finds no damage.

``CRIVELLO_TEST_KILLS`` says how many kills there are of each kind; 5 unless it is set.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from crivello import Collection
from tests.crawling import kill
from tests.many_hosts import ManyHosts

KILLS = int(os.environ.get("CRIVELLO_TEST_KILLS", "5"))
HOSTS, PAGES = 8, 15
Version = tuple[str, float, str | None]


class ChangingWeb(ManyHosts):
    """Every second page is another one each time that it is asked for."""

    def html(self, host: int, page: int) -> str:
        changed = f"<p>It was asked for {len(self)} times.</p>" if page % 2 else ""
        return super().html(host, page) + changed


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


def wait_until_asked(web: ManyHosts, how_many: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(web) < how_many and process.poll() is None:
        assert time.monotonic() < deadline, "it stands still"
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("kind", "memory", "pages"),
    [("crawl", 2**20, PAGES * KILLS), ("refresh", 2**20, PAGES), ("compact", 2**13, PAGES)],
)
def test_a_kill_costs_no_committed_version(tmp_path: Path, kind: str, memory: int, pages: int) -> None:
    chance = random.Random(kind)
    folder = tmp_path / "c"
    before: Counter[Version] = Counter()
    grew = merged = 0
    most = HOSTS * PAGES * (1 if kind == "crawl" else 3)
    with ChangingWeb(HOSTS, pages, think=HOSTS / 400) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        victim = [sys.executable, "-m", "tests.pages_victim", str(folder), kind, str(hosts_file), str(memory)]
        for _ in range(KILLS):
            since = len(web)
            process = subprocess.Popen(
                [*victim, *web.seeds],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=Path(__file__).parent.parent,
                start_new_session=True,
            )
            try:
                wait_until_asked(web, since + chance.randint(1, most), process)
                has_ended = process.poll() is not None
            finally:
                kill(process)
            assert process.stderr is not None
            said = process.stderr.read().decode(errors="replace")
            process.stderr.close()
            assert not has_ended or (kind == "crawl" and process.returncode == 0), said
            while web.busy:
                time.sleep(0.001)
            after = versions(folder)
            assert before <= after, "what was committed stays"
            assert damage(folder) == []
            grew += after.total() > before.total()
            runs = Collection(folder).state("table").get("cells", {}).get("runs", []) if after else []
            merged = max([merged, *(run["level"] for run in runs)])
            before = after
    assert grew >= KILLS // 3, "some runs lived to see a checkpoint"
    assert kind != "compact" or merged > 0
    if kind != "crawl":
        visits = Counter(url for url, _, _ in before)
        assert max(visits.values()) > 1, "pages were visited again"
