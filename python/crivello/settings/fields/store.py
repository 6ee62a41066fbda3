"""The section ``[store]``: how pages are kept."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import duration, setting, size

_STORING = "The page store"


class Store(msgspec.Struct, kw_only=True, frozen=True):
    """How pages are kept."""

    memory: Annotated[
        int, size(_STORING, "memory budget in bytes of the table and of the duplicate detection", 2**20)
    ] = 128 * 2**20
    versions: Annotated[
        int, setting(_STORING, "number of versions of a page that the table keeps; 0: all", ge=0)
    ] = 100
    keep: Annotated[
        float,
        duration(_STORING, "seconds for which the table keeps a version after its time; 0: for ever", ge=0),
    ] = 0.0
    requests: Annotated[
        bool, setting(_STORING, "archive the header of each request, as it was sent, beside its response")
    ] = False
