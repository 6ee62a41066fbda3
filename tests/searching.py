"""Searches over an index that a test built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.index import Segment
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings
from crivello.settings import Settings, load, settings_of


def indexing(**options: Any) -> Settings:
    """The settings with other ones of the index and its codes, by their names alone."""
    codes = {setting.name for setting in settings_of("index.codes")}
    index = {name: value for name, value in options.items() if name not in codes}
    index["codes"] = {name: value for name, value in options.items() if name in codes}
    return load(flags={"index": index}, environment={})


def opened(
    folder: Path, segments: list[Segment], ranks: tuple[Path, int, str] | None = None, **settings: Any
) -> Search:
    """An index open for searching by score alone, unless settings say otherwise: nothing is folded or mixed."""
    plain = {"collapse": -1, "per_site": 0, "suggest": False, "time_limit": 0.0, **settings}
    return Search(folder, segments, ranks, SearchSettings(**plain))
