"""Finding the duplicates of many corpora as a job over many workers.

Rounds of independent tasks, each a pure function over files:

1. with ``boilerplate="drop"`` a worker hashes the lines of one input, and the driver counts those of all;
2. a worker reads one input, and keeps what the engine compares of it: digests, n-grams and keys, or SimHashes;
3. for the methods that compare documents with a key in common (``minhash`` and ``fingerprint``), the keys are divided into ranges, and a worker
   finds and verifies the pairs of one.

The driver joins what the workers wrote in the order of the inputs (:mod:`crivello.dedup.parts`), forms the clusters, and writes the
outputs. The joined files are, byte for byte, those that one process would have written, so that the result is the same
whatever the number of workers. Not divided are an input, the comparison of SimHashes, clusters, and outputs.

A task may run twice, or be killed: it works in a folder of its own, which gets its name when it is complete. Tasks that are done are
not repeated when the job is run again. Whatever runs them is given as ``map``; the workers must see the inputs and the work folder
under the same paths.
"""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from crivello import _core
from crivello.archives.output import new_folder
from crivello.dedup import parts
from crivello.dedup.boilerplate import LINES_MEMORY, Boilerplate, Lines
from crivello.dedup.inputs import Input
from crivello.dedup.ledger import Ledger
from crivello.dedup.options import Handling, Method, Options
from crivello.dedup.sketches import ENGINE, Sketches, State
from crivello.dedup.source import Source
from crivello.errors import InvalidArgument

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_BY_KEYS = {Method.MINHASH, Method.FINGERPRINT}


@dataclass(frozen=True, slots=True)
class Read:
    """A task about one input; ``target`` is the folder to make."""

    input: Input
    identity: list[Any]
    is_reference: bool
    options: Options
    boilerplate: str
    target: str


@dataclass(frozen=True, slots=True)
class Compare:
    """A task: the pairs of one range of keys, as the file ``target``."""

    engine: str
    number: int
    ranges: int
    options: Options
    target: str


def hash_lines(task: Read) -> None:
    """Hashes the lines of an input."""
    if Path(task.target).exists():
        return
    with new_folder(Path(task.target)) as folder, Lines(folder) as lines:
        for batch in _opened(task).batches():
            lines.add(batch.ids, batch.texts)
        lines.commit(1, None)


def sketch(task: Read) -> None:
    """Reads an input, and keeps what is compared of it."""
    if Path(task.target).exists():
        return
    boilerplate = Boilerplate.load(Path(task.boilerplate)) if task.boilerplate else Boilerplate.none()
    with new_folder(Path(task.target)) as folder, closing(Sketches(folder, task.options)) as sketches:
        source = _opened(task)
        for batch in source.batches():
            sketches.add(batch, boilerplate, is_reference=task.is_reference)
        sketches.note_damage(source)
        sketches.commit(1, None)


def compare(task: Compare) -> None:
    """Finds the pairs of documents that share a key of a range."""
    if Path(task.target).exists():
        return
    with new_folder(Path(task.target)) as folder:
        parts.restrict(Path(task.engine), folder, task.number, task.ranges)
        options = task.options
        _core.Discovery(folder, options.native(), options.budget, options.threads).find()
        parts.take_pairs(folder, folder / "pairs")
        for file in list(folder.iterdir()):
            if file.name != "pairs":
                file.unlink()


def find_duplicates(
    folder: Path,
    options: Options,
    references: Sequence[Source],
    sources: Sequence[Source],
    *,
    map: Map = builtins.map,
    workers: int,
    told: Callable[[str, int], object],
) -> None:
    """Does in a work folder what can be divided; the run there goes on with what is left.

    ``told`` is called with the name of each round and the number of its tasks before it begins.
    """
    home = folder.resolve()
    engine = home / ENGINE
    every = [*references, *sources]
    # One thread for each task: it has one processor.
    each = replace(options, threads=options.threads or 1)
    state = parts.State.read(engine)
    if state is None or not _is_read(state, len(every)):
        found = ""
        if options.boilerplate is Handling.DROP:
            found = str(_count_lines(home, each, every, len(references), map, told))
        tasks = _reads(every, len(references), each, found, home / "sketches")
        told("reading", len(tasks))
        list(map(sketch, tasks))
        _join([Path(task.target) for task in tasks], folder, len(every))
        shutil.rmtree(home / "sketches")
        state = parts.State.read(engine)
    if options.method not in _BY_KEYS or state is None or state.is_compared:
        return
    compares = [
        Compare(str(engine), number, workers, each, str(home / "compared" / f"{number}-of-{workers}"))
        for number in range(workers)
    ]
    told("comparing", len(compares))
    list(map(compare, compares))
    parts.add_pairs(engine, [Path(task.target, "pairs") for task in compares])
    shutil.rmtree(home / "compared")


def _count_lines(
    home: Path,
    options: Options,
    every: Sequence[Source],
    references: int,
    map: Map,
    told: Callable[[str, int], object],
) -> Path:
    """The boilerplate, as a file."""
    folder = home / "boilerplate"
    found = folder / "found"
    if not found.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        tasks = _reads(every, references, options, "", home / "lines")
        told("boilerplate", len(tasks))
        list(map(hash_lines, tasks))
        with Lines(folder) as lines:
            for task in tasks:
                lines.append(Path(task.target))
            lines.commit(len(every), None)
            lines.count(options.budget or LINES_MEMORY).save(found)
            lines.remove()
        shutil.rmtree(home / "lines")
    return found


def _reads(
    every: Sequence[Source], references: int, options: Options, boilerplate: str, targets: Path
) -> list[Read]:
    tasks = []
    for number, source in enumerate(every):
        assert source.input is not None
        there = replace(source.input, path=source.path.resolve())
        target = str(targets / str(number))
        tasks.append(Read(there, source.identity(), number < references, options, boilerplate, target))
    return tasks


def _is_read(state: parts.State, sources: int) -> bool:
    return _position(state).source == sources


def _position(state: parts.State) -> State:
    position = state.fields["position"]
    return msgspec.msgpack.decode(bytes(position), type=State) if position else State()


def _join(folders: Sequence[Path], folder: Path, sources: int) -> None:
    """One run of those of the inputs, which has read all of them."""
    shutil.rmtree(folder / ENGINE, ignore_errors=True)
    (folder / ENGINE).mkdir()
    joined = State(source=sources)
    with closing(Ledger(folder, None)) as ledger:
        for part in folders:
            state = _position(parts.State.committed(part / ENGINE))
            ledger.append(part, state.ledger or ())
            joined.documents += state.documents
            joined.references += state.references
            for name, places in state.damage.items():
                joined.damage.setdefault(name, {}).update(places)
        joined.ledger = ledger.checkpoint()
    parts.join([part / ENGINE for part in folders], folder / ENGINE, msgspec.msgpack.encode(joined))


def _opened(task: Read) -> Source:
    """The input, which must be the one that the driver saw."""
    source = task.input.open()
    if source.identity() != task.identity:
        raise InvalidArgument(
            f"{task.input.path} is another file for a worker of the cluster",
            hint="all machines must see the same inputs under the same paths",
        )
    return source
