"""Private: one writer at a time: a lock on a collection that ends with the process that holds it."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from crivello.errors import CollectionInUse, StorageError


class Lock:
    """Held from construction until ``release``; a second one raises ``CollectionInUse``."""

    def __init__(self, folder: Path) -> None:
        file = folder / "lock"
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StorageError.of(error, file) from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._descriptor, 20).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise CollectionInUse(
                f"{folder} is in use: {f'process {owner}' if owner else 'another process'} is writing to it",
                hint="wait until it ends, or stop it with Ctrl-C; reading and searching go on meanwhile",
            ) from None
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(self._descriptor)
            raise StorageError.of(error, file) from None

    def release(self) -> None:
        """Lets the next writer in."""
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who is writing to a collection, and since when (in seconds since 1970)."""

    process: int | None
    since: float


def holder(folder: Path) -> Holder | None:
    """Who is writing to a collection; None: nobody."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError:
        owner = os.read(descriptor, 20).decode(errors="replace").strip()
        return Holder(int(owner) if owner.isdigit() else None, os.fstat(descriptor).st_mtime)
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool:
    """Whether someone is writing to a collection."""
    return holder(folder) is not None
