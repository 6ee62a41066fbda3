"""Building an index from Python: adding, replacing, merging."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import IndexBuilder, Searcher, merge_segments
from crivello.errors import InvalidArgument, StorageError
from crivello.index import Document, Index, Segment
from crivello.index.policy import FAN_IN, SMALLEST_TIER, choose, tier


def page(number: int, body: str = "some words") -> Document:
    return (f"https://{number}.example/", f"Page {number}", body, None)


def bodies(folder: Path, segments: list[Segment], query: str) -> list[str]:
    hits = Searcher(folder, segments).search(query, top=1000)[2]
    return sorted("".join(text for text, _ in fragments) for _, _, _, fragments in hits)


def test_a_document_added_again_replaces_the_older_one(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add([page(1, "older words"), page(2, "other words"), page(1, "newer words")])
    assert bodies(tmp_path, index.segments, "words") == ["newer words", "other words"]
    index.add([page(2, "newest words")])
    assert len(index.segments) == 2
    for segments in (index.segments, index.merge()):
        assert bodies(tmp_path, segments, "words") == ["newer words", "newest words"]
        assert bodies(tmp_path, segments, "older OR other") == []
        assert Searcher(tmp_path, segments).documents == 2
    assert index.obsolete == ["segment-000001.seg", "segment-000002.seg"]
    assert [name for name, _ in index.segments] == ["segment-000003.seg"]


def test_lengths_are_those_of_the_files_and_nothing_else_is_left(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.add(page(number) for number in range(3000))
    assert dict(index.segments) == {path.name: path.stat().st_size for path in tmp_path.iterdir()}


def test_going_on_after_opening_again(tmp_path: Path) -> None:
    index = Index(tmp_path, Index(tmp_path).add([page(1)]))
    index.add([page(2)])
    assert [name for name, _ in index.segments] == ["segment-000001.seg", "segment-000002.seg"]


def test_small_segments_are_merged_as_they_come(tmp_path: Path) -> None:
    index = Index(tmp_path)
    for number in range(20):
        index.add([page(number)])
        assert len(index.segments) < FAN_IN
    assert Searcher(tmp_path, index.segments).search("words")[0] == 20
    assert not set(index.obsolete) & {name for name, _ in index.segments}


def test_memory_is_bounded_by_closing_segments(tmp_path: Path) -> None:
    builder = IndexBuilder(tmp_path, 5, memory=100_000)
    seen = 0
    for start in range(0, 2000, 100):
        builder.add([page(n, f"word{n} and word{n + 1}") for n in range(start, start + 100)])
        seen += 100
        assert builder.documents == seen
    segments = builder.finish()
    assert len(segments) > 1 and segments[0][0] == "segment-000005.seg"
    merged = merge_segments(tmp_path, segments, 100)
    for query in ("word77", "word77 AND word78", "page 1999"):
        parted, whole = (Searcher(tmp_path, chosen).search(query, top=50) for chosen in (segments, [merged]))
        assert parted[0] == whole[0] and parted[2] == whole[2]


def test_progress_and_nothing_added(tmp_path: Path) -> None:
    calls: list[int] = []
    assert Index(tmp_path).add([], progress=calls.append) == [] and calls == []
    Index(tmp_path).add((page(number) for number in range(600)), progress=calls.append)
    assert calls == [512, 600]


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        Index(tmp_path / "absent").add([page(1)])
    with pytest.raises(InvalidArgument, match="no segments"):
        merge_segments(tmp_path, [], 1)
    with pytest.raises(InvalidArgument, match="name of a segment"):
        Index(tmp_path, [("other.txt", 1)])
    with pytest.raises(InvalidArgument, match="fan_in"):
        Index(tmp_path, fan_in=1)


def settle(sizes: Iterable[int]) -> tuple[list[Segment], int]:
    """The segments after adding some of these sizes one by one, and how many bytes were copied."""
    segments: list[Segment] = []
    copied = 0
    for size in sizes:
        segments.append(("", size))
        while (chosen := choose(segments)) is not None:
            merged = sum(length for _, length in segments[chosen])
            copied += merged
            segments[chosen] = [("", merged)]
    return segments, copied


@given(st.lists(st.integers(0, 40).map(lambda shift: 1 << shift), max_size=300))
def test_the_policy_keeps_segments_few(sizes: list[int]) -> None:
    segments, _ = settle(sizes)
    lengths = [length for _, length in segments]
    assert sum(lengths) == sum(sizes)
    assert len(segments) <= (FAN_IN - 1) * (tier(max(lengths, default=0)) + 1)


def test_the_policy_copies_equal_batches_once_a_tier() -> None:
    segments, copied = settle([SMALLEST_TIER] * FAN_IN**3)
    assert segments == [("", SMALLEST_TIER * FAN_IN**3)]
    assert copied == 3 * SMALLEST_TIER * FAN_IN**3
