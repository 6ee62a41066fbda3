"""Private: crawling and indexing concurrently, in one process and one collection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from crivello.collection import Collection
from crivello.crawl import Report, crawl
from crivello.crawl.revisits import find_due, visit_due
from crivello.feeds.poll import Polled
from crivello.graph.update import update_ranks
from crivello.index.update import Indexer

SECONDS = 3.0
_FIRST = 0.25
_GROWTH = 1.5


class LiveIndex:
    """A context manager around a crawl: a thread that indexes the newly committed pages every few seconds.

    Intervals are shorter at first, like those of the crawl's checkpoints, so that the first pages can be
    searched soon. Ranking takes a pass over the entire graph, so ranks are recomputed only when the index has
    grown by half.
    """

    def __init__(self, collection: Collection, seconds: float = SECONDS) -> None:
        self._collection = collection
        self._seconds = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)
        self._ranked = 0
        self._error: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None:
            if self._error is not None:
                raise self._error
            self._collection.index(progress=False)
            update_ranks(self._collection, keep_given=True)

    def _run(self) -> None:
        indexer = Indexer(self._collection)
        try:
            pause = min(_FIRST, self._seconds)
            while not self._ended.wait(pause):
                pause = min(2 * pause, self._seconds)
                indexer.update()
                indexer.merge_in_background()
                documents = self._collection.searcher().documents
                if documents > self._ranked * _GROWTH:
                    update_ranks(self._collection, keep_given=True)
                    self._ranked = documents
        except Exception as error:
            self._error = error
        finally:
            indexer.close()


def crawl_live(
    collection: Collection, urls: Sequence[str], *, on_progress: Callable[[Report], None] | None = None
) -> Report:
    """Crawls and indexes concurrently; on return all crawled pages are indexed and ranked."""
    with LiveIndex(collection):
        return crawl(collection, urls, on_progress=on_progress)


def poll_live(collection: Collection) -> Sequence[Polled]:
    """Polls the feeds that are due or pinged, and indexes what they brought."""
    polled = collection.feeds.poll()
    if collection.is_behind:
        collection.index(progress=False)
    return polled


def refresh_live(collection: Collection) -> Report | None:
    """Visits the pages that are due, and indexes concurrently; ``None`` if nothing is due."""
    due = find_due(collection)
    if not due.pages:
        return None
    with LiveIndex(collection):
        return visit_due(collection, due, settings=collection.settings.crawl)
