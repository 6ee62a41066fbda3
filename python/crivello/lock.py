"""One writer at a time: a lock on a collection that ends with the process that holds it."""

from __future__ import annotations

import fcntl
import os
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
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Lets the next writer in."""
        os.close(self._descriptor)


def is_held(folder: Path) -> bool:
    """Whether someone is writing to a collection."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(descriptor)
