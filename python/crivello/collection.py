"""Private: a collection, one folder with everything about one crawl. People call ``crivello.open``.

``Collection(folder)`` reads; ``Collection.write(folder)`` is the one writer. What is in the folder, the commit rule,
rows and records are native (``crates/core/src/collection``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from crivello import _core
from crivello import settings as all_settings
from crivello._core import Layout, Record, Row, Table
from crivello._pages import Pages
from crivello.errors import CollectionError, InvalidArgument, StorageError
from crivello.extend import Converter, Extensions, Extractor, Follow, Priority, QueryRewriter, Reranker, Sieve
from crivello.graph import ranks_in_use
from crivello.index import Document, Segment
from crivello.search import Explanation, Query, Results
from crivello.search.searcher import Search
from crivello.settings import Settings
from crivello.settings.given import with_keywords
from crivello.store import CachedPage
from crivello.summary import State, Summary

if TYPE_CHECKING:
    from crivello.cli.index_progress import IndexProgress
    from crivello.crawl import Report
    from crivello.crawl.status import Status
    from crivello.crawl.why import Story
    from crivello.graph.update import Ranking
    from crivello.index.given import Given
    from crivello.index.update import Indexed, Indexer

SETTINGS = Layout.SETTINGS


class Collection:
    """What a folder holds: pages, their rows, an index and ranks. ``crivello.open`` and ``crivello.create`` give one.

    A collection that was opened for reading sees what was committed last, and looks for a newer commit at each
    search; any number of threads may ask it. Methods that change it need one that is open for writing. Keyword
    arguments that a method does not name are settings for that call, by the names of their flags: ``max_pages=100``
    is ``--max-pages 100``.

    ``len(collection)`` counts its pages, ``url in collection`` asks for one, and iterating gives them. Documents
    that were given to ``add`` are no pages: ``collection.count("*")`` counts everything that can be found.
    """

    def __init__(
        self, folder: str | Path, *, settings: Settings | None = None, native: _core.Collection | None = None
    ) -> None:
        self.folder: Path = Path(folder)
        self._native = native or _core.Collection(self.folder)
        self._search: Search | None = None
        self._changing = threading.RLock()
        self.extensions: Extensions = Extensions()
        self.settings: Settings = settings or all_settings.load(self.folder / SETTINGS)

    @classmethod
    def write(cls, folder: str | Path, *, settings: Settings | None = None, create: bool = False) -> Self:
        """Opens for writing, after cutting back what no commit names; ``create`` makes a new one where the
        folder is missing or empty."""
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
        """Lets go of the folder; a writer lets the next one in."""
        self._native.close()

    @property
    def name(self) -> str:
        """What to call the collection: the name of its folder."""
        return self.folder.resolve().name

    @property
    def writer(self) -> tuple[int | None, float] | None:
        """The process that is writing, and since when in seconds since 1970; None if there is none."""
        return _core.Collection.holder(self.folder)

    @property
    def files(self) -> Mapping[str, int]:
        """The committed files and their lengths."""
        return self._native.files

    def length(self, name: str) -> int:
        """The committed length of a file; 0 where there is none."""
        return self._native.length(name)

    def state(self, part: str) -> dict[str, Any]:
        """What a part asked the manifest to remember."""
        state = self._native.state(part)
        return msgspec.json.decode(state, type=dict[str, Any]) if state else {}

    def commit(self, files: Mapping[str, int | None], **state: dict[str, Any]) -> None:
        """Commits files that are durable already with their lengths (None: remove it) and parts' states."""
        self._require_writer()
        with self._changing:
            self._native.commit(dict(files), msgspec.json.encode(state).decode())

    def refresh(self) -> bool:
        """Looks whether the writer committed something new; tells whether it did."""
        with self._changing:
            return self._native.refresh()

    @property
    def table(self) -> Table:
        """The rows that were committed."""
        return self._native.table

    @property
    def has_pages(self) -> bool:
        """Whether anything was crawled."""
        return self.length(Layout.ROWS) > 0

    @property
    def is_behind(self) -> bool:
        """Whether there are rows that ``crivello index`` has not looked at yet."""
        rows: int = self.state("index").get("rows", 0)
        return rows < self.length(Layout.ROWS)

    def record(self, row: Row) -> Record:
        """A page as the server sent it."""
        return self._native.record(row)

    def cached(self, url: str) -> CachedPage | None:
        """The stored copy of a page; None where there is none, or where the page asked not to be indexed."""
        self.refresh()
        [canonical] = _core.canonical_urls([url])
        row = self.page(canonical or url)
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
        )

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        """Whether each page, named by the URL of a search's hit, came from the crawl and so has a copy."""
        return self.table.contains(list(urls))

    def text(self, page: Row | str) -> str:
        """The text of a page, given as its row or its URL; empty where it has none.

        >>> print(collection.text("https://www.example.org/"))
        """
        row = page if isinstance(page, Row) else self.page(page)
        if row is None:
            raise InvalidArgument(f"{page} is not in {self.folder}", hint="collection.why(url) tells why")
        return self._native.text(row, self.settings.crawl.max_bytes)

    def documents(
        self,
        options: _core.IndexOptions,
        *,
        start: int = 0,
        pages: Sequence[int] | None = None,
        language: str | None = None,
        extractor: Callable[[list[Document]], list[Document]] | None = None,
    ) -> _core.Documents:
        """The documents of the rows from ``start`` on, or of the pages with these signatures, for ``Index.add_pages``.

        ``extractor`` gets them in batches and gives those to index in their place, with the same URLs.
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
        """The committed segments of the index, from the oldest to the newest."""
        return [(name, self.length(Layout.segment(name))) for name in self.state("index").get("segments", [])]

    def summary(self) -> Summary:
        """How the collection stands, in a few numbers."""
        searcher = self.searcher()
        updated = datetime.fromtimestamp(self._native.committed_at, UTC)
        still: State = "not indexed" if self.is_behind else "empty"
        state: State = "crawling" if self.writer else "ready" if searcher.documents else still
        return Summary(
            searcher.documents, self.state("crawl").get("hosts", 0), searcher.terms, updated, state
        )

    def verify(self) -> None:
        """Reads the whole index and checks every checksum and every list."""
        self.searcher().verify()

    def searcher(self) -> Search:
        """The index as it was committed last, open for searching."""
        with self._changing:
            self.refresh()
            ranks = self._ranks()
            if self._search is None or self._search.snapshot != (self.segments, ranks):
                self._search = Search(
                    self.folder / Layout.INDEX, self.segments, ranks, self.settings.search, self.extensions
                )
            return self._search

    # What people call: each method is a thin door to its part.

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
        """Takes classes or objects of yours in place of what the settings name, until the collection is closed.

        ``crivello.extend`` says what each is asked.

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
        """Crawls from one or several URLs, and goes on from where the last crawl stopped.

        On a terminal it shows how it goes; ``progress`` may be False, or a function that gets the report a few times
        a second. Ctrl-C ends it with a checkpoint and raises KeyboardInterrupt.

            >>> collection.crawl("https://www.example.org/", max_pages=1000)
            <Report: 1,000 pages fetched of 4,821 URLs seen, 3,821 waiting, 0 failed, 812.4 s>
        """
        from crivello.crawl import Crawler

        self._require_writer()
        seeds = [urls] if isinstance(urls, str) else list(urls)
        chosen = self._with(settings, "crawl").crawl
        if progress is not True or not sys.stderr.isatty():
            told = progress if callable(progress) else None
            return Crawler(self, seeds, settings=chosen, on_progress=told).run()
        from crivello.cli.live import CrawlProgress
        from crivello.cli.output import stderr_console

        view = CrawlProgress(stderr_console(), chosen)
        with view.shown():
            return Crawler(self, seeds, settings=chosen, on_progress=view).run()

    def index(
        self, *, rebuild: bool = False, merge: bool = False, progress: bool = True, **settings: Any
    ) -> Indexed:
        """Indexes the pages that came since the last time, and what links say of them; merges segments where that pays.

        ``rebuild`` begins again with the first page; ``merge`` makes one segment of all.

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
        """Indexes documents of your own: one or many, as mappings with the fields of JSON lines, or ``Document``.

        A document with the URL (or without one, the id) of an older one replaces it. ``rebuild`` puts them in place
        of all that is there, but for the pages of a crawl.

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

    def delete(self, urls: str | Iterable[str]) -> Indexed:
        """Deletes the documents of one or several URLs from the index; what was crawled stays stored.

        >>> collection.delete("https://a.example/")
        <Indexed: 0 added, 149 documents in all>
        """
        indexer = self._indexer({})
        self.searcher()  # what cannot be read is told before anything is written
        indexer.delete([urls] if isinstance(urls, str) else urls)
        indexer.merge_some()
        return indexer.summary(0)

    def rank(
        self,
        *,
        damping: float = 0.85,
        by: Mapping[str, float] | Sequence[float] | None = None,
        keep_given: bool = False,
        progress: bool = True,
    ) -> Ranking:
        """Ranks the pages by the links between them (PageRank); searches then count the rank in.

        ``by`` ranks them by numbers of your own instead: a mapping from URLs, or one for each of ``pages()``, in
        that order. With ``keep_given`` such ranks stay as they are.

        >>> ranking = collection.rank()
        >>> ranking.top(1)
        [('https://www.example.org/', 27.3)]
        """
        from crivello.graph.update import give_ranks, update_ranks

        self._require_writer()
        with self._progress(progress) as shown:
            shown.begin("ranking")
            if by is not None:
                return give_ranks(self, by)
            return update_ranks(self, damping=damping, keep_given=keep_given)

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
        """The best pages for a query: a text in the query language, or operators of ``crivello.search``.

        A query without matches is searched in its better spelling, where there is one, unless ``correct`` is false.

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

    def count(self, query: Query, **settings: Any) -> int:
        """How many pages and documents match a query, exactly.

        >>> collection.count("lang:it")
        37
        """
        return self.searcher().count(query, settings=self._with(settings, "search").search)

    def explain(self, query: Query, url: str, **settings: Any) -> Explanation | None:
        """What the score of one page for a query is made of; None where the page does not match.

        >>> print(collection.explain("lava", "https://www.example.org/lava.html"))
        """
        return self.searcher().explain(query, url, settings=self._with(settings, "search").search)

    def pages(self) -> Pages:
        """What became of each URL: an iterable of rows, and a table.

        >>> [page.url for page in collection.pages() if page.status == 404]
        >>> collection.pages().to_polars()
        """
        return Pages(self.name, self.table)

    def page(self, url: str) -> Row | None:
        """What became of one URL, in any spelling; None where the crawl has nothing of it.

        >>> collection.page("https://www.example.org/").status
        200
        """
        row = self.table.get(url)
        if row is None:
            [canonical] = _core.canonical_urls([url])
            row = self.table.get(canonical) if canonical and canonical != url else None
        return row

    def status(self, *, busiest: int = 10) -> Status | None:
        """How the crawl stands by its last checkpoint, with some of the busiest hosts; None where there was no crawl.

        >>> collection.status().state
        'ended'
        """
        from crivello.crawl.status import read_status

        return read_status(self, busiest=busiest)

    def why(self, url: str) -> Story:
        """The story of a URL: where it was found, when it was tried, what refused it, what became of it.

        >>> print(collection.why("https://www.example.org/private/"))
        """
        from crivello.crawl.why import why

        return why(self, url)

    def serve(self, *, on_ready: Callable[[str], object] | None = None, **settings: Any) -> None:
        """Serves the search page and the HTTP API until Ctrl-C; ``on_ready`` gets the URL, which is printed else.

        >>> collection.serve(port=8000)
        searching small at http://127.0.0.1:8000 (Ctrl-C ends it)
        """
        from crivello.web import serve

        def announce(url: str) -> None:
            print(f"searching {self.name} at {url} (Ctrl-C ends it)", file=sys.stderr, flush=True)

        chosen = self._with(settings, "serve").serve
        serve(self, chosen.host, chosen.port, on_ready=on_ready or announce)

    def __len__(self) -> int:
        """How many URLs something became of."""
        return len(self.pages())

    def __bool__(self) -> bool:
        """True, also while it is empty."""
        return True

    def __contains__(self, url: object) -> bool:
        """Whether something became of a URL, in any spelling."""
        return isinstance(url, str) and self.page(url) is not None

    def __iter__(self) -> Iterator[Row]:
        """What became of each URL."""
        return iter(self.pages())

    def __repr__(self) -> str:
        return f"<Collection {str(self.folder)!r}: {len(self):,} pages, {self.searcher().documents:,} documents indexed>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _with(self, given: Mapping[str, Any], *sections: str) -> Settings:
        """The settings with those that a call gives."""
        return with_keywords(self.settings, sections, given) if given else self.settings

    def _indexer(self, settings: Mapping[str, Any]) -> Indexer:
        from crivello.index.update import Indexer

        self._require_writer()
        return Indexer(self, self._with(settings, "index", "index.codes"))

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

    def _ranks(self) -> tuple[Path, int] | None:
        name = ranks_in_use(self.state("graph"))
        return (self.folder / name, self.length(name)) if name else None


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
    """Whether a folder is empty, or a full disk or a crash cut the making of a collection in it short."""
    ours = {SETTINGS, f"{SETTINGS}.new", f"{Layout.MANIFEST}.new"}
    return folder.is_dir() and all(
        entry.name in ours or (entry.name in Layout.PARTS and not any(entry.iterdir()))
        for entry in folder.iterdir()
    )
