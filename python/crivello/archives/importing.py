"""Imports files into a collection: each goes on where an interruption left it, and none is imported twice.

A checkpoint commits what was stored together with the position in the file, so after a crash at most one
checkpoint's worth is read again; what it had stored is recognised by URL and time. Finished files are lines of
``log/imports.jsonl``.
"""

from __future__ import annotations

import glob
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crivello import _core
from crivello._core import Layout
from crivello._figures import Figures
from crivello.archives.reading import Damage
from crivello.archives.sources import Source, Step, open_source, spooled
from crivello.crawl.crawler import canonical_seeds, plan_of
from crivello.crawl.progress import ProgressLog
from crivello.crawl.report import Report
from crivello.errors import InvalidArgument, StorageError
from crivello.settings import Settings, for_core

if TYPE_CHECKING:
    from crivello.archives.job import Found, Prepared
    from crivello.collection import Collection

    # What a worker read of a file with an identity, if one did.
    _Reader = Callable[[str], tuple[Prepared, Found] | None]

_MOST_NAMED = 100
# What a record may become, in the order in which it is told.
_PAGES = ("pages", "redirects", "other statuses", "revisits")


@dataclass(slots=True, repr=False)
class Imported(Figures):
    """What an import came to."""

    files: int = 0
    before: int = 0
    tally: Counter[str] = field(default_factory=Counter)
    seeds: int = 0
    damage: list[Damage] = field(default_factory=list)
    notes: list[Damage] = field(default_factory=list)
    unresolved: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def pages(self) -> int:
        """The number of responses, documents and texts that were stored."""
        return sum(self.tally[name] for name in _PAGES)

    def _headline(self) -> str:
        damaged = f", {self.tally['damaged']:,} damaged" if self.tally["damaged"] else ""
        return f"{self.pages:,} pages from {self.files:,} files{damaged}, {self.seconds:,.1f} s"

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield "files", f"{self.files:,}"
        if self.before:
            yield "files imported before", f"{self.before:,}"
        for name in sorted(self.tally, key=lambda name: (name not in _PAGES, name)):
            yield name, f"{self.tally[name]:,}"
        if self.seeds:
            yield "seeds", f"{self.seeds:,}"
        yield "seconds", f"{self.seconds:,.1f}"

    def to_dict(self) -> dict[str, Any]:
        """The format of ``crivello import --json``."""
        return {
            "files": self.files,
            "files_imported_before": self.before,
            "pages": self.pages,
            "records": dict(sorted(self.tally.items())),
            "seeds": self.seeds,
            "damage": [{"file": one.file, "offset": one.offset, "reason": one.reason} for one in self.damage],
            "notes": [{"file": one.file, "offset": one.offset, "reason": one.reason} for one in self.notes],
            "unresolved": [{"url": url, "refers_to": of} for url, of in self.unresolved],
            "seconds": round(self.seconds, 3),
        }


def _no_reader(identity: str) -> None:
    del identity


class Importer:
    """One run of an import."""

    def __init__(
        self,
        collection: Collection,
        files: Sequence[str | Path],
        *,
        base: str = "",
        cluster: str = "",
        on_progress: Callable[[str, int, int, Imported], object] | None = None,
    ) -> None:
        if base:
            [base] = canonical_seeds([base])
        self._collection = collection
        self._base = base
        self._cluster = cluster
        _check_names([str(file) for file in files], cluster)
        self._on_progress = on_progress
        self._temporary = ExitStack()
        self._inputs = list(_expanded([str(file) for file in files], self._temporary))
        self._state = collection.state("import")
        self._done = set(_finished(collection))
        self._crawl = collection.state("crawl")
        self._report = Report(self._crawl.get("report"))
        self._progress = ProgressLog(collection)
        self.imported: Imported = Imported()

    def run(self) -> Imported:
        """Imports all files, and returns what became of their records; Ctrl-C ends it with a checkpoint."""
        started = time.monotonic()
        settings = self._collection.settings.crawl
        with self._temporary:
            sources = [
                (name, path, open_source(name, path, settings.max_bytes, self._base))
                for name, path in self._inputs
            ]
            plan = plan_of(
                settings,
                [],
                self._collection.extensions,
                folder=str(self._collection.folder),
                store=for_core(self._collection.settings.store),
                counted=self._crawl.get("report", {}),
            )
            native = _core.Import(plan)
            with self._read(sources) as found:
                for name, path, source in sources:
                    identity = identity_of(path)
                    if identity in self._done:
                        self.imported.before += 1
                    elif isinstance(source, Source):
                        self._import(native, name, source, identity, found)
                    else:
                        self._add_seeds(source)
                    self.imported.unresolved = native.unresolved
                    self.imported.seconds = time.monotonic() - started
        return self.imported

    @contextmanager
    def _read(self, sources: Sequence[tuple[str, Path, Source | list[str]]]) -> Iterator[_Reader]:
        """Who reads the files: the workers of a cluster, those that they can, or nobody before they are imported."""
        if not self._cluster:
            yield _no_reader
            return
        from crivello.archives.job import Prepared, Read, divides, read
        from crivello.cluster.jobs import ray_map

        folder, limit = self._collection.folder, self._collection.settings.crawl.max_bytes
        with (
            tempfile.TemporaryDirectory(
                prefix="crivello-import-", dir=folder, ignore_cleanup_errors=True
            ) as temporary,
            ray_map(self._cluster) as workers,
        ):
            home = Path(temporary).resolve()
            tasks: dict[str, Read] = {}
            for name, path, source in sources:
                identity = identity_of(path)
                is_new = identity not in self._done and identity not in tasks
                if is_new and isinstance(source, Source) and divides(source):
                    target = str(home / str(len(tasks)))
                    tasks[identity] = Read(name, str(path.resolve()), identity, limit, self._base, target)
            with closing(workers.ordered(read, tasks.values())) as results:

                def of(identity: str) -> tuple[Prepared, Found] | None:
                    task = tasks.get(identity)
                    if task is None:
                        return None
                    found = next(results)
                    return (Prepared(Path(task.target), limit), found) if found.is_whole else None

                yield of

    def _import(
        self, native: _core.Import, name: str, source: Source, identity: str, reader: _Reader
    ) -> None:
        finished, known = identity, Counter[str]()
        if read := reader(identity):
            source, found = read
            # A position in what a worker left is none in the file.
            identity = f"{identity} prepared"
            known["damaged"] = found.damaged
            self._note(name, Step(None, 0, 0, found.damage, found.shared_member))
        earlier = Counter(self.imported.tally) + known
        before = Counter(native.tally)
        at = self._state.get("position") if self._state.get("file") == identity else None
        last, step = time.monotonic(), Step(at, 0, 0)
        try:
            for step in source.steps(native, at):
                self._note(name, step)
                self.imported.tally = earlier + (Counter(native.tally) - before)
                if self._on_progress:
                    self._on_progress(name, step.done, step.total, self.imported)
                if time.monotonic() - last >= self._collection.settings.crawl.checkpoint:
                    self._checkpoint(native, {"file": identity, "position": step.position})
                    last = time.monotonic()
        except KeyboardInterrupt:
            self._checkpoint(native, {"file": identity, "position": step.position})
            raise
        self.imported.tally = earlier + (Counter(native.tally) - before)
        self.imported.files += 1
        records = dict(Counter(native.tally) - before + known)
        self._checkpoint(
            native, {}, {"file": finished, "name": name, "time": round(time.time(), 3), **records}
        )
        self._done.add(finished)
        if read:
            read[0].remove()

    def _note(self, name: str, step: Step) -> None:
        left = _MOST_NAMED - len(self.imported.damage)
        self.imported.damage += [Damage(name, offset, reason) for offset, reason in step.damage[:left]]
        if step.shared_member is not None and all(note.file != name for note in self.imported.notes):
            reason = "its compressed member has several records, which an index of offsets cannot name"
            self.imported.notes.append(Damage(name, step.shared_member, reason))

    def _checkpoint(
        self, native: _core.Import, state: dict[str, Any], finished: dict[str, Any] | None = None
    ) -> None:
        files, encoded = native.checkpoint(finished is not None)
        told = msgspec.json.decode(encoded)
        counted = {"seen": self._report.seen, "waiting": self._report.waiting}
        self._report.update(
            {**told["report"], **counted, "gauges": {"requests": 0, "bytes": 0}, "slowest": []}
        )
        self._report.seen = max(self._report.seen, sum(self._report.outcomes.values()))
        files |= self._progress.append(self._report)
        if finished:
            files |= _append(self._collection, msgspec.json.encode(finished) + b"\n")
        self._crawl = {**self._crawl, "report": self._report.to_dict(), "hosts": told["hosts"]}
        self._state = state
        self._collection.commit(files, **{"crawl": self._crawl, "import": state, "table": told["table"]})

    def _add_seeds(self, urls: Sequence[str]) -> None:
        known: list[str] = self._crawl.get("seeds", [])
        canonical = [url for url in _core.canonical_urls(list(urls)) if url]
        new = [url for url in dict.fromkeys(canonical) if url not in set(known)]
        self._crawl = {**self._crawl, "seeds": [*known, *new]}
        self._collection.commit({}, crawl=self._crawl)
        self.imported.seeds += len(new)
        self.imported.files += 1


def _check_names(files: Sequence[str], cluster: str) -> None:
    if cluster and "-" in files:
        raise InvalidArgument(
            "workers of a cluster read files, and not standard input", hint="name files or patterns"
        )


def check(files: Sequence[str], settings: Settings, base: str = "", cluster: str = "") -> None:
    """Raises any error that would keep an import from starting, before a collection is created."""
    _check_names(files, cluster)
    if cluster:
        from crivello.cluster import engine

        engine.require()
        engine.check_reachable(cluster)
    with ExitStack() as nothing:
        for name, path in _expanded([file for file in files if file != "-"], nothing):
            open_source(name, path, settings.crawl.max_bytes, base)


def _expanded(names: Sequence[str], temporary: ExitStack) -> Iterator[tuple[str, Path]]:
    """The files that names and patterns stand for; standard input is copied to a ``temporary`` one."""
    for name in names:
        if name == "-":
            copy = spooled(sys.stdin.buffer)
            temporary.callback(copy.unlink, missing_ok=True)
            yield "standard input", copy
        elif Path(name).exists():
            yield name, Path(name)
        elif found := sorted(glob.glob(name, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
            yield from ((one, Path(one)) for one in found)
        else:
            raise InvalidArgument(f"there is no file {name}", hint="check the name, or the pattern")


def identity_of(path: Path) -> str:
    """What tells a file from another and from what it was before: its path, size and time of change."""
    about = path.stat()
    return f"{path.resolve()} {about.st_size} {about.st_mtime_ns}"


def _finished(collection: Collection) -> Iterator[str]:
    length, path = collection.length(Layout.IMPORTS), collection.folder / Layout.IMPORTS
    if not length:
        return
    try:
        with path.open("rb") as log:
            for line in log.read(length).splitlines():
                yield msgspec.json.decode(line)["file"]
    except OSError as error:
        raise StorageError.of(error, path) from None


def _append(collection: Collection, line: bytes) -> dict[str, int | None]:
    """Appends a line durably to the log of imports; returns the file with the length to commit."""
    path, length = collection.folder / Layout.IMPORTS, collection.length(Layout.IMPORTS)
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as out:
            out.truncate(length)
            out.write(line)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise StorageError.of(error, path) from None
    return {Layout.IMPORTS: length + len(line)}
