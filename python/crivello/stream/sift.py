"""From inputs to a report: the pass over the lines is native, the rest is in Python."""

from __future__ import annotations

import errno
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from crivello import _core
from crivello.errors import StorageError
from crivello.stream.confusion import Confusion
from crivello.stream.judge import Description, JudgeOptions

STANDARD_INPUT = "-"


class Format(StrEnum):
    """The key of a line: the line, or the URL of the JSON object in it; or detected from the first lines."""

    AUTO = "auto"
    LINES = "lines"
    CDXJ = "cdxj"


class Emit(StrEnum):
    """Which lines go to the standard output."""

    NEW = "new"
    MARKED = "marked"
    DUPLICATES = "duplicates"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of a stream, as judged; with ``truth``, the confusion matrix of the judge."""

    lines: int
    new: int
    duplicates: int
    by_url: int
    malformed: int
    long: int
    bytes: int
    seconds: float
    filter: Description
    truth: Confusion | None = None
    truth_seconds: float | None = None

    @property
    def lines_per_second(self) -> float:
        return self.lines / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The dictionary printed by ``--json``."""
        truth = {**self.truth.to_dict(), "seconds": self.truth_seconds} if self.truth else None
        return {
            "lines": self.lines,
            "new": self.new,
            "duplicates": self.duplicates,
            "by_url": self.by_url,
            "malformed": self.malformed,
            "long": self.long,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "lines_per_second": self.lines_per_second,
            "filter": msgspec.to_builtins(self.filter),
            **({"truth": truth} if truth else {}),
        }


def sift(
    inputs: Sequence[str | Path],
    options: JudgeOptions,
    *,
    format: Format = Format.AUTO,
    emit: Emit = Emit.NOTHING,
    truth: bool = False,
) -> Report:
    """Passes the lines of the inputs (``-``, or none: the standard input) through a judge."""
    judge = options.make()
    with TemporaryDirectory(prefix="crivello-stream-") as temporary:
        record = Path(temporary, "record") if truth else None
        started = time.perf_counter()
        counts = record_stream(inputs, judge._native, format=format, emit=emit, record=record)
        seconds = time.perf_counter() - started
        checked, truth_seconds = None, None
        if record is not None:
            from crivello.stream.truth import check

            started = time.perf_counter()
            checked = check(record, Path(temporary))
            truth_seconds = time.perf_counter() - started
    return Report(*counts, seconds, options.describe(judge), checked, truth_seconds)


def record_stream(
    inputs: Sequence[str | Path],
    judge: _core.Filter | _core.ExactSet,
    *,
    format: Format = Format.AUTO,
    emit: Emit = Emit.NOTHING,
    record: Path | None,
) -> tuple[int, int, int, int, int, int, int]:
    """The native pass; returns the counts that begin a ``Report``."""
    named = [str(name) for name in inputs] or [STANDARD_INPUT]
    sources = [(None if name == STANDARD_INPUT else name, str(format)) for name in named]
    try:
        return _core.sift(sources, judge, str(emit), record)
    except StorageError as error:
        if error.errno == errno.EPIPE:
            raise BrokenPipeError from None
        raise
