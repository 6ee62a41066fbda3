"""Private: the files of the native engine, joined from those of several folders, and divided by keys.

Six columns, of which the first five have something for each document, in the order of the documents
(``crates/core/src/duplicates/discovery/files.rs``): digests and SimHashes of 16 bytes; signals and keys, 32-bit numbers; and where the
signals and the keys of each document end, two 64-bit numbers. The last has the verified pairs. ``state`` says how long each
is, and is written last. So the columns of a corpus are those of its parts one after the other, with the ends counted on.

Documents are compared if they have a key in common. The pairs of a corpus are therefore those of ranges of its keys together,
each range with all documents: what is found does not depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from crivello.archives.output import new_file
from crivello.errors import CorruptFile, StorageError

_COLUMNS = ("digests", "signals", "keys", "ends", "simhashes", "pairs")
_STATE = "state"
_KEYS, _ENDS, _PAIRS = (_COLUMNS.index(name) for name in ("keys", "ends", "pairs"))
_END = np.dtype(("<u8", 2))
_PAIR = np.dtype([("one", "<u4"), ("other", "<u4"), ("similarity", "<f4")])
_DIGEST = np.dtype("V16")
# Documents, and bytes, that are read together.
_DOCUMENTS = 1 << 16
_BYTES = 1 << 22
# More passes over keys than there can be: none is left.
_ALL_PASSES = 1 << 40


class State(NamedTuple):
    """The state of an engine."""

    fields: dict[str, Any]

    @property
    def lengths(self) -> list[int]:
        """The length of each column in bytes."""
        lengths: list[int] = self.fields["lengths"]
        return lengths

    @property
    def is_compared(self) -> bool:
        """Whether no pass over the keys is left."""
        return bool(self.fields["is_found"]) or self.fields["passes"] >= _ALL_PASSES

    @classmethod
    def read(cls, engine: Path) -> State | None:
        """The committed state in a folder; ``None`` if nothing was committed."""
        path = engine / _STATE
        try:
            return cls(msgspec.msgpack.decode(path.read_bytes()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError.of(error, path) from None
        except msgspec.DecodeError as error:
            raise CorruptFile(f"{path} is damaged: {error}", path, 0) from None

    @classmethod
    def committed(cls, engine: Path) -> State:
        """The committed state in a folder where a worker left one."""
        state = cls.read(engine)
        if state is None:
            raise StorageError(
                f"a worker of the cluster wrote {engine}, which is not here",
                engine,
                hint="--work names a folder that all machines see under the same path",
            )
        return state

    def write(self, engine: Path, **changes: Any) -> None:
        """Commits the state with some fields changed."""
        with new_file(engine / _STATE) as out:
            out.write(msgspec.msgpack.encode({**self.fields, **changes}))


def join(engines: Sequence[Path], target: Path, position: bytes) -> None:
    """Makes one engine of several, with the documents in the order of the folders, at a position of the input."""
    states = [State.committed(engine) for engine in engines]
    lengths = []
    for column, name in enumerate(_COLUMNS):
        parts = [
            (engine / name, state.lengths[column]) for engine, state in zip(engines, states, strict=True)
        ]
        with new_file(target / name) as out:
            for part in _counted_on(parts) if column == _ENDS else _chunks(parts):
                out.write(part)
            lengths.append(out.tell())
    states[0].write(
        target,
        lengths=lengths,
        documents=sum(state.fields["documents"] for state in states),
        references=sum(state.fields["references"] for state in states),
        position=list(position),
    )


def restrict(engine: Path, target: Path, number: int, ranges: int) -> None:
    """Makes an engine of all documents with the keys of one of several ranges; what it shares with the other is linked."""
    state = State.committed(engine)
    for name in _COLUMNS:
        if name not in ("keys", "ends", "pairs"):
            (target / name).symlink_to(engine.resolve() / name)
    lengths = list(state.lengths)
    with (
        new_file(target / "keys") as keys,
        new_file(target / "ends") as ends,
        (engine / "keys").open("rb") as all_keys,
        (engine / "ends").open("rb") as all_ends,
    ):
        start = count = 0
        while some := all_ends.read(min(_DOCUMENTS * _END.itemsize, lengths[_ENDS] - all_ends.tell())):
            bounds = np.frombuffer(some, "<u8").reshape(-1, 2).copy()
            last = int(bounds[-1, 1])
            found = np.frombuffer(all_keys.read(4 * (last - start)), "<u4")
            of_range = found.astype(np.uint64) * np.uint64(ranges) >> np.uint64(32) == number
            before = np.concatenate(([0], np.cumsum(of_range))).astype(np.uint64)
            bounds[:, 1] = before[(bounds[:, 1] - np.uint64(start)).astype(np.int64)] + np.uint64(count)
            keys.write(found[of_range].tobytes())
            ends.write(bounds.tobytes())
            start, count = last, count + int(of_range.sum())
        lengths[_KEYS], lengths[_PAIRS] = keys.tell(), 0
    (target / "pairs").touch()
    state.write(target, lengths=lengths)


def take_pairs(engine: Path, target: Path) -> None:
    """Writes the pairs that were found in an engine, without those of documents with the same digest, which every range has."""
    length = State.committed(engine).lengths[_PAIRS]
    digests = np.fromfile(engine / "digests", _DIGEST) if length else np.empty(0, _DIGEST)
    with new_file(target) as out:
        for chunk in _chunks([(engine / "pairs", length)], _BYTES // _PAIR.itemsize * _PAIR.itemsize):
            pairs = np.frombuffer(chunk, _PAIR)
            out.write(pairs[digests[pairs["one"]] != digests[pairs["other"]]].tobytes())


def add_pairs(engine: Path, files: Sequence[Path]) -> None:
    """Gives an engine the pairs of all ranges of keys, so that only clusters are left to be formed."""
    state = State.committed(engine)
    with new_file(engine / "pairs") as out:
        for chunk in _chunks([(file, file.stat().st_size) for file in files]):
            out.write(chunk)
        length = out.tell()
    lengths = [*state.lengths[:_PAIRS], length]
    state.write(engine, lengths=lengths, passes=_ALL_PASSES)


def _chunks(parts: Sequence[tuple[Path, int]], size: int = _BYTES) -> Iterator[bytes]:
    """The first bytes of several files, as many as are committed of each, one after the other."""
    for path, length in parts:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
            while chunk := file.read(min(size, length - file.tell())):
                yield chunk


def _counted_on(parts: Sequence[tuple[Path, int]]) -> Iterator[bytes]:
    """Ends of several files, each counted on from the last of the file before."""
    before = np.zeros(2, "<u8")
    for part in parts:
        ends = before[None]
        for chunk in _chunks([part]):
            ends = np.frombuffer(chunk, "<u8").reshape(-1, 2) + before
            yield ends.tobytes()
        before = ends[-1]
