"""A frontier of ten million URLs on 200,000 hosts: the time to resume a crawl with it, and its memory.

The sieve is filled beforehand, as a long crawl would have left it: one host has a million URLs, the others
share the rest. Then the crawl runs for a minute with a second between requests to a host. The server runs in
this process and shares the cores.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.crawling import run_crawl
from tests.many_hosts import ManyHosts

from bench import Measurement
from crivello import Collection, settings
from crivello.sieve import open_sieve

URLS = 10_000_000
HOSTS = 200_000
LARGEST = 1_000_000
BATCH = 100_000
SECONDS = 60
MEMORY = 400.0


def fill(folder: Path, web: ManyHosts) -> None:
    """Creates a collection whose frontier has all the URLs."""
    chance = random.Random(1)
    pages = [0] * HOSTS
    with Collection.write(folder, settings=settings.load(environment={}), create=True) as collection:
        sieve = open_sieve("mercator", folder)
        for _ in range(URLS // BATCH):
            hosts = [
                0 if chance.random() < LARGEST / URLS else chance.randrange(1, HOSTS) for _ in range(BATCH)
            ]
            urls = []
            for host in hosts:
                urls.append(web.url(host, pages[host]))
                pages[host] += 1
            sieve.add(urls)
        sieve.flush()
        made = sieve.checkpoint()
        sieve.close()
        state = {"sieve": made.state, "seeds": web.seeds, "private": True}
        collection.commit(made.files, crawl=state)


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder, ManyHosts(HOSTS, LARGEST) as web:
        collection = Path(folder, "c")
        fill(collection, web)
        started = time.time()
        crawled = run_crawl(
            collection,
            [],
            *("--hosts-file", web.write_hosts_file(Path(folder, "hosts")), "--scope", "any"),
            *("--delay", 1, "--address-delay", 0, "--connections", 256, "--max-time", SECONDS),
            timeout=6 * SECONDS,
        )
        hits = list(web.hits())
    assert crawled.report["seen"] >= URLS
    asked = {hit.host for hit in hits}
    yield Measurement(
        "seconds until the first request",
        hits[0].start - started,
        "all of them",
        SECONDS,
        "s",
        smaller_is_better=True,
    )
    yield Measurement(
        "requests with the frontier full",
        len(hits) / (hits[-1].end - hits[0].start),
        "as polite",
        HOSTS,
        "requests/s",
    )
    yield Measurement("hosts visited in a minute", len(asked), "there are", HOSTS, "hosts")
    yield Measurement(
        "memory at most", crawled.peak_bytes / 2**20, "asked", MEMORY, "MiB", asked=1, smaller_is_better=True
    )
