"""The group of each node, as a NumPy array that knows the groups: components, places, hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crivello._core import Array


class Groups(np.ndarray):
    """A NumPy array (uint32) with the number of each node's group, in node order.

    ``sizes`` has the number of nodes of each group, and ``names`` their names, if they have any. Arrays
    derived from it by arithmetic or slicing are not about all nodes any more, and have neither.

    >>> components = graph.strong_components()
    >>> len(components.sizes), components.sizes[0]
    (5816, 1300)
    >>> components.members(0)
    array([   0,    2, ...])
    """

    sizes: NDArray[np.uint64]
    names: Sequence[str] | None

    def __new__(
        cls,
        numbers: ArrayLike | Array,
        sizes: ArrayLike | Array | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        made = np.array(numbers, dtype=np.uint32).view(cls)
        if sizes is None:
            sizes = np.bincount(np.asarray(made), minlength=len(names) if names is not None else 0)
        made.sizes = np.array(sizes, dtype=np.uint64)
        made.names = names
        return made

    def __array_finalize__(self, given: Any) -> None:
        self.sizes = np.zeros(0, np.uint64)
        self.names = None

    def members(self, group: int | str) -> NDArray[np.intp]:
        """The nodes of a group, increasing; the group by number or by name."""
        if isinstance(group, str):
            group = list(self.names or ()).index(group)
        return np.flatnonzero(np.asarray(self) == group)

    def counts(self) -> dict[str, int]:
        """The number of nodes of each group, by its name (its number, if it has none)."""
        names = self.names if self.names is not None else range(len(self.sizes))
        return {str(name): int(size) for name, size in zip(names, self.sizes, strict=True)}
