"""What a page, a URL and a message cost: measured on this machine, or given.

Everything runs through the public API on generated input: a host is hashed and assigned, a page is parsed, a URL goes
through a sieve, a batch of URLs is compressed. The smallest of several rounds counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec
import zstandard

from crivello import _core
from crivello.assignment import Assignment
from crivello.errors import InvalidArgument, StorageError
from crivello.lab.assign.hosts import generate
from crivello.lab.cluster.scenario import Scenario
from crivello.sieve import QUEUE, open_sieve

_ROUNDS = 3
_URLS = 50_000
_WORDS = 3000


@dataclass(frozen=True, slots=True)
class Costs:
    """Unit costs: times in seconds, sizes in bytes.

    The last six are sizes of what an agent keeps, as the documentation of each part states them: of a page the row of
    the table and its journal (docs/store.md), of a seen URL its signature (docs/sieve.md), of a waiting URL its text and
    its place in the queue, of a host what the frontier has in memory, and what an agent has in memory whatever its load
    (the sieve's array, the cache of the host queues, the caches of recent URLs).
    """

    assign: float
    parse: float
    sieve: float
    url_bytes: float
    message_bytes: int = 200
    row_bytes: int = 370
    signature_bytes: int = 8
    waiting_bytes: int = 86
    host_bytes: int = 90
    bench_bytes: int = 600
    fixed_bytes: int = (64 + 16 + 2) << 20

    def process(self, scenario: Scenario) -> float:
        """What a page takes of the processor: it is parsed, and its links are assigned and sieved."""
        return self.parse + scenario.links * (self.assign + self.sieve)


def measured_costs(scenario: Scenario) -> Costs:
    """The unit costs of this machine, in a few seconds."""
    hosts = generate(_URLS)
    assignment = Assignment(scenario.agents, scenario.method, replicas=scenario.replicas)
    few = hosts if scenario.method != "min-hash" else hosts[: max(100, 50_000_000 // scenario.agents)]
    urls = [f"http://{host}/articles/{number % 97}/{number}.html" for number, host in enumerate(hosts)]
    page, size = _page(urls), max(1, min(scenario.batch, len(urls)))
    text = "\n".join(urls[:size]).encode()
    return Costs(
        assign=_best(lambda: assignment.agent(few)) / len(few),
        parse=_best(lambda: [_core.parse_html(page, urls[0]) for _ in range(20)]) / 20,
        sieve=_best(lambda: _sieve(urls)) / len(urls),
        url_bytes=len(zstandard.ZstdCompressor(level=1).compress(text)) / size,
    )


def read_costs(file: Path) -> Costs:
    """The unit costs in the ``model.json`` of an earlier report."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Reported).costs
    except OSError as error:
        raise StorageError.of(error, file) from None
    except msgspec.MsgspecError as error:
        raise InvalidArgument(
            f"{file} has no unit costs: {error}", hint="give the model.json of a report"
        ) from None


@dataclass(frozen=True, slots=True)
class _Reported:
    costs: Costs


def _page(urls: list[str]) -> bytes:
    """A page of about 30 kB: 3,000 words and 60 links."""
    random = Random(1)
    words = [host.split(".")[-2] for host in generate(500)]
    parts = ["<html><head><title>A page</title></head><body><h1>A page</h1>"]
    for number in range(60):
        text = " ".join(random.choices(words, k=_WORDS // 60))
        parts.append(f'<p>{text} <a href="{urls[7 * number]}">{words[number]}</a></p>')
    return "".join([*parts, "</body></html>"]).encode()


def _sieve(urls: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / QUEUE).parent.mkdir()
        sieve = open_sieve("mercator", Path(folder))
        for start in range(0, len(urls), 1000):
            sieve.add(urls[start : start + 1000])
        sieve.flush()
        sieve.close()


def _best(work: Callable[[], object]) -> float:
    runs = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        work()
        runs.append(time.perf_counter() - started)
    return min(runs)
