"""Incremental indexing: from the pages of a collection, or from a file of documents, to its index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from crivello._core import Documents, Layout, Row, Table
from crivello._figures import Figures, shown
from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.index import Document, Index, options_of
from crivello.index.extract import extracted, prepared
from crivello.index.job import Built, Map, build_files
from crivello.index.policy import generations
from crivello.settings import Settings

Progress = Callable[[int, float], object]
"""Called with the number of documents added, and the fraction of the input read."""


@dataclass(frozen=True, repr=False)
class Indexed(Figures):
    """The size of a collection's index, the documents added, how many of those replaced older ones, and how many
    were deleted."""

    added: int
    replaced: int
    deleted: int
    documents: int
    terms: int
    postings: int
    bytes: int
    segments: int

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello index --json``."""
        return asdict(self)

    def _headline(self) -> str:
        replaced = f", {self.replaced:,} of them in place of older ones" if self.replaced else ""
        deleted = f", {self.deleted:,} deleted" if self.deleted else ""
        return f"{self.added:,} added{replaced}{deleted}, {self.documents:,} documents in all"

    def _figures(self) -> Iterator[tuple[str, str]]:
        return ((name, shown(value)) for name, value in self.to_dict().items())


class Indexer:
    """Keeps the index of a collection up to date.

    Every method commits its changes; if one fails, the index stays at the last commit.
    """

    def __init__(self, collection: Collection, settings: Settings | None = None) -> None:
        self._collection = collection
        settings = settings or collection.settings
        self._settings = settings
        self._language = settings.index.language
        self._extractor = collection.extensions.get("index.extractor", settings.index.extractor)
        self._options = options_of(settings)
        self._index = Index(
            collection.folder / Layout.INDEX,
            collection.segments,
            settings=settings,
            number=collection.state("index").get("number", 0),
            division=collection.division,
        )
        self._deleted = 0

    def update(self, on_progress: Progress | None = None, *, rebuild: bool = False) -> int:
        """Indexes the committed pages that are not in the index yet; returns their number.

        A page that changed replaces its older version, and one that is gone or moved, or has become a duplicate or
        ``noindex``, is deleted. ``rebuild`` starts over from the first page and replaces the index.
        """
        start = 0 if rebuild else self._rows
        if rebuild:
            if given := self._given:
                raise InvalidArgument(
                    f"{self._collection.folder} has {given:,} documents that are in the index only and would be lost",
                    hint="give their file again: crivello index DIR --rebuild --from FILE",
                )
            self._begin_again()
        if self._index.segments and (lost := list(self._lost(start))):
            self.delete(lost)
        pages = self._pages(start=start)
        added, _ = self._index.add_pages(
            pages, progress=lambda count: on_progress(count, pages.fraction) if on_progress else None
        )
        if rebuild or pages.end != start:
            self._commit(rows=pages.end)
        return added

    def _lost(self, start: int) -> Iterator[str]:
        """The URLs that had a document by an earlier version, and have none by a newer one at ``start`` or later."""
        table = self._collection.table
        for rows, _ in table.batches(start, newest=True):
            for row in rows:
                is_lost = not row.indexable or _is_represented(table, row)
                if is_lost and any(older.indexable for older in table.versions(row.url)[1:]):
                    yield row.url

    def refresh_anchors(self) -> int:
        """Reindexes the pages that gained many inlinks since they were indexed; returns their number."""
        committed = self._collection.length(Layout.ANCHORS)
        if not committed:
            return 0
        searcher = self._collection.searcher()
        stale = searcher.stale_anchors(self._collection.folder / Layout.ANCHORS, committed)
        if stale:
            self._index.add_pages(self._pages(pages=stale))
            self._commit()
        return len(stale)

    def add(
        self,
        documents: Iterable[Document],
        on_progress: Callable[[int], object] | None = None,
        *,
        rebuild: bool = False,
    ) -> int:
        """Adds documents from any source; returns their number, which ``on_progress`` gets while it grows.

        ``rebuild`` replaces the index with them; crawled pages are reindexed by the next ``update``.
        """
        counted = 0
        given = 0 if rebuild else self._given
        if rebuild:
            self._begin_again()

        def count(number: int) -> None:
            nonlocal counted
            counted = number
            if on_progress is not None:
                on_progress(number)

        self._index.add(prepared(documents, self._language, self._extractor), progress=count)
        if counted:
            self._commit(rows=0 if rebuild else None, given=given + counted)
        return counted

    def add_files(self, files: Sequence[str], map: Map, *, rebuild: bool = False) -> list[Built]:
        """Adds the documents of files of JSON lines, each a generation built by a worker (``crivello.index.job``).

        Of two documents with the same URL the one in the later file wins. ``rebuild`` is as for ``add``.
        """
        if self._settings.index.assign == "contiguous" and self._index.division[1] > 1:
            raise InvalidArgument(
                "index.assign = contiguous needs to know what was indexed before, which workers do not",
                hint="use index.assign = hashed",
            )
        given = 0 if rebuild else self._given
        if rebuild:
            self._begin_again()
        built = build_files(
            files,
            self._index.folder,
            number=self._index.reserve(len(files)),
            settings=self._settings,
            division=self._index.division,
            map=map,
        )
        for one in built:
            self._index.adopt(one.segments)
        if added := sum(one.documents for one in built):
            self._commit(rows=0 if rebuild else None, given=given + added)
        return built

    def delete(self, urls: Iterable[str]) -> None:
        """Deletes the documents with these URLs."""
        before = self._collection.searcher().documents
        self._index.delete(urls)
        self._commit()
        self._deleted += before - self._collection.searcher().documents

    def merge(self) -> None:
        """Merges all segments into one."""
        self._index.merge()
        self._commit()

    def merge_some(self) -> None:
        """Merges the segments that the merge policy selects."""
        before = self._index.segments
        if self._index.merge_some() is not before:
            self._commit()

    def merge_in_background(self) -> None:
        """Merges what the merge policy selects in the background; the next call commits the result."""
        if self._index.merge_in_background():
            self._commit()

    def close(self) -> None:
        """Stops a background merge."""
        self._index.stop_merging()

    def summary(self, added: int, replaced: int = 0) -> Indexed:
        """The current size of the index."""
        searcher = self._collection.searcher()
        return Indexed(
            added,
            replaced - self._deleted,
            self._deleted,
            searcher.documents,
            searcher.terms,
            searcher.postings,
            searcher.bytes,
            len(generations(self._index.segments)),
        )

    def _pages(self, *, start: int = 0, pages: Sequence[int] | None = None) -> Documents:
        """The documents of the collection's pages, ready to index."""
        extractor = None if self._extractor is None else partial(extracted, self._extractor)
        return self._collection.documents(
            self._options, start=start, pages=pages, language=self._language, extractor=extractor
        )

    def _begin_again(self) -> None:
        self._index.obsolete.extend(name for name, _ in self._index.segments)
        self._index.segments = []

    @property
    def _given(self) -> int:
        """The number of documents that did not come from the crawl."""
        given: int = self._collection.state("index").get("given", 0)
        return given

    @property
    def _rows(self) -> int:
        rows: int = self._collection.state("index").get("rows", 0)
        return rows

    def _commit(self, rows: int | None = None, given: int | None = None) -> None:
        segments = self._index.segments
        files: dict[str, int | None] = {Layout.segment(name): None for name in self._index.obsolete}
        files |= {Layout.segment(name): length for name, length in segments}
        # Of two versions of a page, the one in the later segment is the newer.
        state = {
            "rows": self._rows if rows is None else rows,
            "segments": [name for name, _ in segments],
            "number": self._index.number,
            "given": self._given if given is None else given,
        }
        if self._index.division[1] > 1:
            state["division"] = self._index.division
        self._collection.commit(files, index=state)
        self._index.obsolete.clear()


def _is_represented(table: Table, row: Row) -> bool:
    """Whether the page that a page names as canonical is in the index in its place."""
    canonical = table.get(row.canonical) if row.canonical else None
    return canonical is not None and canonical.indexable and canonical.canonical is None
