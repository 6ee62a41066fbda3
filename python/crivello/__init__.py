"""Crivello: a web search engine in a box.

    >>> import crivello
    >>> collection = crivello.Collection("my-collection")
    >>> print(collection.search("solar wind"))

The names below are all there is to import; everything else is private and may change.
They are loaded when first used, so that ``import crivello`` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crivello.analysis import analyze as analyze
    from crivello.collection import Collection as Collection
    from crivello.errors import CrivelloError as CrivelloError

_HOMES = {
    "Collection": "crivello.collection",
    "CrivelloError": "crivello.errors",
    "analyze": "crivello.analysis",
}

__all__ = ["Collection", "CrivelloError", "analyze"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'crivello' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
