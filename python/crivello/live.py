"""Private: crawl, index while crawling, and serve: all in one process, over one collection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from crivello.collection import Collection
from crivello.crawl import Report, crawl
from crivello.graph.update import update_ranks
from crivello.index.update import Indexer

SECONDS = 3.0
_FIRST = 0.25
_GROWTH = 1.5


class LiveIndex:
    """Indexes what the crawl has committed every few seconds, in a thread; ``with`` it around a crawl.

    It begins with shorter pauses, as the crawl does with its checkpoints: who waits for the first page looks on.
    The ranks are a pass over the whole graph, so they are made anew only when it has grown by half.
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
    """Crawls, with an index that follows; at the end everything that was crawled is indexed and ranked."""
    with LiveIndex(collection):
        return crawl(collection, urls, on_progress=on_progress)
