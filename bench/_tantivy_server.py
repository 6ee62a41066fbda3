"""Our web server with tantivy behind it; for bench/serve.py.

python -m bench._tantivy_server FOLDER counting|ranking

The engine returns title, URL and a snippet of each hit. With ``counting`` it also counts the matches;
without, it may skip documents that cannot be among the top ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import tantivy

from crivello.search.results import Explanation, Hit, Results, Snippet
from crivello.store import CachedPage
from crivello.summary import Summary
from crivello.web import serve

FIELDS = ["title", "body"]
BOOSTS = {"title": 3.0}


class TantivyEngine:
    """An index with the stored fields title, body and url, as an engine of the search page."""

    name = "tantivy"

    def __init__(self, folder: str, counting: bool) -> None:
        self._index = tantivy.Index.open(folder)
        self._searcher = self._index.searcher()
        self._counting = counting

    def search(
        self,
        query: str,
        *,
        top: int = 10,
        offset: int = 0,
        facets: bool = False,  # noqa: ARG002 - tantivy's are no part of this
        correct: bool = True,  # noqa: ARG002 - tantivy has none
    ) -> Results:
        began = time.perf_counter_ns()
        parsed = self._index.parse_query(query, FIELDS, field_boosts=BOOSTS)
        found: Any = self._searcher.search(parsed, top, count=self._counting, offset=offset)
        passages = tantivy.SnippetGenerator.create(self._searcher, parsed, self._index.schema, "body")
        hits = tuple(
            self._hit(rank, score, self._searcher.doc(address), passages)
            for rank, (score, address) in enumerate(found.hits, start=offset + 1)
        )
        microseconds = (time.perf_counter_ns() - began) // 1000
        return Results(query, found.count or len(hits), microseconds, hits, exact=self._counting)

    @staticmethod
    def _hit(rank: int, score: float, document: Any, passages: Any) -> Hit:
        snippet = _snippet(passages.snippet_from_doc(document))
        return Hit(rank, score, document["url"][0], document["title"][0], snippet)

    def complete(self, text: str, *, top: int = 8) -> list[str]:  # noqa: ARG002 - tantivy has none
        return []

    def explain(self, query: str, url: str) -> Explanation | None:  # noqa: ARG002 - not asked for
        return None

    def near_copies(self, query: str, url: str) -> list[Hit]:  # noqa: ARG002 - nothing is collapsed
        return []

    def site_names(self, urls: Sequence[str]) -> list[str]:
        return [""] * len(urls)

    def icon_urls(self, host: str) -> list[str]:  # noqa: ARG002 - nothing is stored
        return []

    def extents(self, urls: Sequence[str]) -> list[str]:
        return [""] * len(urls)

    def cached(self, url: str) -> CachedPage | None:  # noqa: ARG002 - there are no copies
        return None

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        return [False] * len(urls)

    def summary(self) -> Summary:
        return Summary(self._searcher.num_docs, 0, 0, None, "ready")


def _snippet(passage: Any) -> Snippet:
    # The ranges count bytes.
    text = passage.fragment().encode()
    fragments, end = [], 0
    for marked in passage.highlighted():
        fragments.append((text[end : marked.start].decode(), False))
        fragments.append((text[marked.start : marked.end].decode(), True))
        end = marked.end
    fragments.append((text[end:].decode(), False))
    return Snippet(tuple(fragments))


def main() -> None:
    folder, how = sys.argv[1:]
    engine = TantivyEngine(folder, how == "counting")
    serve(engine, port=0, on_ready=lambda url: print(f"at {url} (ready)", file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
