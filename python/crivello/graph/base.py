"""What every family of measures stands on: the arcs of a graph and the names of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello._core import Arcs, Progress
from crivello.errors import InvalidArgument


class Names(Protocol):
    """The names of nodes: by number, and back."""

    def __len__(self) -> int: ...
    def __getitem__(self, node: int, /) -> str: ...
    def find(self, name: str, /) -> int | None:
        """The node with a name; None if there is none."""


class ListedNames:
    """Names in a list, in node order."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._nodes = {name: node for node, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, node: int, /) -> str:
        return self._names[node]

    def find(self, name: str, /) -> int | None:
        return self._nodes.get(name)


class Base:
    """A directed graph: nodes are numbered from 0, arcs are distinct, and may have weights and names."""

    def __init__(self, arcs: Arcs, names: Names | Sequence[str] | None = None) -> None:
        if names is not None and not hasattr(names, "find"):
            names = ListedNames(names)
        if names is not None and len(names) != arcs.nodes:
            raise InvalidArgument(f"there are {len(names):,} names for {arcs.nodes:,} nodes")
        self._arcs = arcs
        self._names: Names | None = names
        self._progress: Progress | None = None

    @classmethod
    def from_arcs(
        cls,
        sources: ArrayLike,
        targets: ArrayLike,
        *,
        nodes: int | None = None,
        count: bool = False,
        names: Sequence[str] | None = None,
    ) -> Self:
        """The graph with an arc from ``sources[i]`` to ``targets[i]`` for every i.

        Parallel arcs are one arc; with ``count`` their number is its weight. ``nodes`` is one more than the
        largest number unless given.
        """
        ends = (_numbers(sources, "sources"), _numbers(targets, "targets"))
        if nodes is None:
            nodes = (
                len(names)
                if names is not None
                else max((int(end.max()) + 1 for end in ends if len(end)), default=0)
            )
        return cls(Arcs.from_arcs(nodes, ends[0], ends[1], count), names)

    def __repr__(self) -> str:
        return f"<Graph: {self.nodes:,} nodes, {self.arcs:,} arcs{', weighted' if self.weighted else ''}>"

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self._arcs.nodes

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return self._arcs.arcs

    @property
    def weighted(self) -> bool:
        """Whether the arcs have weights (the numbers of parallel arcs)."""
        return self._arcs.weighted

    @property
    def bits_per_link(self) -> float:
        """Bits per link in the lists of the compressed file, or of the one that would be written.

        Offsets, weights and names are not counted. A graph in memory is compressed to know it, once.
        """
        return self._arcs.bits_per_link

    @property
    def names(self) -> Names | None:
        """The names of the nodes; None if they are numbers."""
        return self._names

    def name(self, node: int) -> str:
        """The name of a node: its number, if it has none."""
        return str(node) if self._names is None else self._names[node]

    def node(self, name: str | int) -> int:
        """The node with a name (or a number); a clear error if there is none."""
        found: int | None
        if isinstance(name, int) or self._names is None:
            try:
                found = int(name)
            except ValueError:
                found = None
            if found is not None and not 0 <= found < self.nodes:
                found = None
        else:
            found = self._names.find(name)
        if found is None:
            raise InvalidArgument(f"the graph has no node {name}")
        return found

    def successors(self, node: int) -> NDArray[np.uint32]:
        """The nodes that a node has arcs to, increasing."""
        return np.asarray(self._arcs.successors(node))

    def showing(self, progress: Progress | None) -> Self:
        """The same graph; its measures report how far they have come to ``progress``."""
        other = type(self).__new__(type(self))
        other.__dict__ = {**self.__dict__, "_progress": progress}
        return other


def _numbers(given: ArrayLike, what: str) -> NDArray[np.uint32]:
    """Node numbers as the native code wants them."""
    array = np.asarray(given)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise InvalidArgument(f"the {what} must be a list of node numbers")
    if len(array) and (array.min() < 0 or array.max() >= 2**32):
        wrong = array.min() if array.min() < 0 else array.max()
        raise InvalidArgument(f"{wrong} is not a node: they go from 0 to {2**32 - 1}")
    return np.ascontiguousarray(array, dtype=np.uint32)
