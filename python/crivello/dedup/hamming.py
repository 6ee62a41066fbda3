"""Search among SimHashes: those within a few bits of a given one, without comparing all of them."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crivello import _core
from crivello.dedup.arguments import memory_size, path_name, whole
from crivello.errors import InvalidArgument, OlderFormat, StorageError

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

_MOST_BITS = 16
_LEAST_MEMORY = 1 << 20


class Nearest(NamedTuple):
    """The nearest SimHash of each given one: its index and its distance, -1 and -1 where none is near."""

    index: NDArray[np.int64]  # type: ignore[assignment]
    distance: NDArray[np.int32]


class Pairs(NamedTuple):
    """Pairs of SimHashes: the index of the first, of the second, and their distance."""

    one: NDArray[np.uint32]
    other: NDArray[np.uint32]
    distance: NDArray[np.uint32]


class Within(NamedTuple):
    """The SimHashes near one: their indices and distances, from the nearest on."""

    index: NDArray[np.uint64]  # type: ignore[assignment]
    distance: NDArray[np.uint32]


@dataclass(frozen=True)
class Lead:
    """A table: how many bits lead in it, and how many of them may differ."""

    bits: int
    radius: int


class HammingTable:
    """SimHashes of 64 bits in memory, searchable within ``distance`` bits (0 to 16), exactly.

    Searches take arrays, run on all threads, and release the GIL. Of equally near SimHashes the first is the nearest.

        >>> table = HammingTable(simhash(texts), distance=3)
        >>> table.nearest(simhash(["another text"]))
        Nearest(index=array([17]), distance=array([2], dtype=int32))
    """

    def __init__(self, simhashes: Any, distance: int = 3) -> None:
        self._table = _core.HammingTable(_words(simhashes), whole("distance", distance, 0, _MOST_BITS))

    def nearest(self, simhashes: Any) -> Nearest:
        """The index and the distance of the nearest SimHash of each, -1 where none is within the distance."""
        return _nearest(*self._table.nearest(_words(simhashes)))

    def within(self, simhashes: Any) -> list[Within]:
        """All SimHashes within the distance of each, from the nearest on."""
        ends, indices, distances = map(np.asarray, self._table.within(_words(simhashes)))
        if not len(ends):
            return []
        cuts = ends[:-1].astype(np.int64)
        return [
            Within(*found) for found in zip(np.split(indices, cuts), np.split(distances, cuts), strict=True)
        ]

    def pairs(self) -> Pairs:
        """All pairs within the distance, each once, the lesser index first, in order."""
        return Pairs(*map(np.asarray, self._table.pairs()))

    def __len__(self) -> int:
        return len(self._table)

    @property
    def distance(self) -> int:
        """The greatest distance that is found."""
        return self._table.distance

    @property
    def nbytes(self) -> int:
        """The size of the table in memory."""
        return self._table.bytes

    @property
    def layout(self) -> list[Lead]:
        """The tables that were chosen for the number of SimHashes and the distance."""
        return [Lead(*lead) for lead in self._table.layout]


class HammingFile:
    """SimHashes of 64 bits in a file, searchable like those of a ``HammingTable``. The file is mapped into memory.

    >>> HammingFile.write("hashes.run", hashes, distance=3, memory=64 << 20)
    >>> HammingFile("hashes.run").nearest(hashes[:10])
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        try:
            self._file = _core.HammingFile(_regular(path))
        except OlderFormat as error:
            raise OlderFormat(str(error), error.path, "write it anew: HammingFile.write") from None

    @staticmethod
    def write(
        path: str | PathLike[str], simhashes: Any, distance: int = 3, memory: int | str = 64 << 20
    ) -> None:
        """Writes the file, in parts of at most ``memory`` bytes, which are merged. Equal SimHashes are stored once.

        ``memory`` may be a text such as ``64M``; it is at least 1 MiB.
        """
        distance = whole("distance", distance, 0, _MOST_BITS)
        memory = memory_size(memory, _LEAST_MEMORY)
        _core.HammingFile.write(_regular(path), _words(simhashes), distance, memory)

    def nearest(self, simhashes: Any) -> Nearest:
        """The index and the distance of the nearest SimHash of each, -1 where none is within the distance."""
        return _nearest(*self._file.nearest(_words(simhashes)))

    def __len__(self) -> int:
        """The number of different SimHashes."""
        return len(self._file)

    @property
    def distance(self) -> int:
        """The greatest distance that is found."""
        return self._file.distance

    @property
    def layout(self) -> list[Lead]:
        """The tables that were chosen for the number of SimHashes and the distance."""
        return [Lead(*lead) for lead in self._file.layout]


def _nearest(indices: _core.Array, distances: _core.Array) -> Nearest:
    return Nearest(np.asarray(indices).view(np.int64), np.asarray(distances).view(np.int32))


def _regular(path: str | PathLike[str]) -> str:
    """The name of a regular file, or of none yet: pipes and devices are neither mapped nor replaced."""
    name = path_name("path", path)
    if not name:
        raise InvalidArgument("the file of SimHashes has no name")
    with suppress(OSError):
        if not stat.S_ISREG(Path(name).stat().st_mode):
            raise StorageError(f"{name} is not a regular file", name, hint="name another file")
    return name


def _words(simhashes: Any) -> NDArray[np.uint64]:
    try:
        given = np.asarray(simhashes)
    except ValueError:
        # A list of lists of different lengths.
        raise _no_simhashes() from None
    if given.ndim != 1 or given.dtype.kind not in "ui" or (given.dtype.kind == "i" and (given < 0).any()):
        if not given.size:
            return np.zeros(0, np.uint64)
        raise _no_simhashes()
    return np.ascontiguousarray(given, np.uint64)


def _no_simhashes() -> InvalidArgument:
    return InvalidArgument(
        "SimHashes are an array of numbers of 64 bits in one dimension",
        hint="crivello.dedup.simhash with 32 or 64 bits makes one",
    )
