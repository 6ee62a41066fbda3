"""Builds one index in a separate process and prints its time and memory as JSON; for bench/index.py.

python -m bench._index_build ours|tantivy|tantivy-terms|archive|lines FOLDER [NAME=VALUE ...]
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

from bench._pages import documents, kept
from crivello import settings
from crivello.collection import Collection
from crivello.index import Document, Index, options_of
from crivello.index.jsonl import JsonLines

ZONES = ("title", "headings", "body", "url")


def main() -> None:
    kind, folder, *named = sys.argv[1:]
    options: dict[str, Any] = dict(name.split("=", 1) for name in named)
    add = float(options.pop("add", 0))
    streamed, source = options.pop("streamed", ""), options.pop("source", "")
    prefer = options.pop("codes", None)
    loaded = settings.load(flags={"index": options, "index.codes": {"prefer": prefer}})
    Path(folder).mkdir(parents=True, exist_ok=True)
    if streamed:
        print(json.dumps(_streamed(folder, loaded)))
        return
    if kind in ("archive", "lines"):
        print(json.dumps(_crawled(kind, source, folder, loaded)))
        return
    pages = documents()
    if kind == "ours":
        print(json.dumps(_ours(pages, folder, loaded, add)))
    else:
        print(json.dumps(_tantivy(pages, folder, kind == "tantivy-terms", loaded.index.memory)))


class _Peak:
    """The peak growth of the process's memory while it ran, in bytes."""

    def __enter__(self) -> _Peak:
        self._start = _resident()
        self.grown = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.01):
            self.grown = max(self.grown, _resident() - self._start)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _streamed(folder: str, loaded: settings.Settings) -> dict[str, Any]:
    """The cost of indexing without holding the pages in memory: they are streamed."""
    pages = JsonLines(str(kept()))
    with _Peak() as peak:
        Index(folder, settings=loaded).add(pages)
    return {"peak": peak.grown}


def _crawled(kind: str, source: str, folder: str, loaded: settings.Settings) -> dict[str, Any]:
    """Indexes a crawl, from its archive or from its text as JSON lines."""
    index = Index(folder, settings=loaded)
    with _Peak() as peak:
        started = time.perf_counter()
        if kind == "archive":
            index.add_pages(Collection(source).documents(options_of(loaded)))
        else:
            index.add(JsonLines(source))
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak": peak.grown}


def _ours(pages: list[Document], folder: str, loaded: settings.Settings, add: float) -> dict[str, Any]:
    index = Index(folder, settings=loaded)
    new = pages[:: int(1 / add)] if add else []
    new = [page._replace(url=f"{page.url}?new") for page in new]
    with _Peak() as peak:
        started = time.perf_counter()
        index.add(pages)
        seconds = time.perf_counter() - started
    started = time.perf_counter()
    index.add(new)
    index.merge_some()
    added = time.perf_counter() - started
    return {"seconds": seconds, "peak": peak.grown, "segments": index.segments, "added": added}


def _tantivy(pages: list[Document], folder: str, terms: bool, memory: int) -> dict[str, Any]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for zone in ZONES:
        name = "terms" if terms else "en_stem"
        builder.add_text_field(zone, stored=True, tokenizer_name=name, index_option="position")
    index = tantivy.Index(builder.build(), path=folder)
    if terms:
        plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", plain)
        pages = [_as_terms(page) for page in pages]
    with _Peak() as peak:
        started = time.perf_counter()
        writer = index.writer(heap_size=memory, num_threads=1)
        for page in pages:
            writer.add_document(
                tantivy.Document(title=page.title, headings=page.headings, body=page.body, url=page.url)
            )
        writer.commit()
        writer.wait_merging_threads()
        seconds = time.perf_counter() - started
    sizes = {file.name: file.stat().st_size for file in Path(folder).iterdir()}
    size = sum(size for name, size in sizes.items() if not name.endswith((".store", ".json", ".lock")))
    return {"seconds": seconds, "peak": peak.grown, "bytes": size}


def _as_terms(page: Document) -> Document:
    """The terms of our index, for an analyzer that only splits them."""
    from crivello import analyze

    def terms(text: str) -> str:
        return " ".join(term for term, *_ in analyze(text, page.language))

    return page._replace(
        title=terms(page.title), headings=terms(page.headings), body=terms(page.body), url=terms(page.url)
    )


if __name__ == "__main__":
    main()
