"""A crawl of real sites by this version and by an older one, in turns.

``CRIVELLO_BENCH_OLDER`` names the older one: a commit, which is checked out into a git worktree under bench/results and built in
release. The sites are those of ``bench.crawl``; ``CRIVELLO_BENCH_PAGES`` limits the pages of a crawl (default: 20,000). The fastest
of three crawls counts, and the one with the least CPU time; the older version goes first in each turn.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import crivello
from bench import Measurement
from bench.crawl import LONGEST, SEEDS, answers

OLDER = os.environ.get("CRIVELLO_BENCH_OLDER", "")
PAGES = int(os.environ.get("CRIVELLO_BENCH_PAGES", "20_000"))
TURNS = 3
# Two runs of the same version differ by as much.
NOISE = 0.95
ROOT = Path(__file__).parents[1]
COMMAND = "from crivello.cli import main; main()"


@dataclass(frozen=True)
class Speed:
    """The rates of one crawl."""

    pages_per_second: float
    pages_per_processor_second: float


def measure() -> Iterator[Measurement]:
    if not OLDER:
        print("versions: name an older commit in CRIVELLO_BENCH_OLDER", file=sys.stderr)
        return
    if silent := [url for url in SEEDS if not answers(url)]:
        print(f"versions: {silent[0]} does not answer: name sites in CRIVELLO_BENCH_SEEDS", file=sys.stderr)
        return
    with older() as package:
        speeds: dict[Path, list[Speed]] = {package: [], Path(crivello.__file__).parents[1]: []}
        for _ in range(TURNS):
            for one, run in speeds.items():
                run.append(crawl(one))
    theirs, ours = speeds.values()
    for what, unit in (
        ("pages_per_second", "pages/s"),
        ("pages_per_processor_second", "pages/CPU s"),
    ):
        best, before = (max(getattr(speed, what) for speed in run) for run in (ours, theirs))
        yield Measurement(f"crawling {PAGES:,} pages", best, OLDER, before, unit, NOISE)


@contextmanager
def older() -> Iterator[Path]:
    """The package of the older version, built in a worktree that is removed at the end."""
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    tree = results / "older"
    git("worktree", "add", "--quiet", "--detach", str(tree), OLDER)
    try:
        # A folder of its own for what is built, which stays for the next time.
        built = results / "older-target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(built)}
        command = ["cargo", "build", "--release", "--quiet", "-p", "crivello-python"]
        subprocess.run(command, cwd=tree, env=environment, check=True)
        module = next((built / "release").glob("lib_core.*[!d]"))
        shutil.copy(module, tree / "python" / "crivello" / "_core.abi3.so")
        yield tree / "python"
    finally:
        git("worktree", "remove", "--force", str(tree))


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def crawl(package: Path) -> Speed:
    """Crawls into a temporary folder with the version of a package."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-c", COMMAND, "crawl", *SEEDS, "--into", str(Path(folder, "c")), "--json"),
            *("--politeness", "absolute", "--delay", "0", "--address-delay", "0", "--scope", "host"),
            *("--max-pages", str(PAGES), "--contact", "crawler@example.org", "--allow-private"),
        ]
        environment = {**os.environ, "PYTHONPATH": str(package)}
        before, started = processor(), time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=LONGEST)
        seconds, used = time.perf_counter() - started, processor() - before
    pages = json.loads(done.stdout)["outcomes"]["fetched"]
    return Speed(pages / seconds, pages / used)


def processor() -> float:
    """The CPU time of all processes that were waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
