"""A collection: one folder with everything about one crawl.

``Collection(folder)`` reads; ``Collection.write(folder)`` is the one writer. The folder holds
``crivello.toml`` (the settings), ``manifest.json`` (see ``crivello.manifest``), and one folder a part.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from crivello import manifest as manifests
from crivello import settings as all_settings
from crivello.errors import CollectionError, StorageError
from crivello.lock import Lock
from crivello.manifest import Manifest
from crivello.search import Results
from crivello.search.searcher import Search
from crivello.settings import Settings
from crivello.store import Archive, Row, Table
from crivello.store import table as tables
from crivello.summary import Summary

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
        return iter(self.table) if self.length(tables.NAME) else iter(())

    def page(self, url: str) -> Row | None:
        """What became of one URL."""
        return self.table.get(url) if self.length(tables.NAME) else None

    def search(self, query: str, *, top: int = 10, offset: int = 0) -> Results:
        """The best pages for a query: words, ``AND``, ``OR``, ``NOT``, ``+``, ``-``, "phrases", parentheses."""
        return self._searcher().search(query, top=top, offset=offset)

    def summary(self) -> Summary:
        """How the collection stands, in a few numbers."""
        self.refresh()
        searcher = self._searcher()
        crawl = self.state("crawl")
        updated = datetime.fromtimestamp(self._stamp[1] / 1e9, UTC)
        state = "crawling" if crawl.get("running") else "ready" if searcher.documents else "empty"
        return Summary(searcher.documents, len(crawl.get("hosts", {})), searcher.terms, updated, state)

    def _searcher(self) -> Search:
        with self._changing:
            self.refresh()
            if self._search is None or self._search.is_older_than(self._manifest):
                self._search = Search(self.folder, self._manifest, self.settings.search)
            return self._search


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
