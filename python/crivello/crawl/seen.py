"""Looks a URL up in the files of the sieve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crivello import _core

if TYPE_CHECKING:
    from crivello.collection import Collection


def depth_in_frontier(collection: Collection, url: str) -> int | None:
    """The number of links from a seed to a URL; ``None`` if the sieve has not seen the URL."""
    for name, length in sorted(collection.files.items()):
        if name.startswith(f"{_core.Layout.FRONTIER}/") and not name.endswith("/") and length:
            depth = _core.depth_of(collection.folder / name, length, url)
            if depth is not None:
                return depth
    return None
