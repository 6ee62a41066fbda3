"""Looks a URL up in the files of the sieve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crivello import _core

if TYPE_CHECKING:
    from crivello.collection import Collection


def depths_in_frontier(collection: Collection, url: str) -> tuple[int, int] | None:
    """The number of links from a seed to a URL, and since its host was entered; ``None`` if the sieve has not
    seen the URL."""
    return _core.depths_of(collection.folder, dict(collection.files), url)
