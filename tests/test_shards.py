"""A divided index answers as one: in one process and in several, while documents come and go, and when a shard dies."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import crivello
from crivello._core import Broker, Layout, Searcher, TermBroker
from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.index import Document, Index
from crivello.index.policy import generations
from crivello.index.update import Indexer
from crivello.search.searcher import Search, options_of
from crivello.settings import Search as SearchSettings
from crivello.shards import ShardProcesses, ShardServer, TermServer, by_shard, by_terms
from tests.random_search import EVERY, Queries, growing, settings_of
from tests.searching import indexing
from tests.test_index_shell import json_of
from tests.test_shell import crivello as command

TREES = int(os.environ.get("CRIVELLO_TEST_TREES", "240"))
DIVISIONS: tuple[dict[str, Any], ...] = (
    {"shards": 1},
    {"shards": 2, "assign": "hashed"},
    {"shards": 4, "assign": "contiguous"},
    {"shards": 8, "assign": "hashed"},
    {"shards": 8, "assign": "contiguous"},
    {"shards": 2, "partition": "terms"},
    {"shards": 4, "partition": "terms"},
    {"shards": 8, "partition": "terms"},
)
CHANGES = 6
SCORERS = ("bm25f", "bm25", "tfidf", "ql")
TEXT = "the wind in the sails of a lighthouse and the night over the harbour of the city".split()  # noqa: SIM905


def brokered(folder: Path, segments: list[tuple[str, int]]) -> Broker:
    """A broker of the shards of an index, in this process."""
    servers = [ShardServer(folder, own) for own in by_shard(segments)]
    return Broker(lambda asked: [servers[shard].call(message) for shard, message in asked], len(servers))


def brokered_terms(folder: Path, segments: list[tuple[str, int]], **options: Any) -> TermBroker:
    """A broker of the shards of an index that is divided by terms, in this process."""
    documents, divided = by_terms(segments)
    servers = [TermServer(folder, own) for own in divided]

    def exchange(asked: list[tuple[int, bytes]]) -> list[bytes]:
        return [servers[shard].call(message) for shard, message in asked]

    return TermBroker(folder, documents, None, exchange, len(servers), **options)


def pages(count: int, first: int = 0) -> list[Document]:
    random = Random(first)
    return [
        Document(
            f"http://{number % 7}.example/{number}",
            " ".join(random.choices(TEXT, k=3)),
            " ".join([*random.choices(TEXT, k=30), f"number{number}"]),
            "en",
        )
        for number in range(first, first + count)
    ]


def searchers_of(index: Index) -> list[Searcher | Broker | TermBroker]:
    """All ways in which a divided index is searched in one process."""
    folder, segments = index.folder, index.segments
    if by_shard(segments):
        return [Searcher(folder, segments), brokered(folder, segments)]
    if not by_terms(segments)[1]:
        return [Searcher(folder, segments)]
    ways: list[dict[str, Any]] = [{}, {"bits": 2, "hot": 2**16, "pipelined": True}]
    return [Searcher(folder, segments), *(brokered_terms(folder, segments, **way) for way in ways)]


@pytest.mark.parametrize("division", DIVISIONS, ids=str)
@pytest.mark.parametrize(("seed", "many"), [(1, 40), (2, 120), (3, 2000)])
def test_random_trees_find_the_same_with_the_same_scores(
    tmp_path: Path, division: dict[str, Any], seed: int, many: int
) -> None:
    """Everything that is shown, to the last bit, after each change of an index whose documents are added, replaced and
    deleted; of thousands of documents the best 1,000."""
    for name in ("one", "divided"):
        (tmp_path / name).mkdir()
    one, divided = (
        Index(tmp_path / name, settings=settings_of(Random(seed), **shards))
        for name, shards in (("one", {}), ("divided", division))
    )
    queries = Queries(Random(seed), EVERY)
    numbers = iter(range(TREES))
    longest = 0
    for _ in growing(Random(seed), many, one, divided):
        assert len(generations(one.segments)) == len(generations(divided.segments))
        whole, others = Searcher(one.folder, one.segments), searchers_of(divided)
        for number in islice(numbers, max(TREES // (3 * len(DIVISIONS) * CHANGES), 1)):
            query = str(queries.tree())
            settings = SearchSettings(
                scorer=SCORERS[number % 4],
                proximity=(0.5, 0.0, 2.0)[number % 3],
                proximity_depth=(100, 5)[number % 2],
                time_limit=0.0,
            )
            options = options_of(settings)
            depth = (1000, 7)[number % 2]
            expected = whole.rank(query, options, depth, 20_000, 5)
            hits = whole.show(expected, 0, depth)
            longest = max(longest, len(hits))
            for other in others:
                ranking = other.rank(query, options, depth, 20_000, 5)
                assert other.show(ranking, 0, depth) == hits, query
                assert (ranking.matches, ranking.exact, ranking.facets) == (
                    expected.matches,
                    expected.exact,
                    expected.facets,
                ), query
    assert longest == 1000 or many < 2000, "no query had more than 1,000 matches"


def test_the_shell_takes_a_divided_collection_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    file.write_text(
        "".join(
            json.dumps({"url": page.url, "title": page.title, "body": page.body, "language": "en"}) + "\n"
            for page in pages(300)
        )
    )
    answers = []
    for name, flags in {
        "one": (),
        "documents": ("--shards", "4"),
        "contiguous": ("--shards", "3", "--assign", "contiguous"),
        "terms": ("--shards", "4", "--partition", "terms"),
    }.items():
        folder = tmp_path / name
        made = json_of("index", folder, "--from", file, *flags)
        assert (made["documents"], made["segments"]) == (300, 1)
        # Later runs do not have to name the shards.
        json_of("index", folder, "--delete", "http://1.example/1")
        found = json_of("search", folder, "lighthouse night", "--top", "50")
        answers.append([(hit["url"], hit["score"], hit["snippet"]) for hit in found["hits"]])
        assert json_of("index", folder, "--stats")["documents"] == 299
        for check in (("index", folder, "--verify"), ("doctor", folder)):
            assert command(*check).returncode == 0
        assert json_of("index", folder, "--merge")["segments"] == 1
        division = crivello.open(folder).division
        assert (
            division
            == {
                "one": None,
                "documents": ("documents", 4),
                "contiguous": ("documents", 3),
                "terms": ("terms", 4),
            }[name]
        )
    assert answers[0] and all(answer == answers[0] for answer in answers)


def test_another_number_of_shards_takes_a_rebuild(tmp_path: Path) -> None:
    folder = tmp_path / "collection"
    with Collection.write(folder, settings=indexing(shards=2), create=True) as collection:
        Indexer(collection).add(pages(50))
        assert {Layout.segment_shard(name) for name, _ in collection.segments} == {0, 1}
        with pytest.raises(InvalidArgument, match="2 shards by documents") as wrong:
            Indexer(collection, indexing(shards=3)).add(pages(5))
        assert "--rebuild" in str(wrong.value.hint)
        Indexer(collection, indexing(shards=3)).add(pages(60), rebuild=True)
        assert {Layout.segment_shard(name) for name, _ in collection.segments} == {0, 1, 2}
        assert collection.searcher().documents == 60 and collection.division == ("documents", 3)


def divided(folder: Path, **division: Any) -> Iterator[Collection]:
    with Collection.write(folder, settings=indexing(**division), create=True) as made:
        Indexer(made).add(pages(300))
    with crivello.open(folder) as opened:
        yield opened


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """A collection in three shards that are searched in processes."""
    yield from divided(tmp_path / "collection", shards=3)


@pytest.fixture
def lexical(tmp_path: Path) -> Iterator[Collection]:
    """The same, divided by terms."""
    yield from divided(tmp_path / "collection", shards=3, partition="terms")


def served(collection: Collection, **settings: Any) -> Search:
    return Search(
        collection.folder / Layout.INDEX,
        collection.segments,
        None,
        SearchSettings(shards="processes", **settings),
    )


def processes_of(search: Search) -> ShardProcesses:
    assert isinstance(search._searcher, ShardProcesses)
    return search._searcher


def test_processes_answer_as_one_and_a_killed_shard_is_said_and_comes_back(collection: Collection) -> None:
    search = served(collection)
    together = collection.searcher()
    for query in (
        "lighthouse night",
        '"the wind"',
        "hous* OR nigth~",
        "number7",
        "lihgthouse",
        "site:3.example",
    ):
        expected, found = (each.search(query, top=40, facets=True) for each in (together, search))
        assert found.hits == expected.hits and found.facets == expected.facets, query
        assert (found.matches, found.suggestion, found.corrected) == (
            expected.matches,
            expected.suggestion,
            expected.corrected,
        )
    assert search.documents == 300 and search.postings == together.postings
    explained = search.search("lighthouse night", explain=True)
    assert explained.hits == together.search("lighthouse night", explain=True).hits

    [[victim], *_] = processes_of(search).processes
    os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while not (without := search.search("night city", top=300)).missing_shards:
        assert time.monotonic() < deadline
    assert without.missing_shards == (0,) and not without.exact and 0 < len(without) < 300
    assert without.to_dict()["missing_shards"] == [0]
    while search.search("night city harbour", top=300).missing_shards:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert search.search("night city", top=300).hits == together.search("night city", top=300).hits
    assert processes_of(search).processes[0] != [victim]
    # Counting must not leave out a shard: it is done in this process.
    assert search.count("night") == together.count("night")

    pids = [pid for replicas in processes_of(search).processes for pid in replicas]
    processes_of(search).close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize("term_lists", ["gathered", "pipelined"])
def test_processes_of_terms_answer_as_one_and_a_killed_one_is_said_and_comes_back(
    lexical: Collection, term_lists: str
) -> None:
    search = served(lexical, term_lists=term_lists, hot_terms=0)
    together = lexical.searcher()
    for query in (
        "lighthouse night",
        "+number7 +night",
        '"the wind"',
        "hous* OR nigth~",
        "number7",
        "lihgthouse",
        "site:3.example",
    ):
        expected, found = (each.search(query, top=40, facets=True) for each in (together, search))
        assert found.hits == expected.hits and found.facets == expected.facets, query
        assert (found.matches, found.suggestion, found.corrected) == (
            expected.matches,
            expected.suggestion,
            expected.corrected,
        )
    assert (search.documents, search.terms, search.postings, search.bytes) == (
        together.documents,
        together.terms,
        together.postings,
        together.bytes,
    )
    explained = search.search("lighthouse night", explain=True)
    assert explained.hits == together.search("lighthouse night", explain=True).hits

    # One of the processes has the term; the others are not asked for it.
    processes = processes_of(search)
    deadline = time.monotonic() + 30
    said = set()
    assert len(processes.processes) > 1
    for shard in range(len(processes.processes)):
        [victim] = processes.processes[shard]
        os.kill(victim, signal.SIGKILL)
        while processes._shards[shard][0].ready.is_set():
            assert time.monotonic() < deadline
        without = search.search(f"night -nothing{shard}", top=300)
        if without.missing_shards:
            assert without.missing_shards == (shard,) and not without.exact and not without.hits
            said.add(shard)
        while processes.processes[shard] == [victim] or search.search(f"night -more{shard}").missing_shards:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert len(said) == 1
    assert search.search("night city", top=300).hits == together.search("night city", top=300).hits
    processes.close()


def test_nobody_asks_in_vain_and_hot_terms_are_not_asked_again(lexical: Collection) -> None:
    folder, segments = lexical.folder / Layout.INDEX, lexical.segments
    options = options_of(SearchSettings(time_limit=0.0))
    broker = brokered_terms(folder, segments, bits=16)
    for number in range(100):
        assert not len(broker.rank(f"absent{number}", options))
    _, _, asked, vain, saved = broker.traffic()
    assert asked == vain and asked + saved == 100 * len(by_terms(segments)[1]) and vain < 5
    assert len(broker.rank("night wind", options))
    messages = broker.traffic()[0]
    assert len(broker.rank("night wind", options)) and len(broker.rank("wind OR night", options))
    assert broker.traffic()[0] == messages and broker.hot_bytes > 0
    cold = brokered_terms(folder, segments, hot=0)
    for _ in range(2):
        before = cold.traffic()[0]
        assert len(cold.rank("night wind", options))
        assert cold.traffic()[0] > before


def test_a_shard_of_another_commit_is_refused(lexical: Collection) -> None:
    folder = lexical.folder / Layout.INDEX
    documents, divided = by_terms(lexical.segments)
    servers = [TermServer(folder, own) for own in divided]
    broker = TermBroker(folder, [], None, lambda asked: [servers[s].call(m) for s, m in asked], len(servers))
    with pytest.raises(InvalidArgument, match="another commit"):
        broker.rank("night", options_of(SearchSettings()))
    with pytest.raises(InvalidArgument, match="no file of a shard of terms"):
        TermServer(folder, documents)


def test_a_shard_that_does_not_answer_in_time_is_left_out(collection: Collection) -> None:
    search = served(collection, shard_timeout=2, suggest=False)
    whole = search.search("night", top=300)
    assert not whole.missing_shards
    [stopped] = processes_of(search).processes[1]
    os.kill(stopped, signal.SIGSTOP)
    try:
        without = search.search("night wind", top=300)
        assert without.missing_shards == (1,) and 0 < len(without) < 300
    finally:
        os.kill(stopped, signal.SIGCONT)
    deadline = time.monotonic() + 30
    while search.search("night wind city", top=300).missing_shards:
        assert time.monotonic() < deadline
    processes_of(search).close()


def test_a_replica_takes_over(collection: Collection) -> None:
    search = served(collection, replicas=2)
    expected = collection.searcher().search("night wind", top=50).hits
    os.kill(processes_of(search).processes[2][0], signal.SIGKILL)
    for number in range(6):
        found = search.search(f"night wind -nothing{number}", top=50)
        assert not found.missing_shards and found.hits == expected
    processes_of(search).close()


def test_processes_end_with_the_search(collection: Collection) -> None:
    search = served(collection)
    pids = [pid for replicas in processes_of(search).processes for pid in replicas]
    assert len(pids) == 3
    del search
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)
