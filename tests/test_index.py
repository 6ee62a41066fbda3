"""Building an index from Python: adding, replacing, deleting and merging."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import Cancel, join_segments
from crivello.collection import Collection
from crivello.errors import InvalidArgument, StorageError
from crivello.index import Document, Index, Segment, options_of
from crivello.index.policy import SMALLEST_TIER, choose, tier
from crivello.index.update import Indexer
from crivello.settings import Index as IndexSettings
from crivello.settings import IndexCodes, Settings
from tests.searching import indexing, opened

FAN_IN = IndexSettings().fan_in


def page(number: int, body: str = "some words") -> Document:
    return Document(f"https://{number}.example/", f"Page {number}", body)


def bodies(folder: Path, segments: list[Segment], query: str) -> list[str]:
    return sorted(str(hit.snippet) for hit in opened(folder, segments).search(query, top=1000))


def found(folder: Path, segments: list[Segment], query: str = "words") -> set[str]:
    return {hit.url for hit in opened(folder, segments).search(query, top=5000)}


def urls(numbers: Iterable[int]) -> set[str]:
    return {page(number).url for number in numbers}


def test_a_document_added_again_replaces_the_older_one(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add([page(1, "older words"), page(2, "other words"), page(1, "newer words")])
    assert bodies(tmp_path, index.segments, "words") == ["newer words", "other words"]
    index.add([page(2, "newest words")])
    assert len(index.segments) == 2
    for segments in (index.segments, index.merge()):
        assert bodies(tmp_path, segments, "words") == ["newer words", "newest words"]
        assert bodies(tmp_path, segments, "older OR other") == []
        assert opened(tmp_path, segments).documents == 2
    assert index.obsolete == ["segment-000001.seg", "segment-000002.seg"]
    assert [name for name, _ in index.segments] == ["segment-000003.seg"]


def test_what_is_deleted_is_never_found_again(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add(page(number) for number in range(10))
    index.delete([page(number).url for number in (3, 4, 77)])
    left = urls(range(10)) - urls([3, 4])
    assert found(tmp_path, index.segments) == found(tmp_path, index.segments, "NOT absent") == left
    assert opened(tmp_path, index.segments).documents == 8
    index.add([page(3, "these words are back")])
    assert found(tmp_path, index.segments) == left | urls([3])
    index.delete([page(5).url])
    left = left - urls([5]) | urls([3])
    for segments in (index.segments, index.merge()):
        assert found(tmp_path, segments) == found(tmp_path, segments, "NOT absent") == left
        assert bodies(tmp_path, segments, "back") == ["these words are back"]
        opened(tmp_path, segments).verify()
    index.delete(page(number).url for number in range(10))
    assert found(tmp_path, index.segments) == set() and len(index.segments) == 2
    assert index.merge() == [] and found(tmp_path, index.segments) == set()


def test_a_deletion_outlives_merging_without_what_it_deletes(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add([page(1), page(2)])
    index.delete([page(1).url])
    index.add([page(3)])
    [joined] = join_segments(tmp_path, index.segments[1:], 9, False, options_of(Settings()))
    assert found(tmp_path, [index.segments[0], joined]) == urls([2, 3])
    assert found(tmp_path, [joined]) == urls([3])


def test_merging_gives_the_room_of_what_is_deleted_back(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add(page(number, f"words {number * 7919} " * 40) for number in range(2000))
    [(_, before)] = index.segments
    index.delete(page(number).url for number in range(0, 2000, 2))
    assert sum(length for _, length in index.segments) > before
    index.merge()
    for name in index.obsolete:
        (tmp_path / name).unlink()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 0.6 * before
    assert found(tmp_path, index.segments) == urls(range(1, 2000, 2))


def test_lengths_are_those_of_the_files_and_nothing_else_is_left(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add(page(number) for number in range(3000))
    assert dict(index.segments) == {path.name: path.stat().st_size for path in tmp_path.iterdir()}


def test_going_on_after_opening_again(tmp_path: Path) -> None:
    index = Index(tmp_path, Index(tmp_path).add([page(1)]))
    index.add([page(2)])
    assert [name for name, _ in index.segments] == ["segment-000001.seg", "segment-000002.seg"]


def test_small_segments_are_merged_when_there_are_enough(tmp_path: Path) -> None:
    index = Index(tmp_path)
    for number in range(20):
        index.add([page(number)])
        before = index.segments
        assert (index.merge_some() is before) == (len(before) < FAN_IN)
        assert len(index.segments) < FAN_IN
    assert found(tmp_path, index.segments) == urls(range(20))
    assert not set(index.obsolete) & {name for name, _ in index.segments}


def test_no_name_is_used_twice(tmp_path: Path) -> None:
    folder = tmp_path / "collection"
    with Collection.write(folder, create=True) as collection:
        Indexer(collection).add([page(1, "words before")])
    reader = Collection(folder)
    assert [hit.url for hit in reader.search("words")] == [page(1).url]
    with Collection.write(folder) as collection:
        indexer = Indexer(collection)
        indexer.delete([page(1).url])
        indexer.merge()
        assert collection.segments == []
    with Collection.write(folder) as collection:
        Indexer(collection).add([page(2, "words behind")])
    assert [hit.url for hit in reader.search("words")] == [page(2).url]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_merging_in_the_background(tmp_path: Path) -> None:
    index = Index(tmp_path, settings=indexing(fan_in=3))
    for number in range(3):
        index.add([page(number), page(100, f"words of round {number}")])
    old = index.segments
    assert not index.merge_in_background()
    merged = tmp_path / "segment-000004.seg"
    until(merged.exists)
    index.add([page(3), page(0, "other words")])
    assert index.segments[:3] == old and index.obsolete == []
    until(index.merge_in_background)
    assert [name for name, _ in index.segments] == [merged.name, "segment-000005.seg"]
    assert index.obsolete == [name for name, _ in old]
    assert found(tmp_path, index.segments) == urls([0, 1, 2, 3, 100])
    assert bodies(tmp_path, index.segments, "other OR round") == ["other words", "words of round 2"]
    assert not index.merge_in_background()


def test_a_merge_in_the_background_can_be_stopped(tmp_path: Path) -> None:
    index = Index(tmp_path, settings=indexing(fan_in=2))
    for start in (0, 2000):
        index.add(page(number, f"words {number * 7919} " * 50) for number in range(start, start + 2000))
    old = index.segments
    assert not index.merge_in_background()
    index.stop_merging()
    assert index.segments == old and index.obsolete == []
    opened(tmp_path, index.segments).verify()
    assert found(tmp_path, index.segments) == urls(range(4000))
    assert {path.name for path in tmp_path.iterdir()} <= {name for name, _ in old} | {"segment-000003.seg"}
    index.merge()
    assert found(tmp_path, index.segments) == urls(range(4000))


def test_what_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add([page(1)])
    index.add([page(2)])
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(KeyboardInterrupt):
        join_segments(tmp_path, index.segments, 3, True, options_of(Settings()), cancel)
    assert {path.name for path in tmp_path.iterdir()} == {name for name, _ in index.segments}


def test_a_failure_in_the_background_is_raised_by_the_next_call(tmp_path: Path) -> None:
    index = Index(tmp_path, settings=indexing(fan_in=2))
    index.add([page(1)])
    index.add([page(2)])
    (tmp_path / index.segments[0][0]).unlink()
    index.merge_in_background()
    with pytest.raises(StorageError):
        until(index.merge_in_background)


def test_little_memory_gives_the_same_index(tmp_path: Path) -> None:
    documents = [page(n, " ".join(f"word{(n * k) % 977}" for k in range(200))) for n in range(3000)]
    found = []
    for memory in (1 << 20, 1 << 28):
        folder = tmp_path / str(memory)
        folder.mkdir()
        segments = Index(folder, settings=indexing(memory=memory)).add(documents)
        assert [path.name for path in folder.iterdir()] == ["segment-000001.seg"]
        searcher = opened(folder, segments)
        searcher.verify()
        queries = ("word976", '"word7 word14"', "word1 AND word2", "page 2999")
        hits = [searcher.search(query, top=20).hits for query in queries]
        found.append((searcher.terms, searcher.postings, hits))
    assert found[0] == found[1]


_CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=6)),
        st.tuples(st.just("delete"), st.lists(st.integers(0, 9), max_size=4)),
        st.tuples(st.sampled_from(["merge", "merge_some", "background", "open"]), st.none()),
    ),
    max_size=10,
)


@settings(deadline=None, max_examples=40)
@given(_CHANGES)
def test_any_sequence_of_changes_is_that_of_a_dict(changes: list[tuple[str, Any]]) -> None:
    model: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        index = Index(folder, settings=indexing(fan_in=3))
        for change, of_what in changes:
            if change == "add":
                documents = [page(number, f"words number{text}") for number, text in of_what]
                index.add(documents)
                model.update({document.url: document.body for document in documents})
            elif change == "delete":
                gone = [page(number).url for number in of_what]
                index.delete(gone)
                for url in gone:
                    model.pop(url, None)
            elif change == "merge":
                assert len(index.merge()) == bool(model)
            elif change == "merge_some":
                index.merge_some()
            elif change == "background":
                index.merge_in_background()
            else:
                index.stop_merging()
                index = Index(folder, index.segments, settings=indexing(fan_in=3))
            searcher = opened(folder, index.segments)
            hits = searcher.search("words", top=100)
            assert {hit.url: str(hit.snippet) for hit in hits} == model
            assert searcher.documents == len(model)
        index.stop_merging()
        opened(folder, index.segments).verify()


def test_progress_and_nothing_added(tmp_path: Path) -> None:
    calls: list[int] = []
    assert Index(tmp_path).add([], progress=calls.append) == [] and calls == []
    assert Index(tmp_path).delete([]) == Index(tmp_path).merge() == Index(tmp_path).merge_some() == []
    assert list(tmp_path.iterdir()) == []
    Index(tmp_path).add((page(number) for number in range(600)), progress=calls.append)
    assert calls == [512, 600]


def test_what_fails_while_it_is_added_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    def failing() -> Iterable[Document]:
        yield from (page(number, "words " * 1000) for number in range(2000))
        raise ZeroDivisionError

    index = Index(tmp_path, settings=indexing(memory=1 << 20, threads=2))
    index.add([page(1)])
    before = index.segments
    with pytest.raises(ZeroDivisionError):
        index.add(failing())
    assert index.segments == before
    assert [path.name for path in tmp_path.iterdir()] == [before[0][0]]
    index.add([page(2)])
    assert found(tmp_path, index.segments) == urls([1, 2])


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        Index(tmp_path / "absent").add([page(1)])
    with pytest.raises(InvalidArgument, match="no segments"):
        join_segments(tmp_path, [], 1, True, options_of(Settings()))
    with pytest.raises(InvalidArgument, match="name of a segment"):
        Index(tmp_path, [("other.txt", 1)])
    # What was made past the checks of the settings is refused by the core.
    for wrong, said in (
        (Settings(index=IndexSettings(order="size")), "size"),
        (Settings(index=IndexSettings(memory=-1)), "-1"),
        (Settings(index_codes=IndexCodes(prefer="best")), "best"),
        (Settings(index_codes=IndexCodes(pointers="morse")), "morse"),
        (Settings(index_codes=IndexCodes(quantum=8)), "8 postings"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Index(tmp_path, settings=wrong)


def settle(sizes: Iterable[int]) -> tuple[list[Segment], int]:
    """The segments after adding some of these sizes one by one, and how many bytes were copied."""
    segments: list[Segment] = []
    copied = 0
    for size in sizes:
        segments.append(("", size))
        while (chosen := choose(segments, FAN_IN)) is not None:
            merged = sum(length for _, length in segments[chosen])
            copied += merged
            segments[chosen] = [("", merged)]
    return segments, copied


@given(st.lists(st.integers(0, 40).map(lambda shift: 1 << shift), max_size=300))
def test_the_policy_keeps_segments_few(sizes: list[int]) -> None:
    segments, _ = settle(sizes)
    lengths = [length for _, length in segments]
    assert sum(lengths) == sum(sizes)
    assert len(segments) <= (FAN_IN - 1) * (tier(max(lengths, default=0), FAN_IN) + 1)


def test_the_policy_copies_equal_batches_once_a_tier() -> None:
    segments, copied = settle([SMALLEST_TIER] * FAN_IN**3)
    assert segments == [("", SMALLEST_TIER * FAN_IN**3)]
    assert copied == 3 * SMALLEST_TIER * FAN_IN**3
