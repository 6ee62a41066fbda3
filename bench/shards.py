"""An index in four shards beside one index, on real pages and the queries of a public benchmark.

``CRIVELLO_BENCH_DOCUMENTS`` documents (100,000) are passages of the real pages of ``bench._pages``. They are indexed
as one index, in four shards by documents and in four by terms, each in a process of its own, one after the other, with
the same memory budget. Latencies are elapsed, for the top ten with snippets; the throughput is that of two threads.
The peer is always the one index in the same run, unless another is named. Requests for terms are filtered by the
approximate dictionaries that shards of terms publish, with signatures of r bits. What a query costs by either partition
is counted in one process, for each class of queries.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from bench import Measurement
from bench._pages import kept
from bench._queries import LANGUAGE, Question, compared
from crivello._core import Broker, TermBroker, analyze
from crivello.index import Segment
from crivello.search.searcher import Search, options_of
from crivello.settings import Search as SearchSettings
from crivello.shards import ShardProcesses, ShardServer, TermServer, by_shard, by_terms

DOCUMENTS = int(os.environ.get("CRIVELLO_BENCH_DOCUMENTS", "100000"))
SHARDS = 4
TOP = 10
ROUNDS = 3
BITS = (4, 8, 12)
DIVISIONS = {
    "by documents": (f"shards={SHARDS}",),
    "by documents, contiguous": (f"shards={SHARDS}", "assign=contiguous"),
    "by terms": (f"shards={SHARDS}", "partition=terms"),
}


def measure() -> Iterator[Measurement]:
    """Building, answering, failing, and what approximate dictionaries and either partition save."""
    file = kept()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        built = {
            name: _build(file, folder / name, *flags) for name, flags in {"one": (), **DIVISIONS}.items()
        }
        yield from _building(built)
        questions = [question for asked in compared().values() for question in asked]
        texts = [question.text() for question in questions]
        indexes = {name: (folder / name, figures["segments"]) for name, figures in built.items()}
        yield from _answering(indexes, texts)
        for name in ("by documents", "by terms"):
            yield from _failing(name, *indexes[name])
        yield from _dictionaries(indexes, questions)
        yield from _partitions(indexes)


def _build(file: Path, folder: Path, *flags: str, documents: int = DOCUMENTS) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench._shards_build", str(file), str(folder), str(documents)]
    done = subprocess.run([*command, *flags], check=True, stdout=subprocess.PIPE)
    figures: dict[str, Any] = json.loads(done.stdout)
    figures["segments"] = [(name, length) for name, length in figures["segments"]]
    return figures


def _building(built: dict[str, dict[str, Any]]) -> Iterator[Measurement]:
    one = built["one"]
    for name in DIVISIONS:
        figures = built[name]
        what = f"{DOCUMENTS:,} documents {name}, {SHARDS} shards"
        yield Measurement(f"{what}: time", figures["seconds"], "one index", one["seconds"], "s", None, True)
        peak, of_one = figures["peak"] / 2**20, one["peak"] / 2**20
        yield Measurement(f"{what}: peak memory", peak, "one index", of_one, "MiB", None, True)
        size = sum(length for _, length in figures["segments"]) / 2**20
        whole = sum(length for _, length in one["segments"]) / 2**20
        yield Measurement(f"{what}: size", size, "one index", whole, "MiB", None, True)
        shards = [length for segment, length in figures["segments"] if "-" in segment.split(".")[1]]
        mean = float(np.mean(shards))
        yield Measurement(
            f"{what}: largest shard", max(shards) / 2**20, "mean", mean / 2**20, "MiB", None, True
        )


def _answering(indexes: dict[str, tuple[Path, list[Segment]]], texts: list[str]) -> Iterator[Measurement]:
    plain: dict[str, Any] = {"suggest": False, "time_limit": 0.0, "language": LANGUAGE, "threads": 1}
    settings = SearchSettings(**plain)
    served = SearchSettings(**plain, shards="processes", shard_timeout=60.0)
    searches = {
        "one": Search(*indexes["one"], None, settings),
        "4 shards by documents, together": Search(*indexes["by documents"], None, settings),
        "4 shards by terms, together": Search(*indexes["by terms"], None, settings),
        "4 shards by documents, processes": Search(*indexes["by documents"], None, served),
        **{
            f"4 shards by terms, processes, {how}{kept}": Search(
                *indexes["by terms"], None, structs.replace(served, term_lists=how, hot_terms=hot)
            )
            for how in ("gathered", "pipelined")
            for kept, hot in (("", 2**28), (", nothing kept", 0))
        },
    }
    expected = [_found(searches["one"], text) for text in texts]
    for name, search in searches.items():
        if [_found(search, text) for text in texts] != expected:
            sys.exit(f"bench: {name} does not answer as one index")
    taken = {name: _times(search, texts) for name, search in searches.items()}
    many = {name: _throughput(search, texts) for name, search in searches.items()}
    for name in list(searches)[1:]:
        for figure, of in (("mean", np.mean), ("99 %", lambda times: np.quantile(times, 0.99))):
            ours, theirs = (float(of(taken[each])) * 1000 for each in (name, "one"))
            yield Measurement(f"{name}: latency, {figure}", ours, "one index", theirs, "ms", None, True)
        yield Measurement(f"{name}: throughput", many[name], "one index", many["one"], "queries/s")
    for search in searches.values():
        if isinstance(search._searcher, ShardProcesses):
            search._searcher.close()


def _found(search: Search, text: str) -> list[tuple[str, float, str]]:
    return [(hit.url, hit.score, str(hit.snippet)) for hit in _uncached(search, text)]


def _uncached(search: Search, text: str) -> Any:
    search._rankings.clear()
    return search.search(text, top=TOP)


def _times(search: Search, texts: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The fastest of some rounds, for each query."""
    best = np.full(len(texts), np.inf)
    for _ in range(ROUNDS):
        for place, text in enumerate(texts):
            began = time.perf_counter()
            _uncached(search, text)
            best[place] = min(best[place], time.perf_counter() - began)
    return best


def _throughput(search: Search, texts: list[str]) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda text: _uncached(search, text), texts):
            pass
    return len(texts) / (time.perf_counter() - began)


def _failing(name: str, folder: Path, segments: list[Segment]) -> Iterator[Measurement]:
    """A process is killed: how long until an answer says so, and until its shard answers again."""
    settings = SearchSettings(shards="processes", suggest=False, hot_terms=0)
    search = Search(folder, segments, None, settings)
    processes = search._searcher
    assert isinstance(processes, ShardProcesses)
    words = "an* OR en* OR mo* OR st* OR wi*"  # of every shard
    assert not _uncached(search, words).missing_shards
    os.kill(processes.processes[1][0], signal.SIGKILL)
    began = time.perf_counter()
    while not _uncached(search, words).missing_shards:
        pass
    noticed = time.perf_counter() - began
    while _uncached(search, words).missing_shards:
        time.sleep(0.01)
    back = time.perf_counter() - began
    processes.close()
    yield Measurement(f"a killed shard {name} is said after", noticed, "limit", 2.0, "s", 1.0, True)
    yield Measurement(f"a killed shard {name} is back after", back, "limit", 60.0, "s", None, True)


def _dictionaries(
    indexes: dict[str, tuple[Path, list[Segment]]], questions: list[Question]
) -> Iterator[Measurement]:
    """Requests for terms to shards of terms: those that the published dictionaries save, and those in vain."""
    options = options_of(SearchSettings(time_limit=0.0, language=LANGUAGE, proximity=0.0))
    terms = sorted({term for question in questions for term in _terms(question)})
    for bits in BITS:
        broker, _ = _terms_broker(*indexes["by terms"], bits=bits, hot=0)
        for term in terms:
            # In quotes a word is one leaf; a misspelt one is mostly nowhere.
            for word in (term, f"{term}{term[::-1]}"):
                broker.rank(f'"{word}"', options, TOP)
        _, _, asked, vain, saved = broker.traffic()
        absent = vain + saved
        yield Measurement(
            f"dictionaries of {bits} bits: requests saved of {asked + saved:,}",
            100 * saved / (asked + saved),
            "all in vain",
            100 * absent / (asked + saved),
            "%",
        )
        yield Measurement(
            f"dictionaries of {bits} bits: false requests of {absent:,} absent",
            100 * vain / max(absent, 1),
            f"2^-{bits}",
            100 * 2.0**-bits,
            "%",
            None,
            True,
        )


def _terms_broker(
    folder: Path, segments: list[Segment], **options: Any
) -> tuple[TermBroker, Callable[[], tuple[int, int]]]:
    """A broker of shards of terms in this process, and what it has exchanged: messages and bytes."""
    documents, divided = by_terms(segments)
    servers = [TermServer(folder, own) for own in divided]

    def exchange(messages: list[tuple[int, bytes]]) -> list[bytes]:
        return [servers[shard].call(message) for shard, message in messages]

    broker = TermBroker(folder, documents, None, exchange, len(servers), **options)
    return broker, lambda: broker.traffic()[:2]


def _partitions(indexes: dict[str, tuple[Path, list[Segment]]]) -> Iterator[Measurement]:
    """What a query costs in messages and bytes: by documents, and by terms in each way."""
    folder, segments = indexes["by documents"]
    servers = [ShardServer(folder, own) for own in by_shard(segments)]
    exchanged = {"messages": 0, "bytes": 0}

    def exchange(messages: list[tuple[int, bytes]]) -> list[bytes | None]:
        answers = [servers[shard].call(message) for shard, message in messages]
        exchanged["messages"] += len(messages)
        exchanged["bytes"] += sum(len(message) for _, message in messages) + sum(map(len, answers))
        return list(answers)

    ways: dict[str, tuple[Broker | TermBroker, Callable[[], tuple[int, int]]]] = {
        "by documents": (
            Broker(exchange, len(servers)),
            lambda: (exchanged["messages"], exchanged["bytes"]),
        ),
        "by terms, gathered, nothing kept": _terms_broker(*indexes["by terms"], hot=0),
        "by terms, pipelined, nothing kept": _terms_broker(*indexes["by terms"], hot=0, pipelined=True),
        "by terms, gathered": _terms_broker(*indexes["by terms"]),
        "by terms, pipelined": _terms_broker(*indexes["by terms"], pipelined=True),
    }
    options = options_of(SearchSettings(time_limit=0.0, language=LANGUAGE))
    costs: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, (broker, cost) in ways.items():
        of_class: dict[str, tuple[float, float, float]] = {}
        for kind, asked in compared().items():
            before, began = cost(), time.perf_counter()
            for question in asked:
                broker.rank(question.text(), options, TOP)
            seconds = time.perf_counter() - began
            messages, size = (after - start for after, start in zip(cost(), before, strict=True))
            of_class[kind] = (messages / len(asked), size / len(asked), 1000 * seconds / len(asked))
        weights = [len(asked) for asked in compared().values()]
        mean = np.average(list(of_class.values()), axis=0, weights=weights)
        of_class["all"] = (float(mean[0]), float(mean[1]), float(mean[2]))
        costs[name] = of_class
    for name, of_class in list(costs.items())[1:]:
        for kind, figures in of_class.items():
            units = ("messages", "bytes", "ms")
            for unit, ours, theirs in zip(units, figures, costs["by documents"][kind], strict=True):
                what = f"a query ({kind}) {name}: {unit}"
                yield Measurement(what, ours, "by documents", theirs, unit, None, True)
    yield Measurement(
        "memory of hot terms, gathered",
        ways["by terms, gathered"][0].hot_bytes / 2**20,  # type: ignore[union-attr]
        "budget",
        256.0,
        "MiB",
        None,
        True,
    )


def _terms(question: Question) -> set[str]:
    words = (*question.required, *question.optional, *question.excluded)
    return {term for word in words for term, *_ in analyze(word, LANGUAGE)}
