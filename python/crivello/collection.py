"""Private: a collection, the folder that holds everything about a crawl. The public entry is
``crivello.open``.

``Collection(folder)`` reads; ``Collection.write(folder)`` is the only writer. The layout of the folder,
commits, rows and records are native (``crates/core/src/collection``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from crivello import _core
from crivello import settings as all_settings
from crivello._core import Layout, Outcome, Record, Row, Table
from crivello._notebook import Output, in_notebook
from crivello._pages import Pages
from crivello._times import Moment, end_of, seconds_of
from crivello.errors import CollectionError, InvalidArgument, StorageError
from crivello.extend import Converter, Extensions, Extractor, Follow, Priority, QueryRewriter, Reranker, Sieve
from crivello.graph.kept import Kept
from crivello.index import Document, Segment
from crivello.search import Explanation, Hit, Query, Results
from crivello.search.searcher import Search
from crivello.settings import Crawl, Settings
from crivello.settings.given import with_keywords
from crivello.store import CachedPage
from crivello.store.documents import converted, extent
from crivello.store.icons import icon_urls
from crivello.store.sites import home_of, site_name
from crivello.summary import State, Summary

if TYPE_CHECKING:
    from crivello.archives import Exported, Imported
    from crivello.cli.index_progress import IndexProgress
    from crivello.crawl import Report
    from crivello.crawl.status import Status
    from crivello.crawl.why import Story
    from crivello.dedup import Report as Duplicates
    from crivello.doctor import Finding, Repaired
    from crivello.feeds import Feeds
    from crivello.graph.graph import Graph
    from crivello.graph.update import Ranking
    from crivello.index.given import Given
    from crivello.index.update import Indexed, Indexer
    from crivello.store.difference import Difference

SETTINGS = Layout.SETTINGS
CLUSTER = "cluster.json"
_EXTENTS_KEPT = 10_000
_ICONS_KEPT = 10_000


class Collection:
    """Pages, their rows, an index and ranks in one folder. Opened by ``crivello.open`` and
    ``crivello.create``.

    A collection opened for reading sees the last commit, and checks for a newer one at each search; any
    number of threads may use it. Methods that change it require it to be open for writing. Additional keyword
    arguments of a method are settings for that call, named like their flags: ``max_pages=100`` is
    ``--max-pages 100``.

    ``len(collection)`` is the number of pages, ``url in collection`` looks one up, and iterating yields them.
    Documents added by ``add`` are not pages: ``collection.count("*")`` counts everything that can be found.
    """

    def __new__(cls, folder: str | Path, **_: Any) -> Collection:
        """The collection of a cluster is one that reads those of its agents."""
        if cls is Collection and (Path(folder) / CLUSTER).is_file():
            from crivello.cluster.view import ClusterCollection

            return super().__new__(ClusterCollection)
        return super().__new__(cls)

    def __init__(
        self, folder: str | Path, *, settings: Settings | None = None, native: _core.Collection | None = None
    ) -> None:
        self.folder: Path = Path(folder)
        self._native = native or _core.Collection(self.folder)
        self._search: Search | None = None
        self._extents: dict[tuple[str, float], str] = {}
        self._icons: dict[str, tuple[int, list[str]]] = {}
        self._changing = threading.RLock()
        self.extensions: Extensions = Extensions()
        self.settings: Settings = settings or all_settings.load(self.folder / SETTINGS)

    @classmethod
    def write(cls, folder: str | Path, *, settings: Settings | None = None, create: bool = False) -> Self:
        """Opens a collection for writing, after truncating files to their committed lengths; ``create``
        creates one if the folder is missing or empty."""
        folder = Path(folder)
        if create and not (folder / Layout.MANIFEST).exists():
            _make(folder, settings or Settings())
        native = _core.Collection.write(folder)
        try:
            return cls(folder, settings=settings, native=native)
        except BaseException:
            native.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the collection; a writer releases its lock."""
        self._native.close()

    @property
    def name(self) -> str:
        """The name of the collection, which is that of its folder."""
        return self.folder.resolve().name

    @property
    def writer(self) -> tuple[int | None, float] | None:
        """The process that is writing, and since when, in seconds since 1970; ``None`` if there is none."""
        return _core.Collection.holder(self.folder)

    @property
    def version(self) -> str:
        """Changes with every commit; the same for every process that reads the same commit."""
        self.refresh()
        return f"{self._native.committed_at:.6f}"

    @property
    def files(self) -> Mapping[str, int]:
        """The committed files and their lengths."""
        return self._native.files

    @property
    def parts(self) -> Mapping[int, Collection]:
        """The collections of the agents that have the pages, by number; empty if this one has them itself."""
        return {}

    def length(self, name: str) -> int:
        """The committed length of a file; 0 if there is no such file."""
        return self._native.length(name)

    def state(self, part: str) -> dict[str, Any]:
        """The state of a part in the manifest."""
        state = self._native.state(part)
        return msgspec.json.decode(state, type=dict[str, Any]) if state else {}

    def commit(self, files: Mapping[str, int | None], **state: dict[str, Any]) -> None:
        """Commits durable files with their lengths (``None``: delete the file) and the states of parts."""
        self._require_writer()
        with self._changing:
            self._native.commit(dict(files), msgspec.json.encode(state).decode())

    def put_feeds(self, cells: Mapping[str, bytes | None], **state: dict[str, Any]) -> None:
        """Commits the states of feeds (``None``: it is not followed any more) and of parts."""
        self._require_writer()
        with self._changing:
            self._native.put_feeds(list(cells.items()), msgspec.json.encode(state).decode())

    def refresh(self) -> bool:
        """Reloads the manifest if the writer committed since; returns whether it did."""
        with self._changing:
            return self._native.refresh()

    @property
    def table(self) -> Table:
        """The committed rows."""
        return self._native.table

    @property
    def has_pages(self) -> bool:
        """Whether anything was crawled."""
        return len(self.table) > 0

    @property
    def is_behind(self) -> bool:
        """Whether there are rows that ``crivello index`` has not processed yet."""
        rows: int = self.state("index").get("rows", 0)
        return rows < self.length(Layout.ROWS) and self.table.has_rows_since(rows)

    def record(self, row: Row) -> Record:
        """The WARC record of a page, as sent by the server."""
        return self._native.record(row)

    def cached(self, url: str) -> CachedPage | None:
        """The stored copy of a page, or of an icon or style sheet, where its redirects lead; ``None`` if there is none,
        or if the page has ``noindex``."""
        self.refresh()
        [canonical] = _core.canonical_urls([url])
        row = self.page(canonical or url)
        for _ in range(self.settings.crawl.max_redirects):
            if row is None or row.outcome is not Outcome.ASSET or row.redirect is None:
                break
            row = self.page(row.redirect)
        if row is None or not row.length or row.status != 200 or row.noindex:
            return None
        limit = self.settings.crawl.max_bytes
        record = self.record(row)
        parsed = record.parse(limit)
        return CachedPage(
            row.url,
            datetime.fromtimestamp(row.fetched_at, UTC),
            row.content_type or "text/html",
            parsed.charset if parsed else None,
            record.decoded(limit),
            row.title,
            converted(self, row),
        )

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        """Whether each page, given by the URL of a search hit, was crawled and so has a stored copy."""
        return self.table.contains(list(urls))

    def site_names(self, urls: Sequence[str]) -> list[str]:
        """What the site of each page calls itself, by the title of its home page; empty if that is not known."""
        homes = {home: self.table.get(home) for home in {home_of(url) for url in urls}}
        return [site_name(row.title) if (row := homes[home_of(url)]) else "" for url in urls]

    def icon_urls(self, host: str) -> list[str]:
        """The URLs where the icon of a host, with its port, may be stored, the best first."""
        self.refresh()
        rows = self.length(Layout.ROWS)
        known = self._icons.get(host)
        if known is None or known[0] != rows:
            if len(self._icons) >= _ICONS_KEPT:
                self._icons.clear()
            known = self._icons[host] = (rows, icon_urls(self, host))
        return known[1]

    def extents(self, urls: Sequence[str]) -> list[str]:
        """How long each PDF or office document is, as in "12 pages" or "30 slides"; empty if that is not known."""
        rows = (self.table.get(url) for url in urls)
        return [self._extent(row) if row and row.length else "" for row in rows]

    def _extent(self, row: Row) -> str:
        """How long a document is, computed once for each version of it."""
        key = (row.url, row.fetched_at)
        known = self._extents.get(key)
        if known is None:
            if len(self._extents) >= _EXTENTS_KEPT:
                self._extents.clear()
            known = self._extents[key] = extent(self, row)
        return known

    def text(self, page: Row | str) -> str:
        """The text of a page, given as its row or its URL; empty if it has none.

        >>> print(collection.text("https://www.example.org/"))
        """
        return self._native.text(self._row(page), self.settings.crawl.max_bytes)

    def links(self, page: Row | str) -> list[tuple[str, str]]:
        """The links of a page, given as its row or its URL, each with its anchor text: also those of a converted
        document.

        >>> collection.links("https://www.example.org/")
        [('https://www.example.org/about', 'About us')]
        """
        row = self._row(page)
        parsed = self._native.parse(row, self.settings.crawl.max_bytes) if row.length else None
        return list(zip(parsed.links, parsed.anchors, strict=True)) if parsed else []

    def _row(self, page: Row | str) -> Row:
        row = page if isinstance(page, Row) else self.page(page)
        if row is None:
            raise InvalidArgument(f"{page} is not in {self.folder}", hint="collection.why(url) tells why")
        return row

    def documents(
        self,
        options: _core.IndexOptions,
        *,
        start: int = 0,
        pages: Sequence[int] | None = None,
        language: str | None = None,
        extractor: Callable[[list[Document]], list[Document]] | None = None,
    ) -> _core.Documents:
        """The documents of the rows from ``start`` on, or of the pages with these signatures, for
        ``Index.add_pages``.

        ``extractor`` receives them in batches and returns those to index instead, with the same URLs.
        """
        return self._native.documents(
            options,
            self.settings.crawl.max_bytes,
            start,
            None if pages is None else list(pages),
            language,
            None if extractor is None else lambda batch: extractor([Document(*fields) for fields in batch]),
        )

    @property
    def segments(self) -> list[Segment]:
        """The committed segments of the index, oldest first."""
        return [(name, self.length(Layout.segment(name))) for name in self.state("index").get("segments", [])]

    @property
    def division(self) -> tuple[str, int] | None:
        """How the committed index is divided: by ``documents`` or by ``terms``, and into how many shards; ``None`` if
        it is one."""
        divided = self.state("index").get("division")
        return (str(divided[0]), int(divided[1])) if divided else None

    def summary(self) -> Summary:
        """A summary of the collection in a few numbers."""
        searcher = self.searcher()
        updated = datetime.fromtimestamp(self._native.committed_at, UTC)
        still: State = "not indexed" if self.is_behind else "empty"
        state: State = "crawling" if self.writer else "ready" if searcher.documents else still
        return Summary(
            searcher.documents, self.state("crawl").get("hosts", 0), searcher.terms, updated, state
        )

    def verify(self) -> None:
        """Reads the entire index and verifies every checksum and every posting list."""
        self.searcher().verify()

    def check(self, *, progress: bool = True) -> Iterator[Finding]:
        """Reads everything and yields what is not as it should be: checksums, lengths, the record of every version,
        and the references between table, archive, index and graph.

        Nobody may write to the collection meanwhile.

            >>> [str(finding) for finding in collection.check()]
            []
        """
        from crivello.doctor.examine import examine

        self.refresh()
        with self._progress(progress) as shown:
            yield from examine(self, shown.told)

    def repair(self, *, progress: bool = True) -> Repaired:
        """Rebuilds what ``check`` finds damaged from the archive and the journal, and moves the damaged files to the
        folder ``lost``; returns what was done and what remains.

        A collection with a file that is too short cannot be opened for writing: this opens it itself, so it is
        called on one that is open for reading.

            >>> collection.repair().remaining
            []
        """
        from crivello.doctor.repair import repair

        with self._progress(progress) as shown:
            repaired = repair(self.folder, shown.told)
        self.refresh()
        return repaired

    def searcher(self) -> Search:
        """The last committed index, open for searching."""
        with self._changing:
            self.refresh()
            ranks = self._ranks()
            if self._search is None or self._search.snapshot != (self.segments, ranks):
                self._search = Search(
                    self.folder / Layout.INDEX, self.segments, ranks, self.settings.search, self.extensions
                )
            return self._search

    # The public methods: each only delegates to its part.

    def use(
        self,
        *,
        priority: Priority | type[Priority] | str | None = None,
        follow: Follow | type[Follow] | str | None = None,
        converters: Mapping[str, type[Converter] | str] | None = None,
        sieve: Callable[..., Sieve] | str | None = None,
        extractor: Extractor | type[Extractor] | str | None = None,
        rewrite: QueryRewriter | type[QueryRewriter] | str | None = None,
        rerank: Reranker | type[Reranker] | str | None = None,
    ) -> Self:
        """Uses your classes or objects in place of those named in the settings, until the collection is
        closed.

        ``crivello.extend`` defines their protocols.

            >>> collection.use(rerank=Recency(half_life=90)).search("lava")
        """
        given = {
            "crawl.priority": priority,
            "crawl.follow": follow,
            "crawl.converters": converters,
            "crawl.sieve": sieve,
            "index.extractor": extractor,
            "search.rewrite": rewrite,
            "search.rerank": rerank,
        }
        self.extensions.use({setting: own for setting, own in given.items() if own is not None})
        return self

    def crawl(
        self,
        urls: str | Iterable[str] = (),
        *,
        progress: bool | Callable[[Report], object] = True,
        **settings: Any,
    ) -> Report:
        """Crawls from one or several seed URLs, and resumes where the last crawl stopped.

        On a terminal it shows its progress; ``progress`` may be ``False``, or a function that receives the
        report a few times a second. Ctrl-C ends the crawl with a checkpoint and raises ``KeyboardInterrupt``.

            >>> collection.crawl("https://www.example.org/", max_pages=1000)
            <Report: 1,000 pages fetched of 4,821 URLs seen, 3,821 waiting, 0 failed, 812.4 s>
        """
        from crivello.crawl import Crawler

        self._require_writer()
        seeds = [urls] if isinstance(urls, str) else list(urls)
        chosen = self._with(settings, "crawl").crawl
        with self._crawl_progress(progress, chosen) as told:
            return Crawler(self, seeds, settings=chosen, on_progress=told).run()

    def revisit(
        self,
        *,
        all: bool = False,
        budget: int = 0,
        site: str | None = None,
        progress: bool | Callable[[Report], object] = True,
        on_due: Callable[[int], object] | None = None,
        **settings: Any,
    ) -> Report:
        """Visits the pages that are due again, as `crivello refresh` does: by the schedule, or ``all``; those of
        a ``site`` (a domain with its subdomains); at most ``budget`` requests, the most urgent pages first.

        Links found meanwhile are followed as in a crawl. ``on_due`` receives the number of pages before the run;
        ``report.revisits`` counts how the visits ended. ``index()`` then brings the index up to date.

            >>> collection.revisit(budget=1000).revisits
            Counter({'unchanged': 812, 'changed': 171, 'moved': 12, 'failed': 5})
        """
        from crivello.crawl.revisits import find_due, visit_due

        self._require_writer()
        chosen = self._with(settings, "crawl").crawl
        due = find_due(self, everything=all, budget=budget, site=site)
        if on_due is not None:
            on_due(due.pages)
        with self._crawl_progress(progress, chosen) as told:
            return visit_due(self, due, settings=chosen, budget=budget, on_progress=told)

    def import_(
        self,
        files: str | Path | Iterable[str | Path],
        *,
        base: str = "",
        cluster: str = "",
        progress: bool | Callable[[str, int, int, Imported], object] = True,
    ) -> Imported:
        """Imports files that hold pages: WARC, ARC, WET, WACZ, CDXJ, folders of HTML, JSON lines, Parquet; the URLs of
        a sitemap become seeds.

        Names may be patterns. What a file is, is recognised by its content. ``base`` is the URL of a folder of
        HTML. An imported page is stored, deduplicated, linked and indexed like a crawled one. A file that was
        imported before is passed over; after Ctrl-C the same call goes on.

        ``cluster`` lets the workers of the Ray cluster at this address read the files, one task each; ``local`` starts one on
        this machine. They must see the files and the folder of the collection under the same paths. Pages are parsed and stored
        here, in the order of the files, so that the result is the same.

            >>> collection.import_("archives/*.warc.gz")
            <Imported: 4,310 pages from 3 files, 5.2 s>
        """
        from crivello.archives import Importer

        self._require_writer()
        named = [files] if isinstance(files, str | Path) else list(files)
        if callable(progress):
            return Importer(self, named, base=base, cluster=cluster, on_progress=progress).run()
        with self._progress(progress) as shown:

            def tell(name: str, done: int, total: int, imported: Imported) -> None:
                shown.at(done / max(1, total), imported.pages, what=f"importing {Path(name).name}")

            shown.begin("importing", 1.0)
            return Importer(self, named, base=base, cluster=cluster, on_progress=tell).run()

    def export(
        self,
        out: str | Path = "",
        *,
        format: str = "",
        site: str = "",
        since: datetime | float = 0.0,
        versions: str = "newest",
        compression: str = "",
        progress: bool = True,
    ) -> Exported:
        """Exports the pages, or the index, to a file: WARC, WACZ, CDXJ, JSON lines, Parquet or CIFF, by the ending of
        its name or by ``format``; ``-`` is standard output.

        ``site`` is a host with its subdomains, ``since`` the earliest time, and ``versions`` is ``"newest"`` or
        ``"all"``. WARC files are compressed with ``"gzip"`` or ``"zstd"``.

            >>> collection.export("example.wacz", site="example.org")
            <Exported: 149 records, 1,203,331 bytes, into example.wacz>
        """
        from crivello.archives import export

        with self._progress(progress) as shown:
            shown.begin("exporting", 1.0)
            return export(
                self,
                out,
                format=format,
                site=site,
                since=since.timestamp() if isinstance(since, datetime) else since,
                versions=versions,
                compression=compression,
                on_progress=shown.at,
            )

    def captures(self, rows: Sequence[Row], *, of_visits: bool = False) -> list[_core.ArchivedRecord]:
        """The WARC records of rows as they lie in the archive, compressed: of the pages, of the requests, and of
        converted texts.

        ``of_visits`` gives what each visit left there, so that the rows of all versions have each record once: of one
        that found the page unchanged only the record that says so.
        """
        return self._native.captures(list(rows), of_visits)

    def dedup(self, **options: Any) -> Duplicates:
        """Finds the duplicates among the texts of the pages; the arguments are those of ``crivello.dedup.run``.

        The collection stays as it is: ``out`` names a copy without duplicates, as ``.warc.gz`` or ``.jsonl``.

            >>> collection.dedup(threshold=0.8, out="clean.warc.gz")
            <Report: 149 documents, 143 kept, 6 dropped in 4 clusters, 0.2 s>
        """
        from crivello.dedup import run

        return run(self.folder, **options)

    def index(
        self, *, rebuild: bool = False, merge: bool = False, progress: bool = True, **settings: Any
    ) -> Indexed:
        """Indexes the pages crawled since the last time, with the anchor text of links to them; merges
        segments by the merge policy.

        ``rebuild`` indexes all pages again; ``merge`` merges everything into one segment.

            >>> collection.index()
            <Indexed: 149 added, 149 documents in all>
        """
        indexer = self._indexer(settings)
        before = 0 if rebuild else self.searcher().documents
        with self._progress(progress) as shown:
            shown.begin("indexing", 1.0)
            added = indexer.update(lambda count, share: shown.at(share, count), rebuild=rebuild)
            indexer.refresh_anchors()
            shown.begin("merging")
            indexer.merge() if merge else indexer.merge_some()
        return indexer.summary(added, before + added - self.searcher().documents)

    def add(
        self,
        documents: Given | Iterable[Given],
        *,
        rebuild: bool = False,
        progress: bool = True,
        **settings: Any,
    ) -> Indexed:
        """Indexes your own documents: one or many, as mappings with the fields of JSON lines, or as
        ``Document``.

        A document replaces an older one with the same URL (without a URL, the same id). ``rebuild`` replaces
        all documents except the pages of a crawl.

            >>> collection.add([{"url": "https://a.example/", "title": "Bees", "body": "A hive hums."}])
            <Indexed: 1 added, 150 documents in all>
        """
        from crivello.index.given import documents_of
        from crivello.index.jsonl import JsonLines

        indexer = self._indexer(settings)
        before = 0 if rebuild else self.searcher().documents
        given = documents_of(documents)
        lines = given if isinstance(given, JsonLines) else None
        with self._progress(progress) as shown:
            shown.begin("indexing", lines.size if lines else None)
            added = indexer.add(
                given, lambda count: shown.at(lines.read if lines else 0, count), rebuild=rebuild
            )
            if rebuild:
                added += indexer.update()
            shown.begin("merging")
            indexer.merge_some()
        return indexer.summary(added, before + added - self.searcher().documents)

    def add_files(
        self,
        files: Sequence[str],
        *,
        cluster: str = "local",
        rebuild: bool = False,
        progress: bool = True,
        on_remark: Callable[[str], object] | None = None,
        **settings: Any,
    ) -> Indexed:
        """Indexes files of JSON lines with the workers of a Ray cluster, each file as one task.

        ``cluster`` is the address of the cluster; ``local`` starts one on this machine. Its workers must see the folder
        of the collection and the files. Of two documents with the same URL the one in the later file wins.
        ``on_remark`` is called with each warning about the files.

            >>> collection.add_files(["a.jsonl.gz", "b.jsonl.gz"], cluster="192.0.2.7:6379")
            <Indexed: 2,000,000 added, 2,000,000 documents in all>
        """
        from crivello.cluster.jobs import ray_map
        from crivello.index.jsonl import JsonLines

        for file in files:
            JsonLines(file).close()  # a wrong name is reported before anything is started
        indexer = self._indexer(settings)
        before = 0 if rebuild else self.searcher().documents
        with self._progress(progress) as shown:
            shown.begin("indexing", len(files))
            with ray_map(cluster, on_done=lambda done: shown.at(done, done)) as mapped:
                built = indexer.add_files(files, mapped, rebuild=rebuild)
            added = sum(one.documents for one in built)
            if rebuild:
                added += indexer.update()
            shown.begin("merging")
            indexer.merge_some()
        if on_remark is not None:
            for remark in chain.from_iterable(one.remarks for one in built):
                on_remark(remark)
        return indexer.summary(added, before + added - self.searcher().documents)

    def delete(self, urls: str | Iterable[str]) -> Indexed:
        """Deletes the documents of one or several URLs from the index; crawled pages stay in the archive.

        >>> collection.delete("https://a.example/")
        <Indexed: 0 added, 1 deleted, 149 documents in all>
        """
        indexer = self._indexer({})
        before = self.searcher().documents  # also reports an unreadable index before anything is written
        indexer.delete([urls] if isinstance(urls, str) else urls)
        indexer.merge_some()
        return indexer.summary(0, before - self.searcher().documents)

    def rank(
        self,
        *,
        measure: str | None = None,
        damping: float | None = None,
        by: Mapping[str, float] | Sequence[float] | None = None,
        keep_given: bool = False,
        progress: bool = True,
    ) -> Ranking:
        """Ranks the pages by their links; searches then include the rank in the score.

        ``measure`` is any of ``crivello.graph.MEASURES`` (default: the setting ``rank.measure``). ``by`` sets ranks
        of your own instead: a mapping from URLs, or a number for each of ``pages()``, in that order. With
        ``keep_given``, such ranks are not replaced by a measure's.

        >>> ranking = collection.rank()
        >>> ranking.top(1)
        [('https://www.example.org/', 0.183)]
        """
        from crivello.graph.update import give_ranks, update_ranks

        self._require_writer()
        with self._progress(progress) as shown:
            shown.begin("ranking")
            if by is not None:
                return give_ranks(self, by)
            return update_ranks(self, measure=measure, damping=damping, keep_given=keep_given)

    def graph(self, *, nofollow: bool = False) -> Graph:
        """The link graph of the pages: a node for each page, named by its URL.

        Redirects, copies and canonical URLs are folded: a link to one is a link to the page that it stands for. With
        ``nofollow`` the links that pages do not vouch for count, too.

        >>> graph = collection.graph()
        >>> graph.name(graph.indegree().argmax())
        'https://www.example.org/'
        """
        from crivello.graph.update import graph_of

        self.refresh()
        return graph_of(self, nofollow=nofollow)

    def search(
        self,
        query: Query,
        *,
        top: int = 10,
        offset: int = 0,
        facets: bool = False,
        explain: bool = False,
        correct: bool = True,
        **settings: Any,
    ) -> Results:
        """Returns the top results for a query: a text in the query language, or operators of
        ``crivello.search``.

        If a query has no matches, its corrected spelling is searched, if there is one, unless ``correct`` is
        false.

        >>> for hit in collection.search('"solar wind" -storm', top=3):
        ...     print(hit.rank, hit.title, hit.url)
        """
        chosen = self._with(settings, "search").search
        return self.searcher().search(
            query,
            top=top,
            offset=offset,
            facets=facets,
            explain=explain,
            correct=correct,
            settings=chosen,
        )

    def complete(self, text: str, *, top: int = 8) -> list[str]:
        """The queries that a text may be completed to while it is typed, the best first: phrases of titles, headings
        and anchor texts, also if one word is misspelt.

        >>> collection.complete("solar w")
        ['solar wind', 'solar wind and the aurora']
        """
        return self.searcher().complete(text, top=top)

    def similar(self, url: str, *, top: int = 10, **settings: Any) -> Results:
        """The pages most like a crawled page, by its characteristic words; the page itself is not among them.

        >>> [hit.title for hit in collection.similar("https://www.example.org/lava.html", top=3)]
        """
        from crivello.search.similar import characteristic

        self.refresh()
        row = self._row(url)
        searcher = self.searcher()
        query = characteristic(searcher, self.text(row), row.language)
        if query is None:
            return Results(row.url, matches=0, microseconds=0, hits=())
        found = self.search(query, top=top + 1, correct=False, **{"rank_weight": 0.0, **settings})
        others = [hit for hit in found if hit.url != row.url][:top]
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(others, start=1))
        return replace(found, query=row.url, matches=max(0, found.matches - 1), hits=hits, suggestion=None)

    def ranking(self, *, top: int = 10) -> list[tuple[str, float]]:
        """The pages with the highest static rank, as `crivello rank` last computed it, best first.

        >>> collection.ranking(top=1)
        [('https://www.example.org/', 0.183)]
        """
        from crivello.graph.update import Ranking

        self.refresh()
        return Ranking(_collection=self).top(top)

    def count(self, query: Query, **settings: Any) -> int:
        """The exact number of pages and documents that match a query.

        >>> collection.count("lang:it")
        37
        """
        return self.searcher().count(query, settings=self._with(settings, "search").search)

    def explain(self, query: Query, url: str, **settings: Any) -> Explanation | None:
        """Explains the score of one page for a query; ``None`` if the page does not match.

        >>> print(collection.explain("lava", "https://www.example.org/lava.html"))
        """
        return self.searcher().explain(query, url, settings=self._with(settings, "search").search)

    def near_copies(self, query: str, url: str) -> list[Hit]:
        """The pages that are collapsed under a hit because their text is nearly the same, without snippets.

        >>> [copy.url for copy in collection.near_copies("lava", "https://www.example.org/lava.html")]
        ['https://www.example.org/lava-print.html']
        """
        from crivello.search.copies import near_copies

        return near_copies(self, query, url)

    @property
    def feeds(self) -> Feeds:
        """The feeds that the collection follows.

        >>> collection.feeds.add("https://www.example.org/feed.xml")
        >>> collection.feeds.poll()
        """
        from crivello.feeds import Feeds

        return Feeds(self)

    def pages(
        self, *, site: str | None = None, prefix: str | None = None, since: Moment | None = None
    ) -> Pages:
        """The newest version of each URL, as an iterable of rows and as a table.

        In the order in which they were visited; with ``site`` (a domain with its subdomains) or ``prefix`` (the
        beginning of a URL) only those, in the order of their hosts. ``since`` leaves out those that were visited
        before.

            >>> [page.url for page in collection.pages() if page.status == 404]
            >>> collection.pages(site="example.org", since="2d").to_polars()
        """
        if site is not None and prefix is not None:
            raise InvalidArgument("pages are listed by site or by prefix, not both")
        if prefix is not None:
            [canonical] = _core.canonical_urls([prefix])
            if canonical is None:
                raise InvalidArgument(
                    f"{prefix!r} is not the beginning of a URL", hint="as in https://a.example/b"
                )
        return Pages(self.name, self.table, site, prefix, None if since is None else seconds_of(since))

    def page(self, url: str, *, at: Moment | None = None) -> Row | None:
        """The newest version of a URL, which need not be canonical, or the one ``at`` a time; ``None`` if the
        crawl had no outcome for it.

        >>> collection.page("https://www.example.org/").status
        200
        >>> collection.page("https://www.example.org/", at="2d").title
        'As it was two days ago'
        """
        when = None if at is None else end_of(at)
        for spelling in self._spellings(url):
            row = self.table.get(spelling) if when is None else self.table.at(spelling, when)
            if row is not None:
                return row
        return None

    def versions(self, url: str) -> list[Row]:
        """All versions of a URL that the table keeps, newest first: one for each visit that got an answer.

        >>> [(row.fetched_at, row.outcome) for row in collection.versions("https://www.example.org/")]
        """
        found = (self.table.versions(spelling) for spelling in self._spellings(url))
        return next(filter(None, found), [])

    def diff(self, url: str, before: Moment | None = None, after: Moment | None = None) -> Difference | None:
        """What changed in the text of a page between two times (``after``: now); by default between the newest
        two versions whose texts differ, and ``None`` if there are none.

        >>> print(collection.diff("https://www.example.org/", "7d"))
        """
        from crivello.store.difference import difference

        return difference(self, url, before, after)

    def status(self, *, busiest: int = 10) -> Status | None:
        """The status of the crawl as of its last checkpoint, with the busiest hosts; ``None`` if there was no
        crawl.

        >>> collection.status().state
        'ended'
        """
        from crivello.crawl.status import read_status

        return read_status(self, busiest=busiest)

    def why(self, url: str) -> Story:
        """The history of a URL: where it was discovered, when it was tried, what refused it, what became of
        it.

        >>> print(collection.why("https://www.example.org/private/"))
        """
        from crivello.crawl.why import why

        return why(self, url)

    def serve(self, *, on_ready: Callable[[str], object] | None = None, **settings: Any) -> None:
        """Serves the search page and the HTTP API until Ctrl-C; ``on_ready`` receives the URL (default: print
        it).

        >>> collection.serve(port=8000)
        searching small at http://127.0.0.1:8000 (Ctrl-C ends it)
        """
        from crivello.web import Doors, Push, serve, serve_by_workers

        def announce(url: str) -> None:
            print(f"searching {self.name} at {url} (Ctrl-C ends it)", file=sys.stderr, flush=True)

        before, self.settings = self.settings, self._with(settings, "serve")
        chosen = self.settings.serve
        try:
            with Push(self, chosen.public_url) as push:
                if chosen.workers > 1:
                    serve_by_workers(self, chosen, on_ready=on_ready or announce)
                else:
                    serve(
                        self,
                        chosen.host,
                        chosen.port,
                        push=push,
                        doors=Doors(self, chosen),
                        on_ready=on_ready or announce,
                        settings=chosen,
                    )
        finally:
            self.settings = before

    def __len__(self) -> int:
        """The number of URLs with an outcome."""
        return len(self.pages())

    def __bool__(self) -> bool:
        """Always true, even if the collection is empty."""
        return True

    def __contains__(self, url: object) -> bool:
        """Whether a URL, which need not be canonical, has an outcome."""
        return isinstance(url, str) and self.page(url) is not None

    def __iter__(self) -> Iterator[Row]:
        """Iterates over the rows of all URLs."""
        return iter(self.pages())

    def __repr__(self) -> str:
        return f"<Collection {str(self.folder)!r}: {len(self):,} pages, {self.searcher().documents:,} documents indexed>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    @staticmethod
    def _spellings(url: str) -> Iterator[str]:
        """The URL as given, then in canonical form."""
        yield url
        [canonical] = _core.canonical_urls([url])
        if canonical and canonical != url:
            yield canonical

    def _with(self, given: Mapping[str, Any], *sections: str) -> Settings:
        """The settings, overridden by those given in a call."""
        return with_keywords(self.settings, sections, given) if given else self.settings

    def _indexer(self, settings: Mapping[str, Any]) -> Indexer:
        from crivello.index.update import Indexer

        self._require_writer()
        return Indexer(self, self._with(settings, "index", "index.codes"))

    @contextmanager
    def _crawl_progress(
        self, progress: bool | Callable[[Report], object], settings: Crawl
    ) -> Iterator[Callable[[Report], object] | None]:
        """What receives the reports of a crawl: the caller's function, or a view on a terminal."""
        if progress is True and in_notebook():
            output = Output()
            try:
                yield lambda report: output.show(report._repr_html_())
            finally:
                output.clear()
            return
        if progress is not True or not sys.stderr.isatty():
            yield progress if callable(progress) else None
            return
        from crivello.cli.live import CrawlProgress
        from crivello.cli.output import stderr_console

        view = CrawlProgress(stderr_console(), settings)
        with view.shown():
            yield view

    def _progress(self, shown: bool) -> IndexProgress:
        from crivello.cli.index_progress import IndexProgress
        from crivello.cli.output import stderr_console

        return IndexProgress(stderr_console(), shown=shown)

    def _require_writer(self) -> None:
        if not self._native.is_writer:
            raise CollectionError(
                f"{self.folder} is open for reading only",
                hint="open it for writing: crivello.open(folder, write=True)",
            )

    def _ranks(self) -> tuple[Path, int, str] | None:
        kept = Kept.of(self.state("graph"))
        name = kept.ranks_in_use()
        return (self.folder / name, self.length(name), kept.measure or "") if name else None


def _make(folder: Path, settings: Settings) -> None:
    try:
        if folder.exists() and not _is_unmade(folder):
            raise CollectionError(
                f"{folder} exists and is not a collection",
                hint="name an empty folder, a new one, or one that `crivello crawl` made",
            )
    except OSError as error:
        raise StorageError.of(error, folder) from None
    _core.Collection.create(folder, all_settings.to_toml(settings))


def _is_unmade(folder: Path) -> bool:
    """Whether a folder is empty, or creating a collection in it was interrupted by a full disk or a crash."""
    ours = {SETTINGS, f"{SETTINGS}.new", f"{Layout.MANIFEST}.new"}
    return folder.is_dir() and all(
        entry.name in ours or (entry.name in Layout.PARTS and not any(entry.iterdir()))
        for entry in folder.iterdir()
    )
