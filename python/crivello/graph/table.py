"""The values of measures as a file: a text, a NumPy array or a Parquet file, with all nodes in node order.

A file is written beside its final place and renamed when it is complete, so an interruption leaves nothing
behind, and a reader never sees half a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello._extras import optional
from crivello.errors import InvalidArgument, StorageError
from crivello.graph.base import Base

_BATCH = 100_000


def check_table(file: Path) -> None:
    """Raises ``InvalidArgument`` if the file name does not end in a supported format."""
    if file.suffix.lower() not in _WRITERS:
        raise InvalidArgument(
            f"{file} is no name for a table", hint=f"let it end in {', '.join(_WRITERS)}, as in ranks.tsv"
        )


def write_table(graph: Base, scores: Mapping[str, NDArray[np.float64]], file: Path) -> None:
    """Writes the values of all nodes, in node order; the format follows the extension.

    ``.tsv`` has a heading and a line per node: its name and its values. ``.npy`` has the values alone: an array
    with an entry per node, or a row per node for several measures. ``.parquet`` has the columns ``node``,
    ``name`` (if nodes have names) and one per measure.
    """
    check_table(file)
    with replacing(file) as new:
        _WRITERS[file.suffix.lower()](graph, scores, new)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A new file beside ``file`` that takes its place if nothing is raised, and is removed otherwise."""
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        yield new
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(file)
    except OSError as error:
        raise StorageError.of(error, file) from None
    finally:
        new.unlink(missing_ok=True)


def _write_text(graph: Base, scores: Mapping[str, NDArray[np.float64]], file: Path) -> None:
    columns = [np.asarray(values) for values in scores.values()]
    with file.open("w", encoding="utf-8", newline="\n") as out:
        out.write("\t".join(("node", *scores)) + "\n")
        for start in range(0, graph.nodes, _BATCH):
            nodes = range(start, min(start + _BATCH, graph.nodes))
            values = zip(*(column[nodes.start : nodes.stop].tolist() for column in columns), strict=True)
            out.writelines(
                "\t".join((_field(graph.name(node)), *map(repr, row))) + "\n"
                for node, row in zip(nodes, values, strict=True)
            )


def _field(name: str) -> str:
    """A name without the characters that separate fields and lines."""
    return name.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _write_array(_: Base, scores: Mapping[str, NDArray[np.float64]], file: Path) -> None:
    columns = [np.asarray(values) for values in scores.values()]
    with file.open("wb") as out:
        np.save(out, columns[0] if len(columns) == 1 else np.column_stack(columns), allow_pickle=False)


def _write_parquet(graph: Base, scores: Mapping[str, NDArray[np.float64]], file: Path) -> None:
    with optional():
        import duckdb

    named = {"name": "VARCHAR"} if graph.names is not None else {}
    types = {"node": "UINTEGER", **named, **dict.fromkeys(scores, "DOUBLE")}
    quoted = ", ".join(f"{_quoted(name)} {kind}" for name, kind in types.items())
    try:
        with duckdb.connect(":memory:") as database:
            database.execute(f"CREATE TABLE scores ({quoted})")
            for start in range(0, graph.nodes, _BATCH):
                nodes = range(start, min(start + _BATCH, graph.nodes))
                batch: dict[str, NDArray[Any]] = {"node": np.arange(nodes.start, nodes.stop, dtype=np.uint32)}
                if named:
                    batch["name"] = np.array([graph.name(node) for node in nodes], dtype=object)
                for name, values in scores.items():
                    batch[name] = np.asarray(values)[nodes.start : nodes.stop]
                database.register("batch", batch)
                database.execute("INSERT INTO scores SELECT * FROM batch")
                database.unregister("batch")
            path = str(file).replace("'", "''")
            database.execute(f"COPY scores TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.IOException as error:
        raise StorageError(f"{file}: {error}", file) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_WRITERS: dict[str, Callable[[Base, Mapping[str, NDArray[np.float64]], Path], None]] = {
    ".tsv": _write_text,
    ".npy": _write_array,
    ".parquet": _write_parquet,
}
