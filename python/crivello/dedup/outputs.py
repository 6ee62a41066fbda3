"""Where results go: the corpus without its duplicates, the pairs and the clusters. Files appear whole under their names."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
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
from crivello.errors import InvalidArgument, StorageError

STANDARD_OUTPUT = "-"
_PAIRS = 1 << 16
_DROPPED = 1 << 14
_JSON = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson")


class Pairs(Protocol):
    """Verified pairs, in order."""

    def pairs(self, start: int, count: int) -> tuple[Array, Array, Array]:
        """Some of them: both numbers, and the similarity."""


def check_outputs(outputs: Sequence[str], inputs: Sequence[Source]) -> None:
    """Refuses outputs that would overwrite an input or each other, or become part of an input that is a folder."""
    seen: set[Path] = set()
    for name in outputs:
        path = Path(name).resolve()
        if path in seen:
            raise InvalidArgument(f"{name} is named for two outputs", hint="name another file")
        seen.add(path)
        for source in inputs:
            place = source.path.resolve()
            if place == path and not path.is_dir():
                raise InvalidArgument(
                    f"{name} is an input, and would be overwritten", hint="name another file"
                )
            if source.path.is_dir() and place in (path, *path.parents):
                raise InvalidArgument(
                    f"{name} would be among the files of the input {source.name}", hint="name one elsewhere"
                )


class Copy:
    """The corpus without its duplicates, in the form of the input or as JSON lines.

    A name that ends with a slash, and that of a folder, is a folder with a file for each input, under the same name.
    """

    def __init__(self, out: str, sources: Sequence[Source], *, rewrites: bool) -> None:
        """Raises any error about the name and the sources before work begins."""
        self._out, self._sources = out, sources
        self._path = None if out == STANDARD_OUTPUT else Path(out)
        self._is_folder = out.endswith("/") or (self._path is not None and self._path.is_dir())
        self._as_json = out.endswith(_JSON) and any(source.form != "jsonl" for source in sources)
        if self._as_json:
            return
        if rewrites and (fixed := next((one for one in sources if not one.can_rewrite), None)):
            raise InvalidArgument(
                f"{fixed.name} is copied as it is, and so without whole documents only",
                hint="let --out end in .jsonl to write what is left of each text",
            )
        forms = {source.form for source in sources}
        if self._is_folder:
            self._check_folder()
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

    def _check_folder(self) -> None:
        assert self._path is not None
        if any(source.form == "folder" for source in self._sources):
            with suppress(FileNotFoundError):
                if any(self._path.iterdir()):
                    raise InvalidArgument(f"{self._path} is not empty", hint="name a new folder")
        names = [source.path.name for source in self._sources]
        if len(set(names)) < len(names):
            raise InvalidArgument("two inputs have the same name", hint="let --out be a file")
        for source in self._sources:
            if (self._path / source.path.name).resolve() == source.path.resolve():
                raise InvalidArgument(f"{source.name} would be overwritten", hint="name another folder")

    def write(self, verdicts: Verdicts, told: Callable[[int], object]) -> None:
        """Copies what is left; ``told`` receives the number of sources that are done."""
        if self._is_folder and not self._as_json:
            self._write_folder(verdicts, told)
            return
        with new_file(self._path) as file, writing(file, self._packing()) as out:
            for number, source in enumerate(self._sources):
                if self._as_json:
                    write_json_lines(source, verdicts, out)
                else:
                    source.copy(verdicts, out, is_first=number == 0)
                told(number + 1)

    def _packing(self) -> str:
        """The name that says how text is compressed; other forms are as they are."""
        return self._out if self._as_json or all(source.is_text for source in self._sources) else ""

    def _write_folder(self, verdicts: Verdicts, told: Callable[[int], object]) -> None:
        assert self._path is not None
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError.of(error, self._path) from None
        for number, source in enumerate(self._sources):
            if isinstance(source, Folder):
                _copy_folder(source, verdicts, self._path)
            else:
                name = source.path.name + (".warc.gz" if source.path.is_dir() else "")
                with (
                    new_file(self._path / name) as file,
                    writing(file, name if source.is_text else "") as out,
                ):
                    source.copy(verdicts, out, is_first=True)
            told(number + 1)


def _copy_folder(source: Folder, verdicts: Verdicts, target: Path) -> None:
    """Copies into a folder that gets its name when it is whole."""
    made = target.with_name(f"{target.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    try:
        made.mkdir(parents=True)
        source.copy_files(verdicts, made)
        for entry in made.iterdir():
            entry.replace(target / entry.name)
    except OSError as error:
        raise StorageError.of(error, target) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_clusters(path: str, clusters: Clusters, ledger: Ledger) -> None:
    """A line for each cluster of two or more: the id that is kept, and the ids that are dropped."""
    encode = msgspec.json.Encoder().encode

    def lines(out: IO[bytes]) -> None:
        for leaders, dropped in clusters.batches(_DROPPED):
            names = iter(ledger.ids(np.concatenate(dropped)))
            rows = zip(ledger.ids(leaders), dropped, strict=True)
            encoded = (encode({"keep": kept, "drop": list(islice(names, len(some)))}) for kept, some in rows)
            out.write(b"".join(row + b"\n" for row in encoded))

    _written(path, lines)


def write_pairs(path: str, found: Pairs, ledger: Ledger) -> tuple[int, list[int]]:
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
            counts[:] += _histogram(similarities)
            if out is not None:
                rows = zip(ledger.ids(ones), ledger.ids(others), similarities.tolist(), strict=True)
                out.write(
                    b"".join(
                        encode({"a": one, "b": other, "similarity": round(share, 6)}) + b"\n"
                        for one, other, share in rows
                    )
                )

    _written(path, lines) if path else lines(None)
    return total, counts.tolist()


def _histogram(similarities: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.histogram(np.clip(similarities, 0, 1), BINS, (0, 1))[0]


def _written(path: str, lines: Callable[[IO[bytes]], None]) -> None:
    with (
        new_file(None if path == STANDARD_OUTPUT else Path(path)) as file,
        writing(file, path) as out,
    ):
        lines(out)
