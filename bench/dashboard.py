"""What an open dashboard costs a crawl at full speed: pages per second while somebody listens to ``/crawl/events``, as an open
page does, beside those without a listener.

A server runs beside the crawl in both. Crawls of the sites of ``CRIVELLO_BENCH_SEEDS`` alternate, ``CRIVELLO_BENCH_ROUNDS`` of
each kind (default 5), and the medians are compared, because two crawls of one kind differ by some percent. The rate is
that between the first page and the last. What the browser takes to show the page is not in it.
"""

from __future__ import annotations

import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import Measurement
from bench.crawl import CRIVELLO, LONGEST, SEEDS, answers, command
from crivello import Collection
from crivello._core import Layout

ROUNDS = int(os.environ.get("CRIVELLO_BENCH_ROUNDS", "5"))
PORT = 8971


def measure() -> Iterator[Measurement]:
    if silent := [url for url in SEEDS if not answers(url)]:
        print(f"dashboard: {silent[0]} does not answer: name sites in CRIVELLO_BENCH_SEEDS", file=sys.stderr)
        return
    rates: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * ROUNDS):
        is_open = turn % 2 == 1
        rate, events = _crawled(is_open)
        rates[is_open].append(rate)
        assert (events > 0) == is_open, "the page got no events"
        print(f"dashboard: {rate:,.0f} pages/s {'with' if is_open else 'without'} the page", file=sys.stderr)
    with_page, without = (statistics.median(rates[is_open]) for is_open in (True, False))
    what = f"crawl with the dashboard open, median of {ROUNDS}"
    yield Measurement(what, with_page, "without", without, "pages/s", asked=0.97)


def _crawled(is_open: bool) -> tuple[float, int]:
    """The pages per second of a crawl, and the number of events that a listener got."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "c")
        crawl = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (folder / Layout.MANIFEST).exists() and crawl.poll() is None:
                time.sleep(0.01)
            with _served(folder):
                listener = _Listener()
                if is_open:
                    listener.start()
                crawl.wait(LONGEST)
                listener.stop()
        finally:
            crawl.kill()
            crawl.wait()
        times = [page.fetched_at for page in Collection(folder).pages()]
        return len(times) / (max(times) - min(times)), listener.events


@contextmanager
def _served(folder: Path) -> Iterator[None]:
    serve = [str(CRIVELLO), "serve", str(folder), "--port", str(PORT)]
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not answers(f"http://127.0.0.1:{PORT}/health") and server.poll() is None:
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait()


class _Listener(threading.Thread):
    """Reads the events of the dashboard as they come."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.events = 0
        self._stopped = threading.Event()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        connection.request("GET", "/crawl/events")
        with connection.getresponse() as response:
            while not self._stopped.is_set() and (line := response.readline()):
                self.events += line.startswith(b"data:")

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join()
