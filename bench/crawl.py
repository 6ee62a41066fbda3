"""Crawling real sites without delay, compared with Scrapy and with a plain loop of aiohttp, uvloop and
selectolax.

Ours crawls the sites completely, stores every page as WARC and extracts its text; its time is that of the
process, from start to end. The peers store nothing and are stopped after a time limit; their time is that
between the first page and the last. They fetch small and large pages in another mix, so bytes are measured as
well as pages, and a second crawl of ours ends after as many pages as the peer fetched.

``CRIVELLO_BENCH_SEEDS`` has the seed URLs, separated by spaces. Crawlers and server share the same cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import Measurement

SITES = ("python", "postgresql", "openjdk", "git", "sqlite", "django")
SEEDS = os.environ.get(
    "CRIVELLO_BENCH_SEEDS", " ".join(f"http://{site}.test:8080/doc/" for site in SITES)
).split()
CRIVELLO = Path(sys.executable).parent / "crivello"
LONGEST = 1800


@dataclass(frozen=True)
class Peer:
    """Another crawler, its time limit, and the target speed-up of ours."""

    name: str
    module: str
    seconds: int
    asked: float


PEERS = (
    Peer("Scrapy", "bench._scrapy_peer", 60, 25),
    Peer("aiohttp, uvloop, selectolax", "bench._aiohttp_peer", 45, 4),
)


@dataclass(frozen=True)
class Speed:
    """The pages, bytes and seconds of a crawl."""

    pages: int
    bytes: int
    seconds: float

    @property
    def pages_per_second(self) -> float:
        return self.pages / max(self.seconds, 1e-9)

    @property
    def megabytes_per_second(self) -> float:
        return self.bytes / 10**6 / max(self.seconds, 1e-9)


def measure() -> Iterator[Measurement]:
    if silent := [url for url in SEEDS if not answers(url)]:
        print(f"crawl: {silent[0]} does not answer: name sites in CRIVELLO_BENCH_SEEDS", file=sys.stderr)
        return
    whole = ours()
    for peer in PEERS:
        theirs = speed_of(peer)
        name = f"{peer.name}, {theirs.seconds:.0f} s"
        yield Measurement(
            f"the whole sites, {whole.pages:,} pages",
            whole.pages_per_second,
            name,
            theirs.pages_per_second,
            "pages/s",
            asked=peer.asked,
        )
        yield Measurement(
            f"the whole sites, {whole.bytes / 10**6:,.0f} MB",
            whole.megabytes_per_second,
            name,
            theirs.megabytes_per_second,
            "MB/s",
        )
        first = ours(theirs.pages)
        yield Measurement(
            f"the first {first.pages:,} pages",
            first.pages_per_second,
            name,
            theirs.pages_per_second,
            "pages/s",
        )


def answers(url: str) -> bool:
    """Whether a server responds."""
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except (urllib.error.URLError, OSError):
        return False
    return True


def command(folder: Path, pages: int = 0) -> list[str]:
    """That crawls the sites into a folder as fast as it can; 0 pages: no limit."""
    return [
        *(str(CRIVELLO), "crawl", *SEEDS, "--into", str(folder), "--json"),
        *("--politeness", "absolute", "--delay", "0", "--address-delay", "0", "--scope", "host"),
        *("--max-pages", str(pages), "--contact", "crawler@example.org", "--allow-private"),
    ]


def ours(pages: int = 0) -> Speed:
    """Runs our crawler into a temporary folder; 0 pages: no limit."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = subprocess.run(
            command(Path(folder, "c"), pages), capture_output=True, check=True, timeout=LONGEST
        )
        seconds = time.perf_counter() - started
    report = json.loads(done.stdout)
    return Speed(report["outcomes"]["fetched"], report["bytes"], seconds)


def speed_of(peer: Peer) -> Speed:
    """Runs a peer."""
    command = [sys.executable, "-m", peer.module, str(peer.seconds), *SEEDS]
    done = subprocess.run(command, capture_output=True, check=True, timeout=LONGEST)
    return Speed(**json.loads(done.stdout))
