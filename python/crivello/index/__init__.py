"""From text to segments: adding, replacing and deleting documents, and keeping the number of segments small.

    >>> index = Index("folder")
    >>> index.add([Document("https://a.example/", "Title", "Body of the page", "en")])
    [('segment-000001.seg', 12345)]
    >>> index.delete(["https://a.example/"])
    [('segment-000001.seg', 12345), ('segment-000002.seg', 678)]

An index is a folder and a list of segments, from the oldest to the newest, each by its name and length. It writes
files and never deletes one: whoever owns the index commits the new list, and then deletes what is in ``obsolete``.
If it is divided into shards, files with the same number are a generation: the shards of what one segment would hold.
How segments are built and merged is in the sections ``[index]`` and ``[index.codes]`` of the settings; ``number`` is the highest that a segment had so far: no name is used twice, so that a name says what is in the file,
even to a reader that saw it long ago.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import structs

from crivello._core import Documents, IndexBuilder, IndexOptions, Layout, join_segments
from crivello.errors import InvalidArgument
from crivello.index.background import Joining
from crivello.index.policy import Segment, choose
from crivello.settings import Settings, for_core

__all__ = ["Document", "Index", "Segment", "options_of"]

_BATCH = 512

Division = tuple[str, int]
"""How an index is divided: by documents or by terms, and into how many shards."""

_UNDIVIDED: Division = ("documents", 1)


class Document(NamedTuple):
    """A document to index. Its URL is its identity: one that is added again replaces the older one.

    ``kind`` is its media type, and ``day`` when it was written, in days since 1970-01-01; 0 if unknown.
    """

    url: str
    title: str = ""
    body: str = ""
    language: str | None = None
    headings: str = ""
    anchors: str = ""
    id: str = ""
    kind: str = ""
    day: int = 0


def options_of(settings: Settings) -> IndexOptions:
    """How the settings say that segments are built."""
    sections = {**for_core(settings.index), "codes": for_core(settings.index_codes)}
    return IndexOptions(msgspec.json.encode(sections))


class Index:
    """The segments of an index in a folder."""

    def __init__(
        self,
        folder: str | Path,
        segments: Iterable[Segment] = (),
        *,
        settings: Settings | None = None,
        number: int = 0,
        division: Division | None = None,
    ) -> None:
        settings = settings or Settings()
        self._made: Division = division or _UNDIVIDED
        wanted = settings.index.shards
        self.division: Division = self._made if wanted == 0 else (settings.index.partition, wanted)
        partition, shards = self.division = self.division if self.division[1] > 1 else _UNDIVIDED
        divided = structs.replace(settings.index, partition=partition, shards=shards)
        settings = structs.replace(settings, index=divided)
        self.folder: Path = Path(folder)
        self.segments: list[Segment] = list(segments)
        self.obsolete: list[str] = []
        self._options = options_of(settings)
        self._fan_in = settings.index.fan_in
        self.number: int = max(number, *(_number(name) for name, _ in self.segments), 0)
        self._joining: Joining | None = None

    def add(
        self, documents: Iterable[Document], *, progress: Callable[[int], object] | None = None
    ) -> list[Segment]:
        """Adds documents as a new segment; returns the segments to commit.

        ``progress`` is called with the number of documents added so far. If the build fails, the index is
        unchanged.
        """
        builder = self._builder()
        for batch in batches(documents):
            builder.add(batch)
            if progress is not None:
                progress(builder.documents)
        return self._append(builder)

    def add_pages(
        self, pages: Documents, *, progress: Callable[[int], object] | None = None
    ) -> tuple[int, list[Segment]]:
        """Adds pages of a collection as a new segment; returns how many, and the segments to commit."""
        builder = self._builder()
        while pages.feed(builder):
            if progress is not None:
                progress(builder.documents)
        return builder.documents, self._append(builder)

    def delete(self, urls: Iterable[str]) -> list[Segment]:
        """Deletes the documents of these URLs by a new segment of tombstones; returns the segments to commit."""
        builder = self._builder()
        builder.delete(list(urls))
        return self._append(builder)

    def merge(self) -> list[Segment]:
        """Merges all segments into one, without replaced and deleted documents; returns the segments to commit."""
        self.stop_merging()
        if self.segments:
            self._join(slice(0, len(self.segments)))
        return self.segments

    def merge_some(self) -> list[Segment]:
        """Does the merges that the policy selects; returns the segments to commit."""
        self.stop_merging()
        while (chosen := choose(self.segments, self._fan_in)) is not None:
            self._join(chosen)
        return self.segments

    def merge_in_background(self) -> bool:
        """Starts the merges that the policy selects in a thread, and adopts what was merged since the last call.

        Returns whether the segments changed, so that there is something to commit. If a merge fails, its error is
        raised here.
        """
        changed = False
        if self._joining is not None and self._joining.is_done:
            joining, self._joining = self._joining, None
            self._replace(joining.old, joining.result())
            changed = True
        if self._joining is None and (chosen := choose(self.segments, self._fan_in)) is not None:
            old = self.segments[chosen]
            number = self._next()
            self._joining = Joining(
                old,
                lambda cancel: join_segments(
                    self.folder, old, number, chosen.start == 0, self._options, cancel
                ),
            )
        return changed

    def stop_merging(self) -> None:
        """Stops a background merge; only its own progress is lost."""
        if self._joining is not None:
            self._joining.stop()
            self._joining = None

    def reserve(self, count: int) -> int:
        """Reserves the numbers of generations that others build; returns the first."""
        self._check_division()
        first = self.number + 1
        self.number += count
        return first

    def adopt(self, segments: list[Segment]) -> None:
        """Adds a generation that was built elsewhere, into the folder of the index."""
        if segments:
            self.segments = [*self.segments, *segments]
            self._made = self.division

    def _builder(self) -> IndexBuilder:
        self._check_division()
        return IndexBuilder(self.folder, self._next(), self._options, self.segments)

    def _check_division(self) -> None:
        if self.segments and self.division != self._made:
            raise InvalidArgument(
                f"the index has {_described(self._made)}, and the settings say {_described(self.division)}",
                hint="crivello index DIR --rebuild divides it anew",
            )

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _append(self, builder: IndexBuilder) -> list[Segment]:
        self.adopt(builder.finish())
        return self.segments

    def _join(self, chosen: slice) -> None:
        old = self.segments[chosen]
        self._replace(old, join_segments(self.folder, old, self._next(), chosen.start == 0, self._options))

    def _replace(self, old: list[Segment], joined: list[Segment]) -> None:
        start = self.segments.index(old[0])
        self.segments = [*self.segments[:start], *joined, *self.segments[start + len(old) :]]
        self.obsolete.extend(name for name, _ in old)


def _described(division: Division) -> str:
    partition, shards = division
    return "one shard" if shards == 1 else f"{shards} shards by {partition}"


def _number(name: str) -> int:
    number = Layout.segment_number(name)
    if number is None:
        raise InvalidArgument(f"{name!r} is not the name of a segment")
    return number


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """The documents, in batches of a few hundred."""
    remaining = iter(documents)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
