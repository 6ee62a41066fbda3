"""Private: files that are written whole and then renamed, and lines that are sorted in fixed memory."""

from __future__ import annotations

import heapq
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from crivello.errors import StorageError

_LINES_IN_MEMORY = 100_000


@contextmanager
def new_file(path: Path | None) -> Iterator[IO[bytes]]:
    """A file that appears under its name only once it is whole and durable; ``None`` is standard output."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    temporary = path.with_name(f"{path.name}.new")
    try:
        with temporary.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StorageError.of(error, path) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class SortedLines:
    """Collects lines, and iterates over them in the order of their bytes: an external merge sort."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._runs: list[IO[bytes]] = []
        self._open = ExitStack()

    def __enter__(self) -> SortedLines:
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()

    def add(self, line: str) -> None:
        """Adds a line, without its end."""
        self._lines.append(line.encode() + b"\n")
        if len(self._lines) >= _LINES_IN_MEMORY:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        self._lines.sort()
        for run in self._runs:
            run.seek(0)
        return heapq.merge(self._lines, *self._runs)

    def _spill(self) -> None:
        run = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        run.writelines(sorted(self._lines))
        self._lines.clear()
        self._runs.append(run)
