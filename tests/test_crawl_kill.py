"""A crawl and SIGKILL at any moment: every page is stored once, and what a kill costs is what no commit had.

``CRIVELLO_TEST_CRAWL_KILLS`` and ``CRIVELLO_TEST_CRAWL_PAGES`` say how many kills there are in a crawl of how many
pages; 4 and 1,000 unless they are set.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crivello import Collection
from tests.crawling import command, kill, run_crawl
from tests.many_hosts import ManyHosts

KILLS = int(os.environ.get("CRIVELLO_TEST_CRAWL_KILLS", "4"))
PAGES = int(os.environ.get("CRIVELLO_TEST_CRAWL_PAGES", "1000"))
HOSTS = 25
CHECKPOINT = 0.1
# By as many seconds may an answer be overtaken on its way to the archive.
ON_ITS_WAY = 0.3
# About 400 requests a second at most, so that checkpoints fall between the kills.
THINK = HOSTS / 400


def committed(folder: Path) -> Counter[str]:
    """The URLs with a committed row, and how many rows each has."""
    if not (folder / "manifest.json").exists():
        return Counter()
    return Counter(row.url for row in Collection(folder).pages())


def stored(folder: Path) -> Counter[str]:
    """How many responses the archive holds of each URL; a digest that does not fit is an error."""
    found: Counter[str] = Counter()
    for file in sorted((folder / "archive").iterdir()):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


def wait_until_asked(web: ManyHosts, how_many: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(web) < how_many:
        assert process.poll() is None, "the crawl ended before it could be killed"
        assert time.monotonic() < deadline, "the crawl stands still"
        time.sleep(0.001)


@pytest.mark.alone
def test_kills_at_any_moment_cost_no_more_than_what_was_not_committed(tmp_path: Path) -> None:
    chance = random.Random(2026)
    folder = tmp_path / "c"
    most_in_a_run = PAGES // (KILLS + 1)
    with ManyHosts(HOSTS, PAGES // HOSTS, think=THINK) as web:
        hosts_file = web.write_hosts_file(tmp_path / "hosts")
        flags = (
            *("--scope", "any", "--delay", 0, "--address-delay", 0, "--checkpoint", CHECKPOINT),
            *("--allow-private", "--hosts-file", hosts_file),
        )
        before: Counter[str] = Counter()
        lost = 0
        growing = 0
        for _ in range(KILLS):
            since = len(web)
            process = subprocess.Popen(
                command(folder, web.seeds, *flags),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                wait_until_asked(web, since + chance.randint(1, most_in_a_run), process)
            finally:
                kill(process)
            while web.busy:
                time.sleep(0.001)
            after = committed(folder)
            asked = Counter(url for url, _ in web.requested(since))
            assert not asked.keys() & before.keys(), "what was committed is never asked for again"
            assert before <= after, "what was committed stays"
            assert after.keys() <= before.keys() | asked.keys()
            lost += asked.total() - (after.total() - before.total())
            if len(after) > len(before):
                growing += 1
                # Not by the time of the manifest: a busy disk takes any time between the beginning of a checkpoint and that.
                in_time = max(row.fetched_at for row in Collection(folder).pages()) - ON_ITS_WAY
                assert {url for url, end in web.requested(since) if end < in_time} <= after.keys()
            before = after
        assert growing >= KILLS // 3, "some runs lived to see a checkpoint"

        since = len(web)
        crawled = run_crawl(folder, web.seeds, *flags)
        assert not before.keys() & {url for url, _ in web.requested(since)}
        everything = dict.fromkeys(web.urls(), 1)
        assert committed(folder) == everything
        assert stored(folder) == everything
        assert crawled.report["waiting"] == 0
        assert sum(1 for _ in web.requested()) - len(everything) <= lost
