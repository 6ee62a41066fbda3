"""The section ``[rank]``: the static ranks."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import setting, text

_RANKING = "Static ranks"


class Rank(msgspec.Struct, kw_only=True, frozen=True):
    """How pages are ranked by their links."""

    measure: Annotated[
        str,
        text(_RANKING, "measure by which searches rank pages: see docs/graph.md", python=True),
    ] = "indegree"
    measures: Annotated[
        str,
        text(_RANKING, "other measures kept with each index, separated by spaces", python=True),
    ] = "pagerank katz"
    damping: Annotated[
        float,
        setting(_RANKING, "damping factor of the measures that have one", ge=0, lt=1, python=True),
    ] = 0.85
