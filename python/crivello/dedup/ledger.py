"""The ids and lengths of what is compared, on disk: 12 bytes for each, and its id.

Three files that only grow: the ids one after the other, where each ends, and the lengths; in units also the number of units of
each document. A checkpoint flushes them, and its state says how much of each is valid.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np

from crivello.dedup.source import Id, readable
from crivello.errors import StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = ("ids", "ends", "lengths", "units")
_LONGEST = 2**32 - 1
_BYTES = 1 << 20


class Ledger:
    """Ids and lengths by number."""

    def __init__(self, folder: Path, state: Sequence[int] | None) -> None:
        """Opens the files at the state of a checkpoint; ``None``: empty."""
        self._folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._open = ExitStack()
        sizes = state or [0] * len(_NAMES)
        try:
            for name, size in zip(_NAMES, sizes, strict=True):
                file = self._open.enter_context((folder / name).open("ab"))
                file.truncate(size)
                self._files[name] = file
        except OSError as error:
            raise StorageError.of(error, folder) from None
        self._end = sizes[0]

    def add(self, ids: Sequence[Id], lengths: Iterable[int], units: Iterable[int] = ()) -> None:
        """Adds what comes next."""
        encoded = [_stored(name) for name in ids]
        ends = self._end + np.cumsum([len(name) for name in encoded], dtype=np.uint64)
        self._end = int(ends[-1]) if len(ends) else self._end
        columns = {
            "ids": b"".join(encoded),
            "ends": ends.astype("<u8").tobytes(),
            "lengths": np.minimum(np.fromiter(lengths, np.int64), _LONGEST).astype("<u4").tobytes(),
            "units": np.fromiter(units, np.int64).astype("<u4").tobytes(),
        }
        try:
            for name, data in columns.items():
                self._files[name].write(data)
        except OSError as error:
            raise StorageError.of(error, self._folder) from None

    def append(self, folder: Path, state: Sequence[int]) -> None:
        """Adds what is in the folder of another ledger, at the state of a checkpoint."""
        start = self._end
        try:
            for name, size in zip(_NAMES, state, strict=True):
                with (folder / name).open("rb") as file:
                    while data := file.read(min(_BYTES, size - file.tell())):
                        if name == "ends":
                            ends = np.frombuffer(data, "<u8") + np.uint64(start)
                            data, self._end = ends.tobytes(), int(ends[-1])
                        self._files[name].write(data)
        except OSError as error:
            raise StorageError.of(error, folder) from None

    def checkpoint(self) -> list[int]:
        """Makes everything durable, and returns the state."""
        try:
            for file in self._files.values():
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError.of(error, self._folder) from None
        return [file.tell() for file in self._files.values()]

    def close(self) -> None:
        """Closes the files."""
        self._open.close()

    def lengths(self) -> NDArray[np.uint32]:
        """The lengths, by number."""
        return self._column("lengths", np.uint32)

    def units(self) -> NDArray[np.uint32]:
        """The number of units of each document."""
        return self._column("units", np.uint32)

    def ids(self, numbers: NDArray[Any]) -> list[Id]:
        """The ids of some numbers, read one by one: a map of the files would count as memory."""
        with ExitStack() as opened:
            ends, names = (opened.enter_context(self._reading(name)).fileno() for name in ("ends", "ids"))
            return [self._id(ends, names, number) for number in numbers.tolist()]

    def _id(self, ends: int, names: int, number: int) -> Id:
        bounds = os.pread(ends, 16 if number else 8, max(0, 8 * number - 8))
        end = int.from_bytes(bounds[-8:], "little")
        start = int.from_bytes(bounds[:8], "little") if number else 0
        return _loaded(os.pread(names, end - start, start))

    def _reading(self, name: str) -> IO[bytes]:
        self._files[name].flush()
        return (self._folder / name).open("rb", buffering=0)

    def _column(self, name: str, kind: Any) -> NDArray[Any]:
        self._files[name].flush()
        path = self._folder / name
        return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.empty(0, kind)


def _stored(name: Id) -> bytes:
    """A text as it is; what is written in JSON, a number, and a text that begins like them, as JSON after a zero byte."""
    if not isinstance(name, str):
        return b"\0" + msgspec.json.encode(name)
    text = readable(name)
    return b"\0" + msgspec.json.encode(text) if text.startswith("\0") else text.encode()


def _loaded(stored: bytes) -> Id:
    return msgspec.Raw(stored[1:]) if stored.startswith(b"\0") else stored.decode()
