"""Rebuilds the parts of a collection that follow from its archive and its journal.

1. A file shorter than its committed length is filled up with zeros, so that the collection can be opened for
   writing; what it had goes to ``lost``.
2. The journal keeps every record that reads. Rows whose record in the archive is lost say so, and lose the
   validators of the page, so that the next visit fetches it again; records of the archive without a row get one.
3. Logs of links, of anchors and of decisions keep the records that read.
4. The table's runs, the index, the graph and the ranks are built again.

Damaged files are moved to a folder of the moment under ``lost``; nothing there is ever read.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from crivello._core import Layout
from crivello.collection import Collection
from crivello.doctor.archive import archive_files, records
from crivello.doctor.examine import examine, lines
from crivello.doctor.finding import Finding, Progress
from crivello.doctor.journal import parse_recovered, rebuild_journal
from crivello.doctor.logs import HEADER, entries
from crivello.errors import CrivelloError, StorageError
from crivello.graph.kept import Kept

LOST = "lost"


@dataclass(frozen=True)
class Repaired:
    """What was found, what was done about it, and what remains."""

    found: list[Finding] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    remaining: list[Finding] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello doctor DIR --repair --json``."""
        return asdict(self)


def repair(folder: Path, on_progress: Progress | None = None) -> Repaired:
    """Repairs the collection in a folder, to which nobody may be writing."""
    found = [finding for finding in examine(Collection(folder), on_progress) if finding.severity != "note"]
    if not found:
        with Collection.write(folder):  # cuts off what was not committed
            return Repaired()
    repairs = _Repairs(folder, found)
    repairs.run()
    remaining = [
        finding for finding in examine(Collection(folder), on_progress) if finding.severity != "note"
    ]
    return Repaired(found, repairs.done, remaining)


class _Repairs:
    def __init__(self, folder: Path, found: list[Finding]) -> None:
        self._folder = folder
        self._found = found
        self._lost = folder / LOST / time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self._filled_up: set[str] = set()
        self.done: list[str] = []

    def run(self) -> None:
        self._fill_up()
        with Collection.write(self._folder) as collection:
            parts = {finding.part for finding in self._found}
            if parts & {"journal", "archive"}:
                self._journal(collection)
            elif "table" in parts:
                self._drop_runs(collection)
            damaged = {finding.file for finding in self._found}
            for name in sorted(damaged & {Layout.LINKS, Layout.ANCHORS}):
                self._rewrite(collection, name, _records)
            for name in sorted(name for name in damaged if name.startswith("log/")):
                self._rewrite(collection, name, _lines)
            if parts & {"journal", "archive", "graph"}:
                self._drop_graph(collection)
            if parts & {"journal", "archive", "index"}:
                self._rebuild_index(collection)

    def _fill_up(self) -> None:
        """Gives files that are too short their committed lengths."""
        for name, length in Collection(self._folder).files.items():
            path = self._folder / name
            if name.endswith("/") or (path.is_file() and path.stat().st_size >= length):
                continue
            self._keep(name)
            self._filled_up.add(name)
            try:
                path.parent.mkdir(exist_ok=True)
                with path.open("ab") as file:
                    file.truncate(length)
                    os.fsync(file.fileno())
            except OSError as error:
                raise StorageError.of(error, path) from None

    def _keep(self, name: str, *, move: bool = False) -> None:
        """Puts a damaged file, or a copy of it, into ``lost``; the first one of a repair stays."""
        path, target = self._folder / name, self._lost / name
        if not path.is_file() or target.exists():
            return
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target) if move else shutil.copyfile(path, target)
        except OSError as error:
            raise StorageError.of(error, path) from None

    def _journal(self, collection: Collection) -> None:
        """Writes the journal again, and everything that has its offsets."""
        self._keep(Layout.ROWS)
        recover = any(finding.part == "journal" for finding in self._found)
        kept, lost, made = rebuild_journal(collection, self._replace, recover=recover)
        self._drop_runs(collection)
        if made:
            parse_recovered(collection, self._replace)
            collection.commit({}, table={})
        self.done.append(
            f"the journal: kept {kept:,} records, of which {lost:,} lost their page; made {made:,} from the archive"
        )
        for _, file, length in list(archive_files(collection)):
            name = str(file.relative_to(collection.folder))
            if name in self._filled_up:
                end = max((stored.end for stored in records(file, length)), default=0)
                collection.commit({name: end or None})
                if end:
                    os.truncate(file, end)

    def _replace(
        self, collection: Collection, name: str, content: Iterator[bytes], **state: dict[str, Any]
    ) -> None:
        """Replaces a file durably, and commits its length."""
        path = collection.folder / name
        fresh = path.with_name(f"{path.name}.new")
        try:
            with fresh.open("wb") as out:
                for part in content:
                    out.write(part)
                out.flush()
                os.fsync(out.fileno())
                length = out.tell()
            fresh.replace(path)
            _sync(path.parent)
        except OSError as error:
            raise StorageError.of(error, path) from None
        collection.commit({name: length}, **state)

    def _rewrite(
        self, collection: Collection, name: str, read: Callable[[Path, int], Iterator[bytes]]
    ) -> None:
        """Writes a log again without what does not read."""
        self._keep(name)
        self._replace(collection, name, read(collection.folder / name, collection.length(name)))
        self.done.append(f"{name}: kept what reads")

    def _drop_runs(self, collection: Collection) -> None:
        """Commits a table and maps without runs: readers and the next writer replay the journal and the log of hosts."""
        runs = [name for name in collection.files if name.endswith(Layout.RUN)]
        for name in runs:
            self._keep(name, move=True)
        collection.commit(dict.fromkeys(runs), table={})
        self.done.append("the table and its maps: are built again from the journal")

    def _drop_graph(self, collection: Collection) -> None:
        """Computes the graph and the ranks again from the logs of rows and links."""
        kept = Kept.of(collection.state("graph"))
        names = Layout.graph_files(kept.base[0]) if kept.base else []
        stale = [name for name in names if name in collection.files]
        damaged = {finding.file for finding in self._found}
        if not kept.is_given or not damaged.isdisjoint(name for _, name in kept.ranks()):
            stale += [name for _, name in kept.ranks() if name in collection.files]
            without = replace(kept, base=None, is_given=False)
        else:
            without = replace(kept, base=None)
        if kept.base is None and not kept.measures and not kept.is_given:
            return
        for name in stale:
            self._keep(name, move=True)
        state = replace(without, measures=()) if not without.is_given else without
        collection.commit(dict.fromkeys(stale), graph=state.state())
        if kept.measures and not without.is_given:
            collection.rank(measure=kept.measures[0], progress=False)
            self.done.append("the graph and the ranks: computed again")

    def _rebuild_index(self, collection: Collection) -> None:
        state = collection.state("index")
        if not state.get("segments") or state.get("given", 0):
            # Documents that were given are in the index alone.
            return
        segments = [Layout.segment(name) for name, _ in collection.segments]
        for name in segments:
            self._keep(name, move=True)
        kept: dict[str, Any] = {name: state[name] for name in ("number", "division") if name in state}
        collection.commit(dict.fromkeys(segments), index=kept)
        try:
            collection.index(rebuild=True, progress=False)
        except CrivelloError as error:
            self.done.append(f"the index: could not be built again: {error}")
        else:
            self.done.append("the index: built again")


def _records(file: Path, length: int) -> Iterator[bytes]:
    """The header and the records of a log that read, as stored."""
    with file.open("rb") as source:
        yield source.read(HEADER)
        for entry in entries(file, length):
            if entry.payload is not None:
                source.seek(entry.offset)
                yield source.read(entry.end - entry.offset)


def _lines(file: Path, length: int) -> Iterator[bytes]:
    """The lines of a log that read."""
    for _, line in lines(file, length):
        try:
            msgspec.json.decode(line, type=dict)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        yield line


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
