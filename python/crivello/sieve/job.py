"""The offline sieve as a job over many workers: which URLs of many files are new, each once, in first-seen order.

Three rounds of independent tasks, pure functions over files: *partition* a file by ranges of signatures, *merge* a range
(sort it, and drop what was seen before), *emit* the new URLs of a file. Whatever runs them is given as ``map``: the
builtin one, that of a process pool, or one that sends tasks to other machines, which must see the same folder.

    >>> with ProcessPoolExecutor() as pool:
    ...     found = sieve_files(["a.txt.gz", "b.txt"], "seen", map=pool.map)
    >>> found.outputs          # one file for each input; in this order the new URLs are in first-seen order

Signatures are spread evenly, so that the ranges of one job are equally large: with n URLs in r ranges a merge has n / r
of them, 16 bytes each on disk and about 60 in memory. All URLs are read twice, and nothing else grows with them. On disk
remain 8 bytes for each URL seen.

A task may run twice, and a job that was killed is run again: files are renamed into place when they are complete, and
the job counts when its manifest is replaced, at the end.
"""

from __future__ import annotations

import builtins
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import CorruptFile, InvalidArgument, StorageError
from crivello.lines import numbered_lines

RANGES = 64
MANIFEST = "sieve.json"
_WORK = "work"
_LINES = 100_000
# A position is the number of a file, and the ordinal of a URL in it.
_ORDINAL_BITS = 40
_MOST_RANGES = 1 << 12

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Sieved:
    """A job that is done: the URLs read, the new ones among them, all that were ever seen, and the files with the new
    ones, one for each input."""

    read: int
    new: int
    seen: int
    outputs: list[Path]


@dataclass(frozen=True, slots=True)
class Partition:
    """A task: the signatures of a file, by range."""

    file: str
    number: int
    work: str
    ranges: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A task: the new signatures of a range, and all that were seen."""

    range: int
    files: int
    work: str
    seen: str | None
    target: str


@dataclass(frozen=True, slots=True)
class Emit:
    """A task: the new URLs of a file."""

    file: str
    number: int
    work: str
    ranges: int
    target: str


@dataclass(frozen=True, slots=True)
class _Manifest:
    job: int = 0
    ranges: int = RANGES
    seen: int = 0


def sieve_files(
    files: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    ranges: int = RANGES,
    map: Map = builtins.map,
) -> Sieved:
    """Finds the URLs (one per line, plain or gzip) of ``files`` that no earlier job of ``folder`` has seen.

    ``ranges``, a power of two, is how many merges a job has; it is fixed by the first job of a folder.
    """
    home, names = Path(folder), [str(file) for file in files]
    before = _manifest(home)
    ranges = before.ranges if before.job else ranges
    if not names or ranges < 1 or ranges > _MOST_RANGES or ranges & (ranges - 1):
        raise InvalidArgument(f"a job takes some files, and a power of two up to {_MOST_RANGES} of ranges")
    job, work = before.job + 1, home / _WORK
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError.of(error, work) from None
    read = sum(map(partition, [Partition(file, at, str(work), ranges) for at, file in enumerate(names)]))
    merges = [
        Merge(at, len(names), str(work), _seen(home, before.job, at), str(home / f"seen-{job}-{at}"))
        for at in range(ranges)
    ]
    merged = list(map(merge, merges))
    outputs = [home / f"urls-{job}-{at}.txt" for at in range(len(names))]
    emits = [
        Emit(file, at, str(work), ranges, str(target))
        for at, (file, target) in enumerate(zip(names, outputs, strict=True))
    ]
    new = sum(map(emit, emits))
    seen = sum(count for _, count in merged)
    with _complete(home / MANIFEST) as file:
        file.write(msgspec.json.encode(_Manifest(job, ranges, seen)))
    shutil.rmtree(work)
    for at in range(ranges):
        (home / f"seen-{before.job}-{at}").unlink(missing_ok=True)
    return Sieved(read, new, seen, outputs)


def partition(task: Partition) -> int:
    """Writes the pairs (signature, ordinal) of each range of a file; returns the number of URLs."""
    shift = np.uint64(64 - task.ranges.bit_length() + 1)
    count = 0
    with _many(Path(task.work), [f"pairs-{task.number}-{at}" for at in range(task.ranges)]) as targets:
        for urls in _urls(task.file):
            found = np.array(_core.signatures(urls), np.uint64)
            pairs = np.column_stack([found, np.arange(count, count + len(urls), dtype=np.uint64)])
            owners = (found >> shift).astype(np.int64) if task.ranges > 1 else np.zeros(len(urls), np.int64)
            order = np.argsort(owners, kind="stable")
            bounds = np.searchsorted(owners[order], np.arange(task.ranges + 1))
            for at, target in enumerate(targets):
                target.write(pairs[order[bounds[at] : bounds[at + 1]]].tobytes())
            count += len(urls)
    return count


def merge(task: Merge) -> tuple[int, int]:
    """Writes the positions of the new URLs of a range, and all signatures; returns the numbers of both."""
    work = Path(task.work)
    parts = [_read(work / f"pairs-{number}-{task.range}").reshape(-1, 2) for number in range(task.files)]
    signatures = np.concatenate([part[:, 0] for part in parts])
    files = np.repeat(np.arange(task.files, dtype=np.uint64), [len(part) for part in parts])
    positions = files << np.uint64(_ORDINAL_BITS) | np.concatenate([part[:, 1] for part in parts])
    # Positions ascend, and the sort is stable: the first of equal signatures is the one seen first.
    order = np.argsort(signatures, kind="stable")
    signatures, positions = signatures[order], positions[order]
    first = np.ones(len(signatures), bool)
    first[1:] = signatures[1:] != signatures[:-1]
    signatures, positions = signatures[first], positions[first]
    seen = np.empty(0, np.uint64) if task.seen is None else _read(Path(task.seen))
    if len(seen):
        known = seen[np.minimum(np.searchsorted(seen, signatures), len(seen) - 1)] == signatures
        signatures, positions = signatures[~known], positions[~known]
    every = np.insert(seen, np.searchsorted(seen, signatures), signatures)
    with _complete(work / f"new-{task.range}") as file:
        file.write(np.sort(positions).tobytes())
    with _complete(Path(task.target)) as file:
        file.write(every.tobytes())
    return len(positions), len(every)


def emit(task: Emit) -> int:
    """Writes the new URLs of a file, in order; returns their number."""
    ordinals = np.sort(np.concatenate([_ordinals(task, at) for at in range(task.ranges)]))
    start = 0
    with _complete(Path(task.target)) as target:
        for urls in _urls(task.file):
            low, high = np.searchsorted(ordinals, [start, start + len(urls)])
            chosen = (ordinals[low:high] - np.uint64(start)).tolist()
            target.write("".join(f"{urls[at]}\n" for at in chosen).encode())
            start += len(urls)
    return len(ordinals)


def _ordinals(task: Emit, at: int) -> NDArray[np.uint64]:
    """The ordinals of the new URLs of a file in a range."""
    positions = _read(Path(task.work) / f"new-{at}")
    bounds = np.array([task.number, task.number + 1], np.uint64) << np.uint64(_ORDINAL_BITS)
    low, high = np.searchsorted(positions, bounds)
    ordinals: NDArray[np.uint64] = positions[low:high] - bounds[0]
    return ordinals


def _urls(file: str) -> Iterator[list[str]]:
    lines = (line for _, line in numbered_lines(file))
    while batch := list(islice(lines, _LINES)):
        yield batch


def _seen(home: Path, job: int, at: int) -> str | None:
    return str(home / f"seen-{job}-{at}") if job else None


def _manifest(home: Path) -> _Manifest:
    path = home / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except FileNotFoundError:
        return _Manifest()
    except OSError as error:
        raise StorageError.of(error, path) from None
    except msgspec.MsgspecError as error:
        raise CorruptFile(f"{path} is damaged: {error}", path, 0) from None


def _read(path: Path) -> NDArray[np.uint64]:
    try:
        return np.fromfile(path, np.uint64)
    except OSError as error:
        raise StorageError.of(error, path) from None


@contextmanager
def _complete(path: Path) -> Iterator[BinaryIO]:
    """A file that is renamed into place when it is written and synced."""
    with _many(path.parent, [path.name]) as (file,):
        yield file


@contextmanager
def _many(folder: Path, names: list[str]) -> Iterator[list[BinaryIO]]:
    fresh = [folder / f"{name}.{os.getpid()}.new" for name in names]
    files: list[BinaryIO] = []
    try:
        files.extend(path.open("wb") for path in fresh)
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError.of(error, folder) from None
    finally:
        for file in files:
            file.close()
    for path, name in zip(fresh, names, strict=True):
        path.replace(folder / name)
