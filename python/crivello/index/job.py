"""Building an index from many files as a job over many workers.

One round of independent tasks, each a pure function over files: a worker builds a generation of the index of one file of
documents, in all shards. Whatever runs the tasks is given as ``map``: the builtin one, that of a process pool, or one that
sends tasks to other machines (``crivello.cluster.jobs``), which must see the folder of the collection.

The generations are numbered in the order of the files, before a task begins: of two documents with the same URL the one in
the later file wins, as if the files had been added one after the other. A task may run twice, since it writes the same
files, which are renamed into place when they are complete; and nothing counts before the generations are committed, all
at once.

A worker has the memory budget of ``index.memory``, and the driver none: it merges what the merge policy selects.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crivello.extend import Extensions
from crivello.index import Division, Index, Segment
from crivello.index.extract import prepared
from crivello.index.jsonl import JsonLines
from crivello.settings import Settings

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Build:
    """A task: a generation of the index of one file."""

    file: str
    folder: str
    number: int
    settings: Settings
    division: Division


@dataclass(frozen=True, slots=True)
class Built:
    """A generation: its files, the number of documents added, what is to be said about the input, and the most memory that
    the worker had, in bytes."""

    segments: list[Segment]
    documents: int
    remarks: list[str]
    peak: int


def build(task: Build) -> Built:
    """Builds a generation."""
    import resource

    chosen = task.settings.index
    extractor = Extensions().get("index.extractor", chosen.extractor)
    lines = JsonLines(task.file)
    index = Index(task.folder, settings=task.settings, number=task.number - 1, division=task.division)
    counted = 0

    def count(number: int) -> None:
        nonlocal counted
        counted = number

    segments = index.add(prepared(lines, chosen.language, extractor), progress=count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Built(segments, counted, list(lines.remarks()), peak)


def build_files(
    files: Sequence[str],
    folder: str | Path,
    *,
    number: int,
    settings: Settings,
    division: Division,
    map: Map = builtins.map,
) -> list[Built]:
    """Builds a generation for each file, numbered from ``number`` on, in the order of the files."""
    home = str(Path(folder).resolve())
    names = [str(Path(file).resolve()) for file in files]
    tasks = [Build(file, home, number + at, settings, division) for at, file in enumerate(names)]
    return list(map(build, tasks))
