"""Many concurrent hosts: 20,000 generated ones with a second between requests to each, crawled for a minute.

The server runs in this process and shares the cores with the crawl. Politeness would allow 20,000 requests
per second; measured are the actual rate, the share of idle connection slots (as reported by the crawl, and as
seen by the server), and the peak memory of the crawl.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.crawling import run_crawl
from tests.many_hosts import ManyHosts
from tests.politeness import too_close

from bench import Measurement

HOSTS = 20_000
PAGES = 100
DELAY = 1.0
CONNECTIONS = 256
SECONDS = 60
MEMORY = 400.0


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder, ManyHosts(HOSTS, PAGES) as web:
        crawled = run_crawl(
            Path(folder, "c"),
            web.seeds,
            *(
                "--hosts-file",
                web.write_hosts_file(Path(folder, "hosts")),
                "--allow-private",
                "--scope",
                "any",
            ),
            *("--delay", DELAY, "--address-delay", 0, "--connections", CONNECTIONS, "--max-time", SECONDS),
            timeout=4 * SECONDS,
        )
        hits = list(web.hits())
        assert too_close(hits, DELAY) == []
        seconds = hits[-1].end - hits[0].start
        connections = web.mean_open(hits[0].start + seconds / 3, hits[-1].end)
    reached = len({hit.host for hit in hits})
    yield Measurement(
        f"requests, {DELAY:g} s between two to a host",
        len(hits) / seconds,
        "as polite",
        HOSTS / DELAY,
        "requests/s",
    )
    yield Measurement("hosts reached", reached, "there are", HOSTS, "hosts")
    yield Measurement(
        "idle connection slots",
        100 * crawled.report["idle_share"],
        "all of them",
        100.0,
        "%",
        smaller_is_better=True,
    )
    yield Measurement(
        "connections open on average, as the server sees",
        connections,
        "slots",
        CONNECTIONS,
        "connections",
        smaller_is_better=True,
    )
    yield Measurement(
        "memory at most", crawled.peak_bytes / 2**20, "asked", MEMORY, "MiB", asked=1, smaller_is_better=True
    )
