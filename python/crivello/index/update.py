"""From the pages of a collection to its index: what came since the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from typing import Any

from crivello.collection import Collection
from crivello.index import Document, Index
from crivello.store import Row

FOLDER = "index"
_PARSERS = 2


@dataclass(frozen=True)
class Indexed:
    """What the index of a collection holds, and how many pages were added."""

    added: int
    documents: int
    terms: int
    postings: int
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def update_index(collection: Collection, on_progress: Callable[[int], object] | None = None) -> Indexed:
    """Indexes the committed pages that are not in the index yet, and commits it."""
    state = collection.state("index")
    index = Index(collection.folder / FOLDER, collection.segments)
    pages = _Pages(collection, state.get("rows", 0))
    segments = index.add(pages, memory=collection.settings.index.memory, progress=on_progress)
    if pages.end != state.get("rows", 0):
        files: dict[str, int | None] = {f"{FOLDER}/{name}": None for name in index.obsolete}
        files |= {f"{FOLDER}/{name}": length for name, length in segments}
        # The order of the segments says which of two versions of a page is the newer.
        collection.commit(files, index={"rows": pages.end, "segments": [name for name, _ in segments]})
    searcher = collection.searcher()
    return Indexed(pages.count, searcher.documents, searcher.terms, searcher.postings, searcher.bytes)


class _Pages:
    """The documents of a collection from a row on; ``end`` is where the next time starts."""

    def __init__(self, collection: Collection, start: int) -> None:
        self._collection = collection
        self.end = start
        self.count = 0

    def __iter__(self) -> Iterator[Document]:
        if not self._collection.has_pages:
            return
        parse = partial(_document, self._collection)
        with ThreadPoolExecutor(_PARSERS, thread_name_prefix="parse") as parsers:
            for rows, end in self._collection.table.batches(self.end):
                documents = parsers.map(parse, (row for row in rows if row.indexable))
                for document in chain.from_iterable(documents):
                    self.count += 1
                    yield document
                self.end = end


def _document(collection: Collection, row: Row) -> list[Document]:
    if row.canonical is not None:
        own = collection.page(row.canonical)
        if own is not None and own.indexable and own.canonical is None:
            return []  # it stands there under the address that it calls its own
    text = collection.text(row)
    return [(row.url, row.title, text, row.language)] if text or row.title else []
