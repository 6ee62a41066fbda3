"""A shard: some of the documents, or some of the terms, of an index, open for searching."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crivello._core import Layout, Ranks, Searcher, TermShard

Segment = tuple[str, int]


class ShardServer:
    """Answers the messages of a broker; any number of threads may call it.

    ``segments`` are the files of the shard in the folder of the index, oldest first, and ``ranks`` the file of the
    static ranks and its length.
    """

    def __init__(
        self, folder: str | Path, segments: Sequence[Segment], ranks: tuple[str | Path, int] | None = None
    ) -> None:
        self._searcher = Searcher(folder, list(segments), Ranks(*ranks) if ranks else None)

    def call(self, message: bytes) -> bytes:
        """The answer to a message. An error of the search is in the answer."""
        return self._searcher.answer(message)


class TermServer:
    """Answers the messages of a broker of terms; any number of threads may call it.

    ``segments`` are the files of the shard in the folder of the index, oldest first.
    """

    def __init__(self, folder: str | Path, segments: Sequence[Segment]) -> None:
        self._shard = TermShard(folder, list(segments))

    def call(self, message: bytes) -> bytes:
        """The answer to a message. An error is in the answer."""
        return self._shard.answer(message)


def by_shard(segments: Sequence[Segment]) -> list[list[Segment]]:
    """The segments of each shard of an index that is divided by documents; empty if it is not."""
    divided: dict[int, list[Segment]] = {}
    for name, length in segments:
        shard = Layout.segment_shard(name)
        if shard is None or Layout.is_of_terms(name):
            return []
        divided.setdefault(shard, []).append((name, length))
    return [divided.get(shard, []) for shard in range(max(divided, default=-1) + 1)]


def by_terms(segments: Sequence[Segment]) -> tuple[list[Segment], list[list[Segment]]]:
    """The files of the documents, and those of each shard, of an index that is divided by terms.

    There are no shards if the index is not divided by terms.
    """
    documents: list[Segment] = []
    divided: dict[int, list[Segment]] = {}
    for name, length in segments:
        shard = Layout.segment_shard(name)
        if shard is None:
            documents.append((name, length))
        elif Layout.is_of_terms(name):
            divided.setdefault(shard, []).append((name, length))
        else:
            return [], []
    return documents, [divided.get(shard, []) for shard in range(max(divided, default=-1) + 1)]
