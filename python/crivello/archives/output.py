"""Private: files and folders that are written whole and then renamed, and lines that are sorted in fixed memory."""

from __future__ import annotations

import heapq
import os
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from crivello.errors import StorageError

_LINES_IN_MEMORY = 100_000


def temporary_name(token: str = "") -> str:
    """A hidden name that no other file has: it contains ``token``, or a random one."""
    return f".crivello-{token or uuid.uuid4().hex}"


def is_stream(path: Path) -> bool:
    """Whether this is a pipe or a device, which is written to as it is."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


@contextmanager
def new_file(path: Path | None, token: str = "") -> Iterator[IO[bytes]]:
    """A file that appears under its name only once it is whole and durable; ``None`` is standard output.

    The target of a symbolic link is replaced, and a stream is written to directly. ``token`` names the temporary file of a writer
    that goes on after a crash, so that it finds its own again; no other writer may have the same.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        if is_stream(path):
            with path.open("wb") as out:
                yield out
            return
        target = Path(os.path.realpath(path))
        temporary = target.parent / temporary_name(token)
        if token:
            temporary.unlink(missing_ok=True)
        # Ctrl-C may come as soon as the file is there.
        try:
            with temporary.open("xb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError.of(error, path) from None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name only once it is complete; if another process was faster, that one's stays."""
    fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        fresh.mkdir(parents=True)
        yield fresh
        try:
            fresh.rename(path)
        except OSError:
            if not path.exists():
                raise
    except OSError as error:
        raise StorageError.of(error, error.filename or fresh) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


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
