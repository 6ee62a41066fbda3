"""A collection: one folder with everything about one crawl.

``Collection(folder)`` reads; ``Collection.write(folder)`` is the one writer. The folder holds
``crivello.toml`` (the settings), ``manifest.json`` (see ``crivello.manifest``), and one folder a part.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from crivello import _core
from crivello import manifest as manifests
from crivello import settings as all_settings
from crivello.errors import CollectionError, StorageError
from crivello.graph import ranks_name
from crivello.index import Segment
from crivello.lock import Lock, is_held
from crivello.manifest import Manifest
from crivello.parse import HTML, media_type, parse
from crivello.search import Query, Results
from crivello.search.searcher import Search
from crivello.settings import Settings
from crivello.store import Archive, CachedPage, Record, Row, Table
from crivello.store import table as tables
from crivello.summary import State, Summary

SETTINGS = "crivello.toml"


class Collection:
    """What a folder holds: pages, their rows, an index and ranks.

    Readers see what was committed last; a reader that stays open looks for a newer commit at each call.
    """

    def __init__(self, folder: str | Path, *, settings: Settings | None = None) -> None:
        self.folder = Path(folder)
        self._manifest = manifests.read(self.folder)
        self._stamp = self._manifest_stamp()
        self._lock: Lock | None = None
        self._table: Table | None = None
        self._search: Search | None = None
        self._changing = threading.RLock()
        self.archive = Archive(self.folder)
        self.settings = settings or all_settings.load(self.folder / SETTINGS)

    @classmethod
    def write(cls, folder: str | Path, *, settings: Settings | None = None, create: bool = False) -> Self:
        """Opens for writing, after cutting back what no commit names; ``create`` makes a new one where the
        folder is missing or empty."""
        folder = Path(folder)
        if create and not (folder / manifests.NAME).exists():
            _make(folder, settings or Settings())
        manifests.read(folder)
        lock = Lock(folder)
        try:
            collection = cls(folder, settings=settings)
            manifests.cut_back(folder, collection._manifest)
        except OSError as error:
            lock.release()
            raise StorageError.of(error, folder) from None
        except BaseException:
            lock.release()
            raise
        collection._lock = lock
        return collection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the folder; a writer lets the next one in."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def name(self) -> str:
        """What to call the collection: the name of its folder."""
        return self.folder.resolve().name

    @property
    def files(self) -> Mapping[str, int]:
        """The committed files and their lengths."""
        return self._manifest.files

    def length(self, name: str) -> int:
        """The committed length of a file; 0 where there is none."""
        return self._manifest.files.get(name, 0)

    def state(self, part: str) -> dict[str, Any]:
        """What a part asked the manifest to remember."""
        return self._manifest.state.get(part, {})

    def commit(self, files: Mapping[str, int | None], **state: dict[str, Any]) -> None:
        """Commits files that are durable already with their lengths (None: remove it) and parts' states."""
        if self._lock is None:
            raise CollectionError(f"{self.folder} is open for reading only")
        with self._changing:
            manifest = self._manifest.with_changes(files, state)
            manifests.write(self.folder, manifest)
            self._manifest = manifest
            self._stamp = self._manifest_stamp()
            self._table = None
            for name, length in files.items():
                if length is None:
                    (self.folder / name).unlink(missing_ok=True)

    def refresh(self) -> bool:
        """Looks whether the writer committed something new; tells whether it did."""
        with self._changing:
            stamp = self._manifest_stamp()
            if stamp == self._stamp:
                return False
            self._manifest, self._stamp = manifests.read(self.folder), stamp
            self._table = None
            return True

    def _manifest_stamp(self) -> tuple[int, int]:
        status = (self.folder / manifests.NAME).stat()
        return status.st_ino, status.st_mtime_ns

    @property
    def table(self) -> Table:
        """The rows that were committed."""
        with self._changing:
            if self._table is None:
                self._table = Table(self.folder, self.length(tables.NAME))
            return self._table

    def pages(self) -> Iterator[Row]:
        """What became of each URL."""
        return iter(self.table) if self.has_pages else iter(())

    def page(self, url: str) -> Row | None:
        """What became of one URL."""
        return self.table.get(url) if self.has_pages else None

    @property
    def has_pages(self) -> bool:
        """Whether anything was crawled."""
        return self.length(tables.NAME) > 0

    def record(self, row: Row) -> Record:
        """A page as the server sent it."""
        return self.archive.read(row.file, row.offset, row.length)

    def cached(self, url: str) -> CachedPage | None:
        """The stored copy of a page; None where there is none, or where the page asked not to be indexed."""
        self.refresh()
        [canonical] = _core.canonical_urls([url])
        row = self.page(canonical or url)
        if row is None or not row.length or row.status != 200 or row.noindex:
            return None
        limit = self.settings.crawl.max_bytes
        body = self.record(row).decoded(limit)
        parsed = parse(row.url, {"content-type": row.content_type}.get, body, limit)
        return CachedPage(
            row.url,
            datetime.fromtimestamp(row.fetched_at, UTC),
            media_type(row.content_type) or "text/html",
            parsed.charset if parsed else None,
            body,
            row.title,
        )

    def have_copies(self, urls: Sequence[str]) -> list[bool]:
        """Whether each page, named by the URL of a search's hit, came from the crawl and so has a copy."""
        return self.table.contains(urls) if self.has_pages else [False] * len(urls)

    def text(self, row: Row) -> str:
        """The text of a page; empty where it has none."""
        if row.text_length:
            return self.archive.read(row.text_file, row.text_offset, row.text_length).body.decode()
        record = self.record(row)
        parsed = parse(record.url, record.headers.get, record.body, self.settings.crawl.max_bytes)
        return parsed.text if parsed else ""

    def text_and_headings(self, row: Row) -> tuple[str, list[str]]:
        """The text of a page and its headings, for the index."""
        if media_type(row.content_type) not in HTML:
            return self.text(row), []
        record = self.record(row)
        parsed = parse(record.url, record.headers.get, record.body, self.settings.crawl.max_bytes)
        return (parsed.text, parsed.headings) if parsed else ("", [])

    @property
    def segments(self) -> list[Segment]:
        """The committed segments of the index, from the oldest to the newest."""
        return [(name, self.length(f"index/{name}")) for name in self.state("index").get("segments", [])]

    def search(
        self,
        query: Query,
        *,
        top: int = 10,
        offset: int = 0,
        facets: bool = False,
        explain: bool = False,
    ) -> Results:
        """The best pages for a query: a text in the language of docs/search.md, or operators of ``crivello.search``."""
        return self.searcher().search(query, top=top, offset=offset, facets=facets, explain=explain)

    def summary(self) -> Summary:
        """How the collection stands, in a few numbers."""
        searcher = self.searcher()
        updated = datetime.fromtimestamp(self._stamp[1] / 1e9, UTC)
        state: State = "crawling" if is_held(self.folder) else "ready" if searcher.documents else "empty"
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
                self._search = Search(self.folder / "index", self.segments, ranks, self.settings.search)
            return self._search

    def _ranks(self) -> tuple[Path, int] | None:
        number = self.state("graph").get("number")
        return (self.folder / ranks_name(number), self.length(ranks_name(number))) if number else None


def _make(folder: Path, settings: Settings) -> None:
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CollectionError(
                f"{folder} exists and is not a collection",
                hint="name an empty folder, a new one, or one that `crivello crawl` made",
            )
        for part in manifests.PARTS:
            (folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    manifests.write_whole(folder / SETTINGS, all_settings.to_toml(settings).encode())
    manifests.write(folder, Manifest())
