"""Private: the pages of several agents in one collection.

The records of all rows since the last time go through the import (:mod:`crivello.archives.importing`), which stores a
page with the same URL and time once, whatever is repeated after a crash. How far each agent was read is committed with
the pages. What left no record (refusals by robots.txt, errors) stays with the agents.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from crivello import _core
from crivello._core import ArchiveReader, Layout
from crivello.archives.importing import Importer
from crivello.cluster import roster as rosters
from crivello.collection import Collection
from crivello.crawl.crawler import plan_of
from crivello.errors import CollectionError, StorageError
from crivello.settings import for_core

_SPOOL = 64 << 20
_STEP = 0.3

Progress = Callable[[float, int], object]


def is_complete(own: Collection, agents: Mapping[int, Collection]) -> bool:
    """Whether all that the agents have committed was gathered."""
    read = _read(own)
    return all(
        read.get(str(number), 0) >= agent.length(Layout.ROWS)
        for number, agent in agents.items()
        if len(agent.table)
    )


def _read(own: Collection) -> dict[str, int]:
    gathered: dict[str, int] = own.state("import").get("gathered", {})
    return gathered


def gather(own: Collection, agents: Mapping[int, Collection], *, on_progress: Progress | None = None) -> int:
    """Imports what agents have fetched since the last time; returns the number of records.

    Ctrl-C ends it with a checkpoint.
    """
    return _Gatherer(own, agents, on_progress).gather()


class _Gatherer(Importer):
    """One run, over all agents."""

    def __init__(
        self, own: Collection, agents: Mapping[int, Collection], on_progress: Progress | None
    ) -> None:
        super().__init__(own, [])
        self._agents = agents
        self._tell = on_progress
        self._places = _read(own)
        self._total = max(1, sum(agent.length(Layout.ROWS) for agent in agents.values()))
        self._records = 0
        self._last = time.monotonic()

    def gather(self) -> int:
        collection = self._collection
        native = _core.Import(
            plan_of(
                collection.settings.crawl,
                [],
                collection.extensions,
                folder=str(collection.folder),
                store=for_core(collection.settings.store),
            )
        )
        with tempfile.TemporaryDirectory(prefix="crivello-gather-", dir=collection.folder) as temporary:
            try:
                for number, agent in self._agents.items():
                    self._gather_agent(native, number, agent, Path(temporary, "some.warc.gz"))
            except KeyboardInterrupt:
                self._commit(native, is_last=True)
                raise
        self._commit(native, is_last=True)
        return self._records

    def _gather_agent(self, native: _core.Import, number: int, agent: Collection, spool: Path) -> None:
        start = self._places.get(str(number), 0)
        size, end = 0, start
        out = spool.open("wb")
        try:
            for rows, end in agent.table.batches(start):
                for record in agent.captures([row for row in rows if row.length], of_visits=True):
                    out.write(record.member)
                    size += len(record.member)
                    self._records += 1
                if size >= _SPOOL:
                    out.close()
                    self._import_spool(native, spool, number, end)
                    out, size = spool.open("wb"), 0
        except OSError as error:
            raise StorageError.of(error, spool) from None
        finally:
            out.close()
        self._import_spool(native, spool, number, end)

    def _import_spool(self, native: _core.Import, spool: Path, number: int, end: int) -> None:
        if spool.stat().st_size:
            reader = ArchiveReader(
                spool, start=0, end=None, limit=self._collection.settings.crawl.max_bytes, position=(0, 0)
            )
            ended = False
            while not ended:
                damage, ended = native.read(reader, _STEP)
                if damage:
                    raise CollectionError(
                        f"a record of agent {number} is damaged: {damage[0][1]}",
                        hint="`crivello doctor` finds out more about its collection",
                    )
        self._places = {**self._places, str(number): end}
        if self._tell:
            self._tell(min(1.0, sum(self._places.values()) / self._total), self._records)
        if time.monotonic() - self._last >= self._collection.settings.crawl.checkpoint:
            self._commit(native, is_last=False)

    def _commit(self, native: _core.Import, *, is_last: bool) -> None:
        if is_last and self._places == _read(self._collection):
            return
        self._checkpoint(native, {"gathered": self._places})
        self._last = time.monotonic()


def merge(folder: str | Path, out: str | Path, *, on_progress: Progress | None = None) -> tuple[int, int]:
    """Makes one ordinary collection of a cluster's, or brings it up to date; returns the numbers of records read and of
    pages it has."""
    from crivello.cluster.view import ClusterCollection

    roster = rosters.read(folder)
    source = Collection(folder)
    assert isinstance(source, ClusterCollection)
    with Collection.write(out, settings=source.settings, create=True) as target:
        if isinstance(target, ClusterCollection):
            raise CollectionError(f"{out} is the collection of a cluster itself", hint="name a new folder")
        state = target.state("crawl")
        if not state.get("seeds"):
            target.commit({}, crawl={**state, "seeds": list(roster.seeds)})
        records = gather(target, source.agents, on_progress=on_progress)
        return records, len(target)


def split(folder: str | Path, out: str | Path, count: int) -> int:
    """Makes a cluster's collection of an ordinary one: its first agent has a copy of it, the others have nothing yet.
    Returns the number of pages."""
    from crivello.cluster.view import ClusterCollection

    if Path(out).exists():
        raise CollectionError(f"{out} exists", hint="name a new folder")
    with Collection.write(folder) as source:
        if isinstance(source, ClusterCollection):
            raise CollectionError(
                f"{folder} is the collection of a cluster itself",
                hint="`crivello cluster scale` changes its agents",
            )
        roster = rosters.new(source.state("crawl").get("seeds", [])).of(count, [rosters.LOOPBACK])
        first = rosters.folder_of(out, 0)
        with Collection.write(out, settings=source.settings, create=True):
            first.parent.mkdir(parents=True)
            try:
                for name in ("", *source.files):
                    _copy(source.folder, first, name)
                _copy(source.folder, first, Layout.MANIFEST)
                _copy(source.folder, first, Layout.SETTINGS)
            except OSError as error:
                raise StorageError.of(error, first) from None
            rosters.write(out, roster.begun(0))
        return len(source)


def _copy(source: Path, target: Path, name: str) -> None:
    if not name:
        target.mkdir()
    elif (source / name).is_file():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
