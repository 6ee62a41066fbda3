"""Statistics of the index of a collection: its contents, and the cost of each part."""

from __future__ import annotations

from typing import Any

import msgspec

from crivello._core import Layout, index_stats
from crivello.collection import Collection


def stats(collection: Collection) -> dict[str, Any]:
    """Documents, terms, postings, bytes by section, and bits an integer for every code on a sample of the lists."""
    found: dict[str, Any] = msgspec.json.decode(
        index_stats(collection.folder / Layout.INDEX, collection.segments)
    )
    return found
