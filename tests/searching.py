"""Searches over an index that a test built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.index import Segment
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings


def opened(
    folder: Path, segments: list[Segment], ranks: tuple[Path, int] | None = None, **settings: Any
) -> Search:
    """An index open for searching by score alone, unless settings say otherwise: nothing is folded or mixed."""
    plain = {"collapse": -1, "per_site": 0, "suggest": False, "time_limit": 0.0, **settings}
    return Search(folder, segments, ranks, SearchSettings(**plain))
