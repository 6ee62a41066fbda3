"""Graphs in files and tables: every form that others use, in and out.

    >>> graph = load("wiki-Vote.txt")
    >>> graph.nodes, graph.arcs, graph.name(0)
    (7115, 103689, '3')
    >>> graph.save("wiki-Vote.metis.gz")

The form of a file is found by its content when it is read, and by its extension when it is written:

| form | when written | what it is |
| --- | --- | --- |
| `edge-list` | `.txt`, `.tsv`, `.csv`, `.edges` | a line for each arc: source, target and perhaps a weight |
| `metis` | `.metis` | undirected graphs: a line with the neighbours of each node |
| `common-crawl` | `form="common-crawl"` | a file of vertices and one of edges |
| `crivello` | `.graph` | our own compressed file, mapped when it is read |
| `bvgraph` | `.properties`, or `form="bvgraph"` | the files of the WebGraph framework |

Text may be compressed (`.gz`, `.zst`). The names of a compressed graph are in a file beside it (`.names`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello._core import (
    Arcs,
    NodeNames,
    Progress,
    bvgraph_basename,
    choices,
    convert_graph,
    generate_graph,
    graph_form,
    graph_names_path,
    name_order,
    read_graph,
    write_graph,
)
from crivello._extras import optional
from crivello._tables import Tabular, _package
from crivello.errors import InvalidArgument
from crivello.graph.base import Base
from crivello.settings.numbers import BYTES, parse_number

if TYPE_CHECKING:
    import duckdb
    import scipy.sparse

    from crivello.graph.graph import Graph

MEMORY = "1G"
"""The memory for sorting the arcs of a text, unless it is given."""

FORMS = dict(choices()["graph-form"])
"""The forms of graphs, each with a line about it."""

_EXTENSIONS = {
    ".txt": "edge-list",
    ".tsv": "edge-list",
    ".csv": "edge-list",
    ".edges": "edge-list",
    ".metis": "metis",
    ".graph": "crivello",
    ".properties": "bvgraph",
}
_COMPRESSED_FORMS = ("crivello", "bvgraph")
_COMPRESSED = (".gz", ".zst")


def load(
    path: str | PathLike[str],
    *,
    form: str | None = None,
    count: bool = False,
    memory: int | str = MEMORY,
    scratch: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """The graph in a file of any form, or of a collection's folder.

    The form is found by the content unless it is given. With ``count``, the number of times that an arc occurs
    in a text becomes its weight. A text is sorted within ``memory`` (bytes, or a text such as ``"512M"``);
    what does not fit goes to files without names in the folder ``scratch``.
    """
    from crivello.collection import Collection
    from crivello.graph.graph import Graph

    path = Path(path)
    if path.is_dir():
        return Collection(path).graph()
    form = form_of(path) if form is None else _known(form)
    if form not in _COMPRESSED_FORMS:
        arcs, names = read_graph(path, form, memory_of(memory), count, scratch, progress)
        return Graph(arcs, names)
    bare = bvgraph_basename(path)
    arcs = Arcs.open(path) if form == "crivello" else Arcs.open_bvgraph(bare, progress)
    beside = Path(graph_names_path(path, form))
    return Graph(arcs, NodeNames.open(beside) if beside.exists() else None)


def form_of(path: str | PathLike[str]) -> str:
    """The form of the graph at a path, by its content."""
    return graph_form(path)


def memory_of(memory: int | str) -> int:
    """An amount of memory in bytes."""
    parsed = parse_number(str(memory), BYTES)
    if parsed is None or parsed < 1:
        raise InvalidArgument(f"{memory!r} is not an amount of memory", hint='give bytes, or "512M"')
    return int(parsed)


def _known(form: str) -> str:
    if form not in FORMS:
        raise InvalidArgument(f"there is no form of graphs {form!r}", hint=f"there are {', '.join(FORMS)}")
    return form


def form_to_write(path: str | PathLike[str], form: str | None = None) -> str:
    """The form in which a graph is written to a path: the given one, or that of the extension."""
    if form is not None:
        return _known(form)
    name = os.fspath(path).lower()
    for compressed in _COMPRESSED:
        name = name.removesuffix(compressed)
    found = _EXTENSIONS.get(Path(name).suffix)
    if found is None:
        raise InvalidArgument(
            f"the extension of {path} says nothing about the form of a graph",
            hint=f"use one of {', '.join(_EXTENSIONS)}, or say the form: {', '.join(FORMS)}",
        )
    return found


@dataclass(frozen=True, slots=True)
class Converted:
    """What ``convert`` wrote.

    ``bytes`` is the size of the files, without names that are beside them; ``bits_per_link`` is that of the
    lists alone in our own compressed file.
    """

    nodes: int
    arcs: int
    bytes: int
    bits_per_link: float
    seconds: float


def convert(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    form: str | None = None,
    target_form: str | None = None,
    count: bool = False,
    memory: int | str = MEMORY,
    scratch: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Converted:
    """Converts a graph from one form to another.

    A text is converted list by list: its arcs are sorted within ``memory`` bytes, as in ``load``, and never all in
    memory. A compressed graph or a collection is loaded, and so is what is written as METIS, with its transpose.
    """
    started = time.perf_counter()
    target_form = form_to_write(target, target_form)
    is_collection = Path(source).is_dir()
    given = "" if is_collection else form_of(source) if form is None else _known(form)
    if is_collection or given in _COMPRESSED_FORMS:
        graph = load(source, progress=progress)
        graph.showing(progress).save(target, target_form)
        size = sum(path.stat().st_size for path in _files_at(target, target_form))
        bits = graph.bits_per_link if target_form == "crivello" else 8 * size / max(graph.arcs, 1)
        return Converted(graph.nodes, graph.arcs, size, bits, time.perf_counter() - started)
    done = convert_graph(source, given, target, target_form, memory_of(memory), count, scratch, progress)
    return Converted(*done, time.perf_counter() - started)


def _files_at(path: str | PathLike[str], form: str) -> list[Path]:
    """The files that have the arcs of a graph."""
    if form == "bvgraph":
        return [
            Path(f"{os.fspath(bvgraph_basename(path))}.{end}") for end in ("graph", "offsets", "properties")
        ]
    if form == "common-crawl":
        return [*Path(path).parent.glob(f"{Path(path).name}-*.txt.gz")]
    return [Path(path)]


def generate(
    nodes: int,
    *,
    seed: int = 1,
    degree: float = 25.0,
    copying: float = 0.92,
    progress: Progress | None = None,
) -> Graph:
    """A graph that resembles the web, by the copying model with hosts; the same for the same arguments.

    Nodes are pages in the order of their URLs, a host is a range of them, and a page copies each link of an
    earlier page of its host with probability ``copying``. ``degree`` is about the mean number of links.
    Source: Kumar et al., "Stochastic models for the web graph", 2000. Cost: O(m).
    """
    from crivello.graph.graph import Graph

    return Graph(generate_graph(nodes, seed, degree, copying, progress))


class Files(Base, Tabular):
    """Graphs in files, arrays and tables."""

    def save(self, path: str | PathLike[str], form: str | None = None) -> None:
        """Writes the graph to a file, completely and then renamed; see the module for the forms."""
        form = form_to_write(path, form)
        names = self.stored_names()
        if form not in _COMPRESSED_FORMS:
            write_graph(self._arcs, names, path, form, self._progress)
            return
        if form == "crivello":
            self._arcs.save(path, progress=self._progress)
        else:
            self._arcs.save_bvgraph(bvgraph_basename(path), progress=self._progress)
        beside = Path(graph_names_path(path, form))
        if names is not None:
            names.save(beside)
        else:
            beside.unlink(missing_ok=True)

    def stored_names(self) -> NodeNames | None:
        """The names as native code reads them."""
        names = self._names
        if names is None or isinstance(names, NodeNames):
            return names
        return NodeNames.of([names[node] for node in range(len(names))])

    @classmethod
    def from_csr(
        cls,
        offsets: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        names: Iterable[str] | None = None,
    ) -> Self:
        """The graph in which node v has arcs to ``targets[offsets[v]:offsets[v + 1]]``.

        The targets of a node are increasing and distinct. Arrays of 64-bit offsets and 32-bit targets and
        weights are shared, not copied.
        """
        lists = (
            _unsigned(offsets, np.uint64, "offsets"),
            _unsigned(targets, np.uint32, "targets"),
            None if weights is None else _unsigned(weights, np.uint32, "weights"),
        )
        return cls(Arcs.from_lists(*lists), None if names is None else list(names))

    def csr(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32] | None]:
        """The offsets, targets and weights of the graph, as in ``from_csr``: views, not copies."""
        offsets, targets, weights = self._arcs.csr()
        return np.asarray(offsets), np.asarray(targets), None if weights is None else np.asarray(weights)

    @classmethod
    def from_scipy(cls, matrix: Any, *, names: Iterable[str] | None = None) -> Self:
        """The graph with an arc from i to j for every entry (i, j) of a sparse matrix.

        If some entry is not 1, the entries are weights: numbers from 1 to 2^32 - 1.
        """
        matrix = matrix.tocsr()
        if matrix.shape[0] != matrix.shape[1]:
            raise InvalidArgument(f"the matrix of a graph is square, not {matrix.shape}")
        if not matrix.has_canonical_format or (matrix.data == 0).any():
            matrix = matrix.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        ones = bool((matrix.data == 1).all())
        weights = None if ones else _whole(matrix.data)
        return cls.from_csr(matrix.indptr, matrix.indices, weights, names=names)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix; its entries are 1, or the weights. The targets are shared, not copied."""
        sparse = _package("scipy.sparse")
        if self.nodes >= 2**31:
            raise InvalidArgument("SciPy's matrices have fewer than 2^31 rows")
        offsets, targets, weights = self.csr()
        # SciPy wants one type for both arrays of indices; the targets are the larger one.
        starts = offsets.astype(np.int32) if len(targets) < 2**31 else offsets.view(np.int64)
        data = np.ones(len(targets)) if weights is None else weights
        matrix: scipy.sparse.csr_array = sparse.csr_array(
            (data, targets.view(np.int32), starts), shape=(self.nodes, self.nodes)
        )
        matrix.has_canonical_format = True
        return matrix

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        *,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        nodes: int | None = None,
        count: bool = False,
    ) -> Self:
        """The graph with an arc for every row of a table: of pyarrow, polars or pandas, or a mapping.

        ``source`` and ``target`` are the names of columns, the first two unless given: node numbers, or names,
        which are numbered in their order (see ``load``). ``weight`` is a column of weights.
        """
        columns = _columns(table)
        if len(columns) < 2:
            raise InvalidArgument("a table of arcs has two columns at least")
        chosen = [source or columns[0], target or columns[1], *([weight] if weight else [])]
        for column in chosen:
            if column not in columns:
                raise InvalidArgument(
                    f"the table has no column {column!r}", hint=f"it has {', '.join(columns)}"
                )
        ends = [np.asarray(table[column]) for column in chosen[:2]]
        names: list[str] | None = None
        if any(end.dtype.kind in "OUST" for end in ends):
            ends, names = _numbered(ends)
        if weight is None:
            return cls.from_arcs(ends[0], ends[1], nodes=nodes, count=count, names=names)
        weights = _whole(np.asarray(table[weight]))
        plain = cls.from_arcs(ends[0], ends[1], nodes=nodes, names=names)
        offsets, targets, _ = plain.csr()
        arcs = _packed(plain._arc_columns()["source"], targets)
        # The sum of the weights of each arc, in the order of the arcs.
        sums = np.bincount(np.searchsorted(arcs, _packed(*ends)), weights, minlength=len(arcs))
        return cls.from_csr(offsets, targets, _whole(sums), names=names)

    def _columns(self) -> Mapping[str, str]:
        weight = {"weight": "UINTEGER"} if self.weighted else {}
        return {"source": "UINTEGER", "target": "UINTEGER", **weight}

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        columns = self._arc_columns()
        return zip(*(column.tolist() for column in columns.values()), strict=True)

    def _arc_columns(self) -> dict[str, NDArray[np.uint32]]:
        offsets, targets, weights = self.csr()
        degrees = (offsets[1:] - offsets[:-1]).view(np.int64)
        sources = np.repeat(np.arange(self.nodes, dtype=np.uint32), degrees)
        return {"source": sources, "target": targets, **({} if weights is None else {"weight": weights})}

    def _relation(self) -> duckdb.DuckDBPyRelation:
        with optional():
            import duckdb

        database = duckdb.connect()
        database.register("arcs", self._arc_columns())
        return database.table("arcs")


def _columns(table: Any) -> list[str]:
    """The names of the columns of a table."""
    if isinstance(table, Mapping):
        return [*table]
    for attribute in ("column_names", "columns"):
        if hasattr(table, attribute):
            return [*map(str, getattr(table, attribute))]
    raise InvalidArgument(f"a {type(table).__name__} is not a table of arcs")


def _numbered(ends: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], list[str]]:
    """Names as numbers in their order, and the names."""
    texts, places = np.unique(np.concatenate(ends).astype(str), return_inverse=True)
    names = [str(text) for text in texts]
    order = np.array(name_order(names), dtype=np.uint32)
    numbers = np.empty(len(names), dtype=np.uint32)
    numbers[order] = np.arange(len(names), dtype=np.uint32)
    found = numbers[places]
    return [found[: len(ends[0])], found[len(ends[0]) :]], [names[node] for node in order]


def _packed(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.uint64]:
    """Arcs as single numbers, in the order of arcs."""
    return (sources.astype(np.uint64) << np.uint64(32)) | targets.astype(np.uint64)


def _whole(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Weights as the native code wants them."""
    whole = values.dtype.kind in "iub" or bool((values == np.floor(values)).all())
    if not whole or (len(values) and (values.min() < 1 or values.max() >= 2**32)):
        raise InvalidArgument("the weights of arcs are whole numbers from 1 to 2^32 - 1")
    return values.astype(np.uint32)


def _unsigned(given: ArrayLike, kind: type[np.unsignedinteger[Any]], what: str) -> NDArray[Any]:
    """An array of the native code's type, without a copy if only the sign differs."""
    array = np.asarray(given)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise InvalidArgument(f"the {what} must be an array of whole numbers")
    size = np.dtype(kind).itemsize
    if len(array) and (array.min() < 0 or array.max() >= 2 ** (8 * size)):
        raise InvalidArgument(f"the {what} must be from 0 to 2^{8 * size} - 1")
    if array.dtype.kind == "i" and array.dtype.itemsize == size and array.flags.c_contiguous:
        return array.view(kind)
    return np.ascontiguousarray(array, dtype=kind)
