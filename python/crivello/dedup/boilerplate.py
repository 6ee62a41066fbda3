"""Template text: the lines that many documents of a site share, its menus and footers, leave what is compared.

A line, without the white space around it, is boilerplate of a site if at least ``LEAST`` of its documents have it, and at least
the share ``SHARE`` of them. The site of a document is the host of its id, if that is a URL; all other documents are one site. A
document that would lose more than half of its words is compared whole: otherwise two pages of nothing but common lines
would be equal.

Exact, so that it is the same for every size of batch and number of threads, and out of core: a first pass over the corpus
writes 16 bytes for each line, which are counted in ranges of their hashes, as many as the memory asks for. In memory are 8
bytes for each document, and 8 for each line that is boilerplate.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np

from crivello import _core
from crivello.archives.output import new_file
from crivello.dedup.source import Id, Text, comparable
from crivello.errors import StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 10
SHARE = 0.1
# The memory in which lines are counted if no budget is given.
LINES_MEMORY = 64 << 20
_HOST = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?([^/:?#]*)", re.IGNORECASE)
_LINE = np.dtype([("line", "<u8"), ("site", "<u8")])
_FILES = ("lines", "sites")
_READ = 1 << 16
# A line that is counted is there three times: as it was read, as part of its range, and sorted.
_COUNTING = 3 * _LINE.itemsize


class _Position(msgspec.Struct, array_like=True):
    source: int = 0
    position: Any = None
    lengths: tuple[int, int] = (0, 0)


class Lines:
    """The first pass: the hashes of the lines of all documents, on disk."""

    def __init__(self, folder: Path) -> None:
        """Goes on in a folder where it was last committed."""
        self._folder, self._open = folder, ExitStack()
        state = folder / "state"
        self._at = (
            msgspec.msgpack.decode(state.read_bytes(), type=_Position) if state.exists() else _Position()
        )
        self._files: list[IO[bytes]] = []
        try:
            for name, length in zip(_FILES, self._at.lengths, strict=True):
                file = self._open.enter_context((folder / name).open("ab"))
                file.truncate(length)
                self._files.append(file)
        except OSError as error:
            raise StorageError.of(error, folder) from None

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()

    @property
    def position(self) -> tuple[int, Any]:
        """The number of the source and the position in it, after the last commit."""
        return self._at.source, self._at.position

    def add(self, ids: Sequence[Id], texts: Sequence[Text]) -> None:
        """Adds documents."""
        hosts = [_host(name) for name in ids]
        of_documents = _hashes(hosts)
        lines = [list(dict.fromkeys(_stripped(comparable(text).split("\n")))) for text in texts]
        counts = [len(some) for some in lines]
        found = np.empty(sum(counts), _LINE)
        found["line"] = _hashes(_named(hosts, lines))
        found["site"] = np.repeat(of_documents, counts)
        try:
            self._files[0].write(found.tobytes())
            self._files[1].write(of_documents.tobytes())
        except OSError as error:
            raise StorageError.of(error, self._folder) from None

    def append(self, folder: Path) -> None:
        """Adds what was committed in another folder."""
        path = folder / "state"
        try:
            lengths = msgspec.msgpack.decode(path.read_bytes(), type=_Position).lengths
            for file, name, length in zip(self._files, _FILES, lengths, strict=True):
                with (folder / name).open("rb") as lines:
                    while data := lines.read(min(_READ * _LINE.itemsize, length - lines.tell())):
                        file.write(data)
        except OSError as error:
            raise StorageError.of(error, path) from None

    def commit(self, source: int, position: Any) -> None:
        """Makes durable what was added, with where the input stands."""
        try:
            for file in self._files:
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError.of(error, self._folder) from None
        lines, sites = (file.tell() for file in self._files)
        self._at = _Position(source, position, (lines, sites))
        with new_file(self._folder / "state") as out:
            out.write(msgspec.msgpack.encode(self._at))

    def count(self, memory: int) -> Boilerplate:
        """The boilerplate among all lines, after the last commit."""
        sites = np.fromfile(self._folder / "sites", "<u8")
        names, counts = np.unique(sites, return_counts=True)
        limits = np.maximum(np.ceil(SHARE * counts), LEAST)
        passes = max(1, -(-self._at.lengths[0] // _LINE.itemsize * _COUNTING // memory))
        found = [np.empty(0, np.uint64)]
        for number in range(passes):
            lines = self._of_pass(number, passes)
            distinct, places, times = np.unique(lines["line"], return_index=True, return_counts=True)
            limit = limits[np.searchsorted(names, lines["site"][places])]
            found.append(distinct[times >= limit])
        return Boilerplate(np.concatenate(found))

    def remove(self) -> None:
        """Removes the lines, which are not needed once they are counted."""
        (self._folder / "lines").unlink(missing_ok=True)

    def _of_pass(self, number: int, passes: int) -> NDArray[Any]:
        """The lines of one range of hashes; the ranges are in order."""
        some = [np.empty(0, _LINE)]
        with (self._folder / "lines").open("rb") as file:
            while data := file.read(_READ * _LINE.itemsize):
                lines = np.frombuffer(data, _LINE)
                ranges = (lines["line"] >> np.uint64(32)) * np.uint64(passes) >> np.uint64(32)
                some.append(lines[ranges == number])
        return np.concatenate(some)


class Boilerplate:
    """The hashes of the lines that are boilerplate, sorted."""

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        self._hashes = hashes

    @classmethod
    def none(cls) -> Boilerplate:
        """No line."""
        return cls(np.empty(0, np.uint64))

    @classmethod
    def load(cls, file: Path) -> Boilerplate:
        """What was saved."""
        return cls(np.fromfile(file, "<u8"))

    def save(self, file: Path) -> None:
        """Writes the hashes."""
        with new_file(file) as out:
            out.write(self._hashes.astype("<u8").tobytes())

    def __len__(self) -> int:
        return len(self._hashes)

    def without(self, ids: Sequence[Id], texts: Sequence[Text]) -> list[str]:
        """The texts without boilerplate, as they are compared."""
        given = [comparable(text) for text in texts]
        if not len(self._hashes):
            return given
        lines = [text.split("\n") for text in given]
        hashes = _hashes(
            _named([_host(name) for name in ids], [_stripped(some, blank=True) for some in lines])
        )
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        common = (self._hashes[places] == hashes).tolist()
        end, left = 0, []
        for text, some in zip(given, lines, strict=True):
            start, end = end, end + len(some)
            left.append(_kept(text, some, common[start:end]))
        return left


def _kept(text: str, lines: list[str], common: list[bool]) -> str:
    if not any(common):
        return text
    kept = [line for line, is_common in zip(lines, common, strict=True) if not is_common]
    left, words = sum(len(line.split()) for line in kept), len(text.split())
    return "\n".join(kept) if 2 * left >= words else text


def _host(name: Id) -> str:
    found = _HOST.match(name) if isinstance(name, str) else None
    return found[1].lower() if found else ""


def _stripped(lines: Sequence[str], *, blank: bool = False) -> list[str]:
    """The lines without white space around them; those without anything else only if asked for."""
    stripped = [line.strip() for line in lines]
    return stripped if blank else [line for line in stripped if line]


def _named(hosts: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    return [f"{host}\n{line}" for host, some in zip(hosts, lines, strict=True) for line in some]


def _hashes(texts: list[str]) -> NDArray[np.uint64]:
    """64 bits of the digest of each text."""
    return np.frombuffer(_core.digests(texts), "<u8")[::2].copy()
