"""From text to segments: adding documents and keeping the number of segments small.

    >>> index = Index("folder")
    >>> index.add([("https://a.example/", "Title", "Body of the page", "en")])
    [('segment-000001.seg', 12345)]

An index is a folder and a list of segments, from the oldest to the newest, each by its name and length. It
writes files and never deletes one: whoever owns the index commits the new list, and then deletes what is in
``obsolete``. Settings: ``memory`` bounds what building takes (256 MiB), ``fan_in`` is how many segments of like
size become one (8).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from crivello._core import IndexBuilder, merge_segments
from crivello.errors import InvalidArgument
from crivello.index.policy import FAN_IN, Segment, choose

__all__ = ["Document", "Index", "Segment"]

Document = tuple[str, str, str, str | None]
"""URL, title, body, and the tag of the language where it is known."""

_MEMORY = 256 << 20
_BATCH = 512
_NAME = re.compile(r"segment-(\d{6,})\.seg")


class Index:
    """The segments of an index in a folder."""

    def __init__(self, folder: str | Path, segments: Iterable[Segment] = (), *, fan_in: int = FAN_IN) -> None:
        if fan_in < 2:
            raise InvalidArgument(f"fan_in is {fan_in}, and merging needs at least 2 segments")
        self.folder = Path(folder)
        self.segments: list[Segment] = list(segments)
        self.obsolete: list[str] = []
        self._fan_in = fan_in
        self._number = max((_number(name) for name, _ in self.segments), default=0)

    def add(
        self,
        documents: Iterable[Document],
        *,
        memory: int = _MEMORY,
        progress: Callable[[int], object] | None = None,
    ) -> list[Segment]:
        """Adds documents, merges what needs merging, and returns the segments to commit.

        A document whose URL is there already replaces the older one. ``progress`` is called with the number
        of documents added so far. When building fails the index is as it was; when merging does, the documents
        are in it and the merge is still to do.
        """
        builder = IndexBuilder(self.folder, self._number + 1, memory)
        for batch in _batches(documents):
            builder.add(batch)
            if progress is not None:
                progress(builder.documents)
        added = builder.finish()
        self._number += len(added)
        self.segments = [*self.segments, *added]
        while (chosen := choose(self.segments, self._fan_in)) is not None:
            self._merge(chosen)
        return self.segments

    def merge(self) -> list[Segment]:
        """Makes one segment of all, without the replaced documents; returns the segments to commit."""
        if len(self.segments) > 1:
            self._merge(slice(0, len(self.segments)))
        return self.segments

    def _merge(self, chosen: slice) -> None:
        old = self.segments[chosen]
        merged = merge_segments(self.folder, old, self._number + 1)
        self._number += 1
        self.segments = [*self.segments[: chosen.start], merged, *self.segments[chosen.stop :]]
        self.obsolete.extend(name for name, _ in old)


def _number(name: str) -> int:
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidArgument(f"{name!r} is not the name of a segment")
    return int(match[1])


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    remaining = iter(documents)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
