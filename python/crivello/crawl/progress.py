"""The progress log of a crawl: one JSON object per line and checkpoint, for plots and DuckDB."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import msgspec

from crivello._core import Layout
from crivello.errors import StorageError

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl.report import Report

NAME = Layout.PROGRESS


class ProgressLog:
    """Appends a sample of the report at every checkpoint."""

    def __init__(self, collection: Collection) -> None:
        self._file = collection.folder / NAME
        self._length = collection.length(NAME)

    def append(self, report: Report) -> dict[str, int | None]:
        """Writes a sample durably; returns the file with the length to commit."""
        line = msgspec.json.encode({"time": round(time.time(), 3), **report.sample()}) + b"\n"
        try:
            self._file.parent.mkdir(exist_ok=True)
            with self._file.open("ab") as out:
                out.truncate(self._length)
                out.write(line)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise StorageError.of(error, self._file) from None
        self._length += len(line)
        return {NAME: self._length}


def read_progress(collection: Collection) -> list[dict[str, Any]]:
    """The samples of all runs, in order."""
    length = collection.length(NAME)
    if not length:
        return []
    file = collection.folder / NAME
    try:
        with file.open("rb") as samples:
            return [msgspec.json.decode(line) for line in samples.read(length).splitlines()]
    except OSError as error:
        raise StorageError.of(error, file) from None
