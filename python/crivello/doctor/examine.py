"""Checks a collection from end to end: files, logs, table, rows and their records, index, graph, decisions.

Everything is read, so the time is that of reading the folder, and about 0.1 ms for each row. Memory: 8 bytes for
each indexed document.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from crivello import _core
from crivello._core import Layout, Ranks, Row
from crivello.collection import Collection
from crivello.crawl.decisions import Decision, decision_files
from crivello.doctor.archive import record_at
from crivello.doctor.finding import Finding, Part, Progress, shortened
from crivello.doctor.logs import entries
from crivello.errors import CollectionInUse, StorageError
from crivello.graph.kept import Kept
from crivello.store import Outcome

_REPAIR = "crivello doctor DIR --repair"
_HITS = 50_000


def examine(collection: Collection, on_progress: Progress | None = None) -> Iterator[Finding]:
    """The findings, as they come; ``collection`` must not be written to meanwhile."""
    holder = collection.writer
    if holder and holder[0] != os.getpid():
        raise CollectionInUse(f"{collection.folder} is being written to, so it cannot be checked")
    return shortened(_Examination(collection, on_progress or (lambda *_: None)).findings())


class _Examination:
    def __init__(self, collection: Collection, on_progress: Progress) -> None:
        self._collection = collection
        self._files = dict(collection.files)
        self._tell = on_progress

        def part(name: str, what: str, advice: str) -> Part:
            return Part(collection.folder, name, "lost" if what == "lost" else "damaged", advice)

        rebuilt = f"it can be rebuilt: {_REPAIR}"
        self._journal = part("journal", "damaged", f"rows are rebuilt from the archive: {_REPAIR}")
        self._table = part("table", "damaged", rebuilt)
        self._archive = part(
            "archive",
            "lost",
            f"the record is in no other place: {_REPAIR} says so in its row, and the next visit fetches it again",
        )
        self._index = part("index", "damaged", rebuilt)
        self._graph = part("graph", "damaged", rebuilt)
        self._links = part("graph", "lost", f"the other records can be kept: {_REPAIR}")
        self._log = part("log", "lost", f"the other lines can be kept: {_REPAIR}")
        self._frontier = part(
            "frontier",
            "lost",
            "the pages are safe, but the crawl cannot go on: crawl again from the seeds into another folder",
        )

    def findings(self) -> Iterator[Finding]:
        yield from self._lengths()
        yield from self._logs()
        yield from self._guard(self._table, self._check_table)
        yield from self._guard(self._table, self._check_maps)
        yield from self._guard(self._journal, self._check_rows)
        yield from self._guard(self._index, self._check_index)
        yield from self._guard(self._graph, self._check_graph)
        yield from self._decisions()

    def _guard(self, part: Part, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
        try:
            yield from check()
        except StorageError as error:
            yield part.of(error)

    def _lengths(self) -> Iterator[Finding]:
        for name, length in self._files.items():
            path = self._collection.folder / name
            if name.endswith("/"):
                if not path.is_dir():
                    yield self._frontier.finding("it is missing, and was committed", name)
                continue
            actual = path.stat().st_size if path.is_file() else -1
            if actual > length:
                what = f"{actual - length:,} bytes were not committed, as after a crash"
                yield Finding("files", what, name, length, "note", "the next writer cuts them off")
            elif actual < length:
                what = (
                    f"{length:,} bytes were committed" if actual >= 0 else "it is missing, and was committed"
                )
                yield self._owner(name).finding(what, name, max(actual, 0))

    def _owner(self, name: str) -> Part:
        if name in (Layout.LINKS, Layout.ANCHORS):
            return self._links
        if name == Layout.ROWS:
            return self._journal
        if name.endswith(Layout.RUN):
            return self._table
        parts = {
            "archive": self._archive,
            "table": self._table,
            "index": self._index,
            "graph": self._graph,
            "log": self._log,
        }
        return parts.get(name.split("/")[0], self._frontier)

    def _logs(self) -> Iterator[Finding]:
        """Every record of the logs, by its checksum."""
        hosts = [name for name in self._files if name.startswith(Layout.HOSTS) and name.endswith(".log")]
        for name in (Layout.ROWS, Layout.LINKS, Layout.ANCHORS, Layout.URLS, *hosts):
            length, path = self._files.get(name, 0), self._collection.folder / name
            if not path.is_file() or path.stat().st_size < length:
                continue  # told by its length
            for entry in entries(path, length):
                if entry.payload is None:
                    what = f"{entry.end - entry.offset:,} bytes do not match their checksum"
                    yield self._owner(name).finding(what, name, entry.offset)
                self._tell(f"reading {name}", entry.end, length)

    def _check_table(self) -> Iterator[Finding]:
        table = self._collection.table
        self._tell("checking the table", 0, 1)
        table.verify()
        urls = sum(len(rows) for rows in table.scan())
        if urls != len(table):
            what = f"it has {urls:,} URLs, and {len(table):,} were committed"
            yield self._table.finding(what, Layout.ROWS)

    def _check_maps(self) -> Iterator[Finding]:
        """The maps of texts, fingerprints and hosts, against the logs that they are of."""
        self._tell("checking the maps", 0, 1)
        _core.verify_crawl(self._collection.folder)
        yield from ()

    def _check_rows(self) -> Iterator[Finding]:
        """Every version: its record, and what it refers to."""
        if not self._collection.has_pages:
            return
        table, length = self._collection.table, self._collection.length(Layout.ROWS)
        for rows, end in table.batches():
            for row in rows:
                newest = table.get(row.url)
                if newest is None or newest.fetched_at < row.fetched_at:
                    yield self._table.finding(f"the row of {row.url} is not found", Layout.ROWS, end)
                yield from self._check_record(row)
            originals = {url for row in rows if (url := row.duplicate_of or row.near_duplicate_of)}
            for url, known in zip(originals, table.contains(list(originals)), strict=True):
                if not known:
                    what = f"{url} is the original of another page, and has no row"
                    yield Finding("references", what, Layout.ROWS, end, "note", "crawl it")
            self._tell("reading the pages", end, length)

    def _check_record(self, row: Row) -> Iterator[Finding]:
        if not row.length:
            return
        file = Layout.archive(row.file)
        if row.visit_length:
            stored = record_at(self._collection.folder, row.visit_file, row.visit_offset, row.visit_length)
            if stored is None or stored.url != row.url:
                what = f"the record of a visit of {row.url} is lost"
                yield self._archive.finding(what, Layout.archive(row.visit_file), row.visit_offset)
        if row.outcome is Outcome.NOT_MODIFIED:
            before = self._collection.table.at(row.url, row.content_at)
            if before and (before.file, before.offset) == (row.file, row.offset):
                return
        reason = unreadable(self._collection, row)
        if reason:
            yield self._archive.finding(f"the page {row.url}: {reason}", file, row.offset)
        elif row.text_length:
            try:
                self._collection.text(row)
            except StorageError as error:
                yield self._archive.of(error)

    def _check_index(self) -> Iterator[Finding]:
        """The segments, and that each document is a page which may be found."""
        collection = self._collection
        if not collection.segments:
            return
        self._tell("checking the index", 0, 1)
        collection.verify()
        has_given = collection.state("index").get("given", 0) > 0
        table, found = collection.table, []
        for urls in _indexed(collection):
            found.append(np.array(_core.signatures(urls), dtype=np.uint64))
            if has_given:
                continue
            for url in urls:
                row = table.get(url)
                if row is None:
                    yield self._index.finding(f"{url} is indexed, and has no row", Layout.INDEX)
                elif not row.indexable and not collection.is_behind:
                    what = f"{url} is indexed as it was before its last visit"
                    yield Finding("index", what, Layout.INDEX, None, "note", "crivello index DIR --rebuild")
        if not collection.is_behind:
            yield from self._unindexed(np.sort(np.concatenate(found)) if found else np.empty(0, np.uint64))

    def _unindexed(self, indexed: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Iterator[Finding]:
        """The pages that could be found and cannot: those that were deleted, or that the index lost."""
        missing: list[str] = []
        for rows, _ in self._collection.table.batches(newest=True):
            pages = [row for row in rows if row.indexable and row.canonical is None]
            signatures = np.array(_core.signatures([row.url for row in pages]), dtype=np.uint64)
            places = np.searchsorted(indexed, signatures)
            for row, place, signature in zip(pages, places, signatures, strict=True):
                if place < len(indexed) and indexed[place] == signature:
                    continue
                if row.title or self._collection.text(row):
                    missing.append(row.url)
        if missing:
            what = f"{len(missing):,} pages were indexed and are not in the index, such as {missing[0]}"
            advice = "if nobody deleted them: crivello index DIR --rebuild"
            yield Finding("index", what, Layout.INDEX, None, "note", advice)

    def _check_graph(self) -> Iterator[Finding]:
        collection = self._collection
        kept = Kept.of(collection.state("graph"))
        if kept.base is None and not self._files.get(Layout.LINKS):
            return
        self._tell("checking the graph", 0, 1)
        arcs, _ = _core.page_graph(collection.folder, kept.base, kept.read_from(self._files))
        arcs.verify()
        for _, name in kept.ranks():
            # A block of ranks is checked when the first of its pages is looked up.
            ranks = Ranks(collection.folder / name, collection.length(name))
            for rows, _ in collection.table.batches():
                ranks.get(_core.signatures([row.url for row in rows]))
        yield from ()

    def _decisions(self) -> Iterator[Finding]:
        decode = msgspec.json.Decoder(Decision).decode
        read = msgspec.json.Decoder(dict).decode
        progress = self._collection.folder / Layout.PROGRESS, self._files.get(Layout.PROGRESS, 0)
        for file, length in [*decision_files(self._collection), progress]:
            name = str(file.relative_to(self._collection.folder))
            if not length or not file.is_file():
                continue
            for offset, line in lines(file, length):
                try:
                    read(line) if file.name.startswith("progress") else decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    yield self._log.finding(f"a line does not read: {error}", name, offset)
                self._tell(f"reading {name}", offset, length)


def unreadable(collection: Collection, row: Row) -> str:
    """Why the record of a row is not what was stored; empty if it is."""
    try:
        record = collection.record(row)
    except StorageError as error:
        return str(error)
    if record.url != row.url:
        return f"there is the record of {record.url or 'no page'}"
    if row.payload and base64.b32encode(hashlib.sha1(record.body).digest()).decode() != row.payload:
        return "the body does not match the digest in its row"
    return ""


def lines(file: Path, length: int) -> Iterator[tuple[int, bytes]]:
    """The lines of the committed part of a file, each with its offset."""
    offset = 0
    with file.open("rb") as source:
        while offset < length and (line := source.readline(length - offset)):
            yield offset, line
            offset += len(line)


def _indexed(collection: Collection) -> Iterator[list[str]]:
    """The URLs of all documents of the index, in batches."""
    settings = msgspec.structs.replace(
        collection.settings.search,
        collapse=-1,
        per_site=0,
        suggest=False,
        time_limit=0.0,
        rerank="",
        rewrite="",
    )
    searcher = collection.searcher()
    for offset in range(0, searcher.documents, _HITS):
        hits = searcher.search(
            "*", top=_HITS, offset=offset, passages=False, correct=False, settings=settings
        )
        yield [hit.url for hit in hits]
