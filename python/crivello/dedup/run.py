"""From inputs to outputs: the documents go to the native engine, which finds the duplicates; the rest is reading and writing.

Memory is that of the engine, a batch, and 5 bytes for each document while the outputs are written. What has been read is
committed every few seconds in a folder of work, so that the same command goes on after a crash.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from crivello import _core
from crivello.archives.output import is_stream
from crivello.cluster.jobs import LOCAL, ray_map
from crivello.dedup.arguments import path_name, path_names, real, text
from crivello.dedup.boilerplate import LINES_MEMORY, Boilerplate, Lines
from crivello.dedup.clusters import Clusters
from crivello.dedup.examples import examples_of
from crivello.dedup.inputs import is_read_once, open_inputs
from crivello.dedup.job import find_duplicates
from crivello.dedup.options import Handling, Keep, Method, Options, Unit
from crivello.dedup.outputs import STANDARD_OUTPUT, Copy, check_outputs, write_clusters, write_pairs
from crivello.dedup.pages import check_name, write_report
from crivello.dedup.passages import Passages
from crivello.dedup.report import Report
from crivello.dedup.sketches import Sketches
from crivello.dedup.source import Batch, Source, Text
from crivello.dedup.units import InUnits, Whole, split
from crivello.dedup.work import Work, place, storage_errors
from crivello.errors import InvalidArgument

Progress = Callable[[str, int, int], object]
Paths = str | PathLike[str] | Iterable[str | PathLike[str]]
CHECKPOINT = 10.0


def run(
    inputs: Paths,
    *,
    out: str | PathLike[str] | None = None,
    pairs: str | PathLike[str] | None = None,
    clusters: str | PathLike[str] | None = None,
    report: str | PathLike[str] | None = None,
    against: Paths | None = None,
    field: str = "text",
    id: str = "id",
    format: str = "auto",
    work: str | PathLike[str] | None = None,
    cluster: str | None = None,
    checkpoint: float = CHECKPOINT,
    progress: Progress | None = None,
    **options: Any,
) -> Report:
    """Finds the duplicates of corpora, and writes what is asked for; ``options`` are the fields of ``Options``.

    ``out`` is the corpus without duplicates, ``pairs`` and ``clusters`` are JSON lines, ``report`` is a Markdown or HTML file,
    or a folder. Documents that are in the corpora ``against`` are removed, too. State is kept in the folder ``work`` (default:
    beside the outputs), and the same call goes on there after a crash; it is removed at the end.

    ``cluster`` lets the workers of the Ray cluster at this address read the inputs, one task each, and compare documents; ``local``
    starts one on this machine. They must see the inputs and the folder of work under the same paths. The result is the same.

    ``progress`` is called as ``progress(stage, done, total)`` with the name of a stage and how much of it is done; ``total`` is 0 while
    it is not known. During ``comparing`` it is called from another thread. What it raises ends the run: during ``comparing`` after
    that stage, at once in the others.

        >>> run("pages.jsonl", method="minhash", threshold=0.8, out="clean.jsonl")
        <Report: 5,000 documents, 4,312 kept, 688 dropped in 431 clusters, 1.2 s>
    """
    started = time.monotonic()
    names, others = path_names("inputs", inputs), path_names("against", against)
    if not names:
        raise InvalidArgument("there is no input", hint="name files, folders or - for standard input")
    chosen = Options.named(options)
    targets = {
        name: path_name(name, path) for name, path in (("out", out), ("pairs", pairs), ("clusters", clusters))
    }
    report_name, work_name = path_name("report", report), path_name("work", work)
    address = "" if cluster is None else text("cluster", cluster)
    for name, value in (("field", field), ("id", id), ("format", format)):
        text(name, value)
    checkpoint = real("checkpoint", checkpoint, 0)
    if progress is not None and not callable(progress):
        raise InvalidArgument(
            f"progress must be a function, and not {progress!r}",
            hint="it is called with (stage, done, total)",
        )
    files = {what: name for what, name in targets.items() if name not in ("", STANDARD_OUTPUT)}
    beside = next((name for name in files.values() if not is_stream(Path(name))), "")
    if address:
        _check_cluster(address, [*names, *others], has_folder=bool(work_name or beside))
    if list(targets.values()).count(STANDARD_OUTPUT) > 1:
        raise InvalidArgument("only one of out, pairs and clusters goes to standard output")
    with (
        storage_errors(Path("the folder for temporary files")),
        tempfile.TemporaryDirectory(prefix="crivello-dedup-") as spool,
    ):

        def opened(some: Sequence[str]) -> list[Source]:
            return open_inputs(
                some, format=format, field=field, id=id, limit=chosen.largest_document, spool=Path(spool)
            )

        references, sources = opened(others), opened(names)
        beside_out = {what: name for what, name in (("report", report_name), ("work", work_name)) if name}
        check_outputs({**files, **beside_out}, [*references, *sources])
        removes_parts = chosen.unit is not Unit.DOCUMENT or chosen.method is Method.SUBSTRING
        copy = Copy(targets["out"], sources, references, rewrites=removes_parts) if targets["out"] else None
        if report_name:
            check_name(report_name)
        if chosen.method is Method.SUBSTRING:
            if address:
                raise InvalidArgument(
                    "the method substring takes one pass, in the order of the corpus, and no cluster",
                    hint="leave the cluster out, or take another method",
                )
            if targets["pairs"] or targets["clusters"]:
                raise InvalidArgument("the method substring has no pairs and no clusters", hint="give --out")
            return _remove_passages(chosen, references, sources, copy, report_name, progress)
        identity = [source.identity() for source in [*references, *sources]]
        told = [
            chosen.native(),
            str(chosen.unit),
            str(chosen.boilerplate),
            field,
            id,
            format,
            len(references),
            identity,
        ]
        # The copy of a stream is another file in every run.
        is_resumable = all(Path(spool) not in source.path.parents for source in [*references, *sources])
        folder = place(work_name, beside if is_resumable else "", told, Path(spool))
        rooms = [Path(os.path.realpath(name)).parent for what, name in files.items() if what != "out"]
        state = Work(
            folder,
            identity,
            [os.path.realpath(targets["out"]), str(chosen.keep)],
            [*rooms, *(copy.rooms if copy else ())],
        )
        if copy is not None and not state.has_begun:
            copy.check_is_empty()
        with ExitStack() as ray:
            # Before there is a folder, which stays if there is no cluster.
            stage = _Stage(progress)
            workers = ray.enter_context(ray_map(address, on_done=stage.show)) if address else None
            with state.opened():
                if workers is not None:
                    find_duplicates(
                        folder,
                        chosen,
                        references,
                        sources,
                        map=workers,
                        workers=workers.workers,
                        told=stage.begin,
                    )
                    ray.close()
                return _Run(chosen, references, sources, state, checkpoint, progress, started).finish(
                    copy, targets["pairs"], targets["clusters"], report_name
                )


def _check_cluster(address: str, inputs: Sequence[str], *, has_folder: bool) -> None:
    """Raises an error if the workers of a cluster could not see what they are to read and write."""
    if any(map(is_read_once, inputs)):
        raise InvalidArgument(
            "workers of a cluster read files, and neither standard input nor pipes",
            hint="name files, folders or patterns",
        )
    if not has_folder and address != LOCAL:
        raise InvalidArgument(
            "workers of a cluster need a folder to write to",
            hint="name an output, or a work folder, that all machines see under the same path",
        )


class _Stage:
    """Tells the progress of a round of tasks."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._name, self._tasks = progress, "", 0

    def begin(self, name: str, tasks: int) -> None:
        self._name, self._tasks = name, tasks
        self.show(0)

    def show(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._name, done, self._tasks)


def _remove_passages(
    options: Options,
    references: list[Source],
    sources: list[Source],
    copy: Copy | None,
    report: str,
    progress: Progress | None,
) -> Report:
    """The method ``substring``: one pass, and nothing to go on with."""
    started = time.monotonic()
    made = Report(str(options.method), str(options.unit))
    passages = Passages(options.shingle[1], options.most_memory, made)
    for source in references:
        for batch in source.batches():
            passages.remember(batch.texts)
    if copy is not None:
        copy.write(passages, lambda done: progress and progress("writing", done, len(sources)))
    else:
        for source in sources:
            for batch in source.batches():
                passages.left(batch.texts)
    for name, places in {source.name: source.damage for source in [*references, *sources]}.items():
        made.add_damage(name, places)
    made.seconds = time.monotonic() - started
    if report:
        write_report(made, report)
    return made


class _Run:
    """One run, or the rest of one."""

    def __init__(
        self,
        options: Options,
        references: list[Source],
        sources: list[Source],
        work: Work,
        checkpoint: float,
        progress: Progress | None,
        started: float,
    ) -> None:
        self._options, self._references, self._sources = options, references, sources
        self._unit = Unit(options.unit)
        self._checkpoint = checkpoint
        self._progress: Progress = progress or (lambda *_: None)
        self._started = started
        self._work = work
        self._sketches = Sketches(work.folder, options)
        self._engine, self._ledger = self._sketches.engine, self._sketches.ledger
        self._boilerplate = Boilerplate.none()

    def finish(self, copy: Copy | None, pairs: str, clusters: str, report: str) -> Report:
        """Reads what is left to read, finds the duplicates, and writes the outputs."""
        try:
            if self._options.boilerplate is Handling.DROP:
                self._boilerplate = self._read_boilerplate()
            self._read()
            self._find()
            return self._write(copy, pairs, clusters, report)
        finally:
            self._sketches.close()

    def _read_boilerplate(self) -> Boilerplate:
        """What many documents of a site share, from a pass of its own."""
        folder = self._work.folder / "boilerplate"
        found = folder / "found"
        if found.exists():
            return Boilerplate.load(found)
        folder.mkdir(exist_ok=True)
        with Lines(folder) as lines:

            def add(batch: Batch, _: int) -> None:
                lines.add(batch.ids, batch.texts)

            self._scan("boilerplate", *lines.position, add, lines.commit)
            made = lines.count(self._options.budget or LINES_MEMORY)
            made.save(found)
            lines.remove()
        return made

    def _read(self) -> None:
        sketches = self._sketches

        every = [*self._references, *self._sources]

        def add(batch: Batch, number: int) -> None:
            sketches.add(batch, self._boilerplate, is_reference=number < len(self._references))

        def commit(number: int, position: Any) -> None:
            for source in every:
                sketches.note_damage(source)
            sketches.commit(number, position)

        self._scan("reading", sketches.state.source, sketches.state.position, add, commit)

    def _scan(
        self,
        stage: str,
        first: int,
        position: Any,
        add: Callable[[Batch, int], None],
        commit: Callable[[int, Any], None],
    ) -> None:
        """A pass over all corpora from a position on, with a commit every few seconds and at the end."""
        every = [*self._references, *self._sources]
        sizes = [source.size for source in every]
        total = sum(sizes)
        for number in range(first, len(every)):
            before, last = sum(sizes[:number]), time.monotonic()
            for batch in every[number].batches(position if number == first else None):
                add(batch, number)
                self._progress(stage, before + min(batch.done, sizes[number]), total)
                if time.monotonic() - last >= self._checkpoint:
                    commit(number, batch.position)
                    last = time.monotonic()
        commit(len(every), None)

    def _find(self) -> None:
        native, ended = _core.Progress(), threading.Event()
        failures: list[BaseException] = []

        def show() -> None:
            try:
                self._progress("comparing", *native.done)
                while not ended.wait(0.2):
                    self._progress("comparing", *native.done)
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=show, name="progress", daemon=True)
        thread.start()
        try:
            self._engine.find(native)
        finally:
            ended.set()
            thread.join()
        if failures:
            raise failures[0]

    def _write(self, copy: Copy | None, pairs: str, clusters: str, report: str) -> Report:
        leaders, lengths = np.asarray(self._engine.leaders()), self._ledger.lengths()
        references = self._sketches.state.references
        found = Clusters.kept_by(Keep(self._options.keep), leaders, lengths, references)
        made = self._report(found, lengths[references:])
        made.pairs, made.similarities = write_pairs(pairs, self._engine, self._ledger, self._work.token)
        if clusters:
            write_clusters(clusters, found, self._ledger, self._work.token)
        if copy is not None:
            total = len(self._sources)
            stays = found.stays
            verdicts = Whole(stays) if self._unit is Unit.DOCUMENT else InUnits(stays, self._unit)
            copy.write(verdicts, lambda done: self._progress("writing", done, total), self._work)
        if report:
            made.examples = examples_of(self._engine, self._ledger, self._texts)
            made.seconds = time.monotonic() - self._started
            write_report(made, report)
        made.seconds = time.monotonic() - self._started
        return made

    def _report(self, found: Clusters, lengths: Any) -> Report:
        stays, sizes = found.stays, found.sizes()
        made = Report(str(self._options.method), str(self._unit), documents=self._sketches.state.documents)
        made.clusters, made.largest = len(sizes), int(sizes[0]) if len(sizes) else 1 if len(stays) else 0
        for name, places in self._sketches.state.damage.items():
            made.add_damage(name, places)
        counted = np.unique(sizes, return_counts=True)
        made.sizes = dict(zip(*(column.tolist() for column in counted), strict=True))
        made.against = int((found.leaders[found.references :] < found.references).sum())
        made.characters, made.characters_kept = int(lengths.sum()), int(lengths[stays].sum())
        if self._unit is Unit.DOCUMENT:
            made.kept = int(stays.sum())
            return made
        made.units, made.units_kept = len(stays), int(stays.sum())
        units = self._ledger.units().astype(np.int64)
        ends = np.cumsum(units)
        kept_before = np.concatenate(([0], np.cumsum(stays)))
        has_kept = kept_before[ends] > kept_before[ends - units]
        made.kept = int((has_kept | (units == 0)).sum())
        return made

    def _texts(self, numbers: set[int]) -> dict[int, Text]:
        """The texts with these numbers, from another pass over the corpora."""
        found: dict[int, Text] = {}
        number = 0
        for source in [*self._references, *self._sources]:
            for batch in source.batches():
                texts: Sequence[Text] = batch.texts
                if self._unit is not Unit.DOCUMENT:
                    texts = [unit.strip() for text in texts for unit in split(text, self._unit)]
                for wanted in numbers & set(range(number, number + len(texts))):
                    found[wanted] = texts[wanted - number]
                number += len(texts)
                if len(found) == len(numbers):
                    return found
        return found
