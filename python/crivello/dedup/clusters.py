"""Which document stands for which: clusters as an array of leaders, one for each document, a leader being its own.

The first documents may be references (of another corpus), which always stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crivello.dedup.options import Keep

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Clusters:
    """The leader of each document, and the number of references."""

    leaders: NDArray[np.uint32]
    references: int = 0

    @classmethod
    def kept_by(
        cls, keep: Keep, leaders: NDArray[np.uint32], lengths: NDArray[np.uint32], references: int
    ) -> Clusters:
        """Clusters led by their first document, or by the longest one; a reference leads in any case."""
        if keep is Keep.FIRST:
            return cls(leaders, references)
        dropped = np.flatnonzero(leaders != np.arange(len(leaders)))
        dropped = dropped[leaders[dropped] >= references]
        members = np.union1d(dropped, leaders[dropped]).astype(np.int64)
        order = np.lexsort((members, -lengths[members].astype(np.int64), leaders[members]))
        members = members[order]
        firsts = np.flatnonzero(np.diff(leaders[members], prepend=-1))
        sizes = np.diff(firsts, append=len(members))
        leaders = leaders.copy()
        leaders[members] = np.repeat(members[firsts], sizes)
        return cls(leaders, references)

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Whether each document that is no reference stays."""
        numbers = np.arange(self.references, len(self.leaders), dtype=np.uint32)
        return np.equal(self.leaders[self.references :], numbers)

    def _dropped(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.leaders != np.arange(len(self.leaders), dtype=np.uint32))

    def sizes(self) -> NDArray[np.int64]:
        """The number of documents of each cluster, with its leader, from the largest down."""
        dropped = self._dropped()
        return np.sort(np.unique(self.leaders[dropped], return_counts=True)[1] + 1)[::-1]

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The leader of each cluster of two or more, and the others."""
        for leaders, dropped in self.batches(len(self.leaders)):
            yield from zip(leaders.tolist(), dropped, strict=True)

    def batches(self, size: int) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.int64]]]]:
        """The leaders of some clusters of two or more, and the others of each; as many as have about ``size`` others
        together."""
        dropped = self._dropped()
        order: NDArray[Any] = np.argsort(self.leaders[dropped], kind="stable")
        dropped = dropped[order]
        leaders = self.leaders[dropped].astype(np.int64)
        starts = np.flatnonzero(np.diff(leaders, prepend=-1))
        # The first cluster of each batch.
        firsts = np.flatnonzero(np.diff(starts // max(1, size), prepend=-1))
        for first, last in pairwise([*firsts.tolist(), len(starts)]):
            begin, end = starts[first], starts[last] if last < len(starts) else len(dropped)
            yield leaders[starts[first:last]], np.split(dropped[begin:end], starts[first + 1 : last] - begin)
