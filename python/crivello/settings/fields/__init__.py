"""The definitions of all settings, a module for each section: each field is a flag, an environment variable and a
line of ``crivello.toml``.

A field specifies its group in the help, its description, the allowed values, the default, and who reads it:
the native core receives a complete section (``crivello.settings.for_core``), except for fields with
``python=True``. The choices of an enumerated setting that the core knows come from it (``_core.choices``).
"""

from __future__ import annotations

import msgspec

from crivello.settings.fields.cluster import Cluster
from crivello.settings.fields.crawl import Crawl
from crivello.settings.fields.index import Index, IndexCodes
from crivello.settings.fields.rank import Rank
from crivello.settings.fields.refresh import Refresh
from crivello.settings.fields.search import Search
from crivello.settings.fields.serve import Serve
from crivello.settings.fields.store import Store

__all__ = [
    "Cluster",
    "Crawl",
    "Index",
    "IndexCodes",
    "Rank",
    "Refresh",
    "Search",
    "Serve",
    "Settings",
    "Store",
]


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """All settings, one section for each part."""

    crawl: Crawl = Crawl()
    store: Store = Store()
    index: Index = Index()
    index_codes: IndexCodes = IndexCodes()
    rank: Rank = Rank()
    refresh: Refresh = Refresh()
    search: Search = Search()
    serve: Serve = Serve()
    cluster: Cluster = Cluster()
