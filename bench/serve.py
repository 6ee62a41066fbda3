"""The HTTP API under load: ``crivello serve`` compared with the same server on top of tantivy.

The pages are those of ``bench._pages``, the queries a thousand drawn from their words. A hundred clients in a
separate process query ``/api/search`` over loopback for ten seconds (``CRIVELLO_BENCH_SECONDS``), each sending the next request as soon as
it is answered; ours is also asked for the search page, by one process and by two. Ours counts, scores zones and proximity, collapses near-duplicates, mixes sites and corrects
spellings; tantivy scores title and body, with and without a count. Both return ten hits with snippets.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import Measurement
from bench import _search_indexes as indexes
from bench._pages import documents
from bench._queries import drawn

CLIENTS = 100
SECONDS = float(os.environ.get("CRIVELLO_BENCH_SECONDS", "10"))
ROUNDS = 2
TIMES = ("mean", "median", "99 %")

Load = dict[str, float]


def measure() -> Iterator[Measurement]:
    collection, stored = indexes.collection().folder, indexes.stored_tantivy()
    servers = {
        "ours": indexes.command("serve", str(collection), "--port", "0"),
        "tantivy": _tantivy(stored, "ranking"),
        "tantivy, counting": _tantivy(stored, "counting"),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as queries:
        queries.write("\n".join(" ".join(words) for words in drawn(documents())))
        queries.flush()
        loads: dict[str, list[Load]] = {name: [] for name in servers}
        for _ in range(ROUNDS):
            for name, server in servers.items():
                loads[name].append(load(server, queries.name))
        page = load(servers["ours"], queries.name, "/search")
        by_two = load([*servers["ours"], "--workers", "2"], queries.name, "/search")
    best = {name: max(rounds, key=lambda load: load["rate"]) for name, rounds in loads.items()}
    ours = best.pop("ours")
    for peer, theirs in best.items():
        yield Measurement(f"{CLIENTS} clients", ours["rate"], peer, theirs["rate"], "answers/s", 1.0)
        for time in TIMES:
            yield Measurement(f"an answer, {time}", ours[time], peer, theirs[time], "ms", None, True)
    answered, asked = (sum(load[what] for load in loads["ours"]) for what in ("answered", "asked"))
    yield Measurement("answered", answered, "asked", asked, "requests", 1.0)
    yield Measurement("the page", page["rate"], "by two workers", by_two["rate"], "pages/s", None)
    for time in TIMES:
        yield Measurement(f"a page, {time}", page[time], "by two workers", by_two[time], "ms", None, True)
    for name, one in (("a page answered", page), ("by two workers", by_two)):
        yield Measurement(name, one["answered"], "asked", one["asked"], "requests", 1.0)


def _tantivy(folder: Path, how: str) -> list[str]:
    return [sys.executable, "-m", "bench._tantivy_server", str(folder), how]


def load(server: list[str], queries: str, path: str = "/api/search") -> Load:
    """What the clients measure of a server, started by its command."""
    with _serving(server) as url:
        client = [sys.executable, "-m", "bench._serve_client"]
        command = [*client, url, path, queries, str(CLIENTS), str(SECONDS)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    measured: Load = json.loads(done.stdout)
    return measured


@contextmanager
def _serving(command: list[str]) -> Iterator[str]:
    """Starts a server in a separate process; yields the URL that it prints."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            said = server.stderr.readline()
            address = re.search(r"http://\S+", said)
            if address is None:
                raise RuntimeError(f"the server did not start: {said}{server.stderr.read()}")
            yield address[0]
        finally:
            server.send_signal(signal.SIGINT)
