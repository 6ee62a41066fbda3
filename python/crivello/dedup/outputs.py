"""Where results go: the corpus without its duplicates, the pairs and the clusters. Files appear whole under their names."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from crivello._core import Array
from crivello.archives.output import new_file
from crivello.dedup.clusters import Clusters
from crivello.dedup.compressed import writing
from crivello.dedup.folder import Folder
from crivello.dedup.ledger import Ledger
from crivello.dedup.report import BINS
from crivello.dedup.source import Source, Verdicts, write_json_lines
from crivello.dedup.work import Work
from crivello.errors import InvalidArgument, StorageError

STANDARD_OUTPUT = "-"
_PAIRS = 1 << 16
_DROPPED = 1 << 14
_FILES = ("pairs", "clusters")
# Names that say what a file is; what they may be is decided by the input.
_ENDINGS = {
    "parquet": (".parquet",),
    "csv": (".csv", ".tsv", ".csv.gz", ".tsv.gz"),
    "warc": (".warc", ".warc.gz"),
}
_JSON = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson")


class Pairs(Protocol):
    """Verified pairs, in order."""

    def pairs(self, start: int, count: int) -> tuple[Array, Array, Array]:
        """Some of them: both numbers, and the similarity."""


def check_outputs(outputs: Mapping[str, str], inputs: Sequence[Source]) -> None:
    """Refuses outputs that would overwrite an input or each other, or become part of an input that is a folder.

    The keys are the names of the outputs; those that are neither files nor, where that has a meaning, folders are refused, too.
    """
    seen: set[Path] = set()
    for what, name in outputs.items():
        path = Path(os.path.realpath(name))
        if path in seen:
            raise InvalidArgument(f"{name} is named for two outputs", hint="name another file")
        seen.add(path)
        if what in _FILES and (path.is_dir() or name.endswith("/")):
            raise InvalidArgument(f"{name} is a folder", hint=f"name a file for --{what}")
        if path.is_socket() or path.is_block_device():
            raise InvalidArgument(
                f"{name} is a {'socket' if path.is_socket() else 'block device'}, which is not written to",
                hint="name a file",
            )
        for source in inputs:
            place = Path(os.path.realpath(source.path))
            if not path.is_dir() and (place == path or _is_same(place, path)):
                raise InvalidArgument(
                    f"{name} is an input, and would be overwritten", hint="name another file"
                )
            if source.path.is_dir() and place in (path, *path.parents):
                raise InvalidArgument(
                    f"{name} would be among the files of the input {source.name}", hint="name one elsewhere"
                )


def _is_same(one: Path, other: Path) -> bool:
    """Whether both are names of one file."""
    return one.exists() and other.exists() and one.samefile(other)


class Copy:
    """The corpus without its duplicates, in the form of the input or as JSON lines.

    A name that ends with a slash, and that of a folder, is a folder with what is left of each input, under the same name; of a
    single input that is a folder it has the files.
    """

    def __init__(
        self, out: str, sources: Sequence[Source], references: Sequence[Source] = (), *, rewrites: bool
    ) -> None:
        """Raises any error about the name and the sources before work begins."""
        self._out, self._sources = out, sources
        self._path = None if out == STANDARD_OUTPUT else Path(out)
        self._is_folder = out.endswith("/") or (self._path is not None and self._path.is_dir())
        self._as_json = out.endswith(_JSON) and any(source.form != "jsonl" for source in sources)
        self._places: list[Path] = []
        if self._as_json:
            if self._is_folder:
                raise InvalidArgument(f"{out} is a folder", hint="name a file, or a folder of another name")
            return
        if rewrites and (fixed := next((one for one in sources if not one.can_rewrite), None)):
            raise InvalidArgument(
                f"{fixed.name} is copied as it is, and so without whole documents only",
                hint="let --out end in .jsonl to write what is left of each text",
            )
        forms = {source.form for source in sources}
        meant = next((form for form, endings in _ENDINGS.items() if out.lower().endswith(endings)), None)
        if not self._is_folder and meant is not None and meant not in forms:
            raise InvalidArgument(
                f"{out} would have the form of the input ({', '.join(sorted(forms))}), and not what its name says",
                hint="let --out end in .jsonl, which any corpus is written as, or as the input does",
            )
        if self._is_folder:
            self._check_folder([*sources, *references])
        elif "folder" in forms:
            raise InvalidArgument(
                f"{out} is a file, and the input a folder", hint="end --out with a slash, or with .jsonl"
            )
        elif len(forms) > 1:
            raise InvalidArgument(
                f"inputs of different forms ({', '.join(sorted(forms))}) are not written into one file",
                hint="let --out be a folder, as in --out clean/, or end in .jsonl",
            )
        elif forms == {"parquet"} and (len(sources) > 1 or self._path is None):
            raise InvalidArgument(
                "several Parquet files are not written into one, nor to standard output",
                hint="let --out be a folder, as in --out clean/",
            )
        else:
            first = sources[0]
            for source in sources:
                first = source.prepare(first, out)

    @property
    def rooms(self) -> list[Path]:
        """The folders that get files."""
        if self._path is None:
            return []
        if not self._places:
            return [Path(os.path.realpath(self._path)).parent]
        placed = zip(self._sources, self._places, strict=True)
        return [self._path, *(place for source, place in placed if source.path.is_dir())]

    def _check_folder(self, inputs: Sequence[Source]) -> None:
        assert self._path is not None
        if self._path.exists() and not self._path.is_dir():
            raise InvalidArgument(f"{self._path} is a file", hint="name a folder, or leave out the slash")
        self._places = [self._place(source) for source in self._sources]
        named: set[Path] = set()
        for source, place in zip(self._sources, self._places, strict=True):
            source.prepare(source, place.name)
            if place in named:
                raise InvalidArgument(
                    f"two inputs have the same name, {place.name}",
                    hint="let --out be a file, or end in .jsonl",
                )
            named.add(place)
        real = {os.path.realpath(place) for place in self._places}
        for source in inputs:
            if os.path.realpath(source.path) in real:
                raise InvalidArgument(f"{source.name} would be overwritten", hint="name another folder")

    def _place(self, source: Source) -> Path:
        """Where in the folder what is left of an input goes."""
        assert self._path is not None
        is_folder = source.path.is_dir()
        if is_folder and isinstance(source, Folder) and len(self._sources) == 1:
            return self._path
        is_collection = is_folder and not isinstance(source, Folder)
        # The name of a path such as . or .. is that of the folder it leads to; a symbolic link has its own.
        name = Path(os.path.abspath(source.path)).name  # noqa: PTH100
        return self._path / (f"{name}.warc.gz" if is_collection else name)

    def check_is_empty(self) -> None:
        """Raises an error if the files of a folder would come to lie among others."""
        if (
            self._is_folder
            and self._path is not None
            and any(isinstance(one, Folder) for one in self._sources)
        ):
            with suppress(FileNotFoundError):
                if any(self._path.iterdir()):
                    raise InvalidArgument(f"{self._path} is not empty", hint="name a new folder")

    def write(self, verdicts: Verdicts, told: Callable[[int], object], work: Work | None = None) -> None:
        """Copies what is left; ``told`` receives the number of sources that are done."""
        if self._is_folder:
            self._write_folder(verdicts, told, work)
            return
        with (
            new_file(self._path, work.token if work else "") as file,
            writing(file, self._packing()) as out,
        ):
            for number, source in enumerate(self._sources):
                if self._as_json:
                    write_json_lines(source, verdicts, out)
                else:
                    source.copy(verdicts, out)
                told(number + 1)

    def _packing(self) -> str:
        """The name that says how text is compressed; other forms are as they are."""
        return self._out if self._as_json or all(source.is_text for source in self._sources) else ""

    def _write_folder(self, verdicts: Verdicts, told: Callable[[int], object], work: Work | None) -> None:
        """Writes file by file, each under its name once it is whole; after a crash the same command writes them again."""
        assert self._path is not None
        with _alone(self._path):
            if work is not None:
                if not work.has_begun:
                    self.check_is_empty()
                work.begin()
            token = work.token if work else ""
            for number, (source, place) in enumerate(zip(self._sources, self._places, strict=True)):
                if isinstance(source, Folder):
                    source.copy_files(verdicts, place, token)
                else:
                    with (
                        new_file(place, token) as file,
                        writing(file, place.name if source.is_text else "") as out,
                    ):
                        source.copy(verdicts, out)
                told(number + 1)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Makes a folder to which no other process writes a corpus at the same time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    try:
        # Some network file systems do not lock folders.
        with suppress(OSError):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StorageError(
                    f"another process is writing to {folder}", folder, hint="wait until it ends"
                ) from None
        yield
    finally:
        os.close(opened)


def write_clusters(path: str, clusters: Clusters, ledger: Ledger, token: str = "") -> None:
    """A line for each cluster of two or more: the id that is kept, and the ids that are dropped."""
    encode = msgspec.json.Encoder().encode

    def lines(out: IO[bytes]) -> None:
        for leaders, dropped in clusters.batches(_DROPPED):
            names = iter(ledger.ids(np.concatenate(dropped)))
            rows = zip(ledger.ids(leaders), dropped, strict=True)
            encoded = (encode({"keep": kept, "drop": list(islice(names, len(some)))}) for kept, some in rows)
            out.write(b"".join(row + b"\n" for row in encoded))

    _written(path, lines, token)


def write_pairs(path: str, found: Pairs, ledger: Ledger, token: str = "") -> tuple[int, list[int]]:
    """A line for each pair, if there is a path; returns their number, and counts by similarity."""
    encode = msgspec.json.Encoder().encode
    counts, total = np.zeros(BINS, np.int64), 0

    def lines(out: IO[bytes] | None) -> None:
        nonlocal total
        while True:
            ones, others, similarities = map(np.asarray, found.pairs(total, _PAIRS))
            if not len(ones):
                return
            total += len(ones)
            counts[:] += np.bincount(steps_of(similarities), minlength=BINS)
            if out is not None:
                rows = zip(ledger.ids(ones), ledger.ids(others), similarities.tolist(), strict=True)
                out.write(
                    b"".join(
                        encode({"a": one, "b": other, "similarity": round(share, 6)}) + b"\n"
                        for one, other, share in rows
                    )
                )

    _written(path, lines, token) if path else lines(None)
    return total, counts.tolist()


def steps_of(similarities: NDArray[np.float64]) -> NDArray[np.int64]:
    """The step of similarity that each belongs to. They are rounded: 0.7 as a number of 32 bits is a little less."""
    steps = np.floor(np.clip(similarities, 0, 1) * BINS + 1e-5).astype(np.int64)
    return np.minimum(steps, BINS - 1)


def _written(path: str, lines: Callable[[IO[bytes]], None], token: str) -> None:
    with (
        new_file(None if path == STANDARD_OUTPUT else Path(path), token) as file,
        writing(file, path) as out,
    ):
        lines(out)
