"""The folder where a run keeps its state, so that the same command goes on after a crash. One process at a time has it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import msgspec

from crivello.archives.output import new_file, temporary_name
from crivello.errors import InvalidArgument, StorageError

_ABOUT, _LOCK = "about", "lock"
_NAME = re.compile(r"(.*dedup-)[0-9a-f]{16}")


class _About(msgspec.Struct, array_like=True):
    corpora: list[Any]
    token: str
    rooms: list[str]
    begun: list[Any] | None = None

    @classmethod
    def read(cls, folder: Path) -> _About | None:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.msgpack.decode((folder / _ABOUT).read_bytes(), type=cls)
        return None


class Work:
    """The folder of the state of one command."""

    def __init__(
        self, folder: Path, corpora: Sequence[Any], results: Sequence[Any], rooms: Sequence[Path]
    ) -> None:
        """``corpora`` are the identities of the inputs, ``results`` is what decides what an output folder gets, and ``rooms``
        are the folders that get outputs.
        """
        self.folder, self._results = folder, list(results)
        self._rooms = {os.path.realpath(room) for room in rooms}
        self._about = _About.read(folder) or _About(list(corpora), uuid.uuid4().hex, [])

    @property
    def token(self) -> str:
        """What the temporary names of this run and of those before it contain."""
        return self._about.token

    @property
    def has_begun(self) -> bool:
        """Whether an earlier run began to write these results."""
        return self._about.begun == self._results

    def begin(self) -> None:
        """Notes that these results are being written."""
        self._about.begun = self._results
        self._save()

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Makes the folder, for this process alone; it stays for the next attempt if the cause is not the input."""
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder):
                self._about = _About.read(self.folder) or self._about
                self._about.rooms = sorted({*self._about.rooms, *self._rooms})
                self._save()
                self._remove_stale()
                try:
                    yield self.folder
                except InvalidArgument:
                    shutil.rmtree(self.folder, ignore_errors=True)
                    raise
                shutil.rmtree(self.folder, ignore_errors=True)

    def _save(self) -> None:
        with new_file(self.folder / _ABOUT) as out:
            out.write(msgspec.msgpack.encode(self._about))

    def _remove_stale(self) -> None:
        """Removes what runs left that wrote the same output from the same inputs, if these have changed since.

        No command goes on with that. What another process is working in stays, as does the state of other inputs or options.
        """
        mine = _NAME.fullmatch(self.folder.name)
        for other in self.folder.parent.iterdir() if mine else ():
            found = _NAME.fullmatch(other.name)
            if found is None or mine is None or found[1] != mine[1] or other == self.folder:
                continue
            about = _About.read(other)
            if about is None or not _has_changed(about.corpora, self._about.corpora):
                continue
            with suppress(StorageError), _locked(other):
                for room in about.rooms:
                    with suppress(OSError):
                        Path(room, temporary_name(about.token)).unlink()
                shutil.rmtree(other, ignore_errors=True)


def place(work: str, beside: str, told: Sequence[Any], temporary: Path) -> Path:
    """The folder of a command by a digest of what it was told: in ``work``, ``beside`` an output, or a temporary one."""
    digest = blake2b(msgspec.msgpack.encode(told), digest_size=8).hexdigest()
    if work:
        return Path(work) / f"dedup-{digest}"
    if not beside:
        return temporary / f"dedup-{digest}"
    target = Path(os.path.abspath(beside))  # noqa: PTH100 - beside a symbolic link, not its target
    if not target.name:
        raise InvalidArgument(
            f"there is no room for temporary files beside {beside}", hint="name a folder for them with --work"
        )
    return target.with_name(f"{target.name}.dedup-{digest}")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Makes one sentence of what the file system refuses, about ``path`` if it names no other; a broken pipe is no such error."""
    try:
        yield
    except ConnectionError:
        raise
    except OSError as error:
        raise StorageError.of(error, error.filename or path) from None


def _has_changed(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether these are identities of the same inputs, of which one was changed."""
    return [one[0] for one in before] == [one[0] for one in now] and list(before) != list(now)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A folder, for this process alone."""
    path = folder / _LOCK
    try:
        lock = path.open("ab")
    except OSError as error:
        raise StorageError.of(error, path) from None
    with lock:
        if not _is_ours(lock, path):
            raise StorageError(f"another process is working in {folder}", folder, hint="wait until it ends")
        yield


def _is_ours(lock: IO[bytes], path: Path) -> bool:
    """Locks a file, unless another process has it, or has removed it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except OSError:
        return False
