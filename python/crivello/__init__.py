"""Crivello: a web search engine in a box, from a few URLs to ranked answers.

    >>> import crivello
    >>> with crivello.create("small", crawl={"delay": 0.02}) as collection:
    ...     collection.crawl("https://www.example.org/", max_pages=1000)
    ...     collection.index()
    ...     collection.rank()
    ...     for hit in collection.search("lava", top=3):
    ...         print(hit.title, hit.url)

A collection is a folder. ``crivello.create`` creates one, ``crivello.open`` opens it for reading, and
``crivello.open(folder, write=True)`` for writing. ``Collection`` has a method for each task, with the name of
the shell command: crawl, index, rank, search, pages, status, why, serve.

The libraries can be used on their own:

    assignment    which of many agents a host belongs to, computed by each alone
    codes         integer codes, and the theory of codes
    crawl         the crawl and its report, and crawl priorities
    dedup         duplicates and near-duplicates of any corpus
    dictionaries  static functions, minimal perfect hashes and approximate sets that do not store their keys
    errors        all exceptions of Crivello
    evaluate      retrieval effectiveness: measures of runs, and comparisons of two runs
    extend        protocols for user-defined classes, and what happens when one fails
    filters       sets in a fixed number of bits: Bloom, blocked Bloom, Stable Bloom
    graph         the link graph and PageRank, of a crawl or of any edge list
    index         an inverted index of documents, without a collection
    lab           a sample web to try everything on, and studies
    reports       the return types of the methods of a collection
    search        queries as objects, and the types of results
    settings      all settings, with their limits and descriptions
    sieve         deduplicates URLs in first-seen order, in constant memory
    stream        duplicate detection in streams of lines, in constant memory

The names in their ``__all__`` are public. All other modules, including those inside a library, are private
and may change. Modules are loaded lazily, so ``import crivello`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from crivello import assignment as assignment
    from crivello import codes as codes
    from crivello import crawl as crawl
    from crivello import dedup as dedup
    from crivello import dictionaries as dictionaries
    from crivello import errors as errors
    from crivello import evaluate as evaluate
    from crivello import extend as extend
    from crivello import filters as filters
    from crivello import graph as graph
    from crivello import index as index
    from crivello import lab as lab
    from crivello import reports as reports
    from crivello import search as search
    from crivello import settings as settings
    from crivello import sieve as sieve
    from crivello import stream as stream
    from crivello.analysis import analyze as analyze
    from crivello.collection import Collection as Collection
    from crivello.errors import CrivelloError as CrivelloError
    from crivello.index import Document as Document

    __version__: str

__all__ = [
    "Collection",
    "CrivelloError",
    "Document",
    "analyze",
    "assignment",
    "codes",
    "crawl",
    "create",
    "dedup",
    "dictionaries",
    "errors",
    "evaluate",
    "extend",
    "filters",
    "graph",
    "index",
    "lab",
    "open",
    "reports",
    "search",
    "settings",
    "sieve",
    "stream",
]

_HOMES = {
    "Collection": "crivello.collection",
    "CrivelloError": "crivello.errors",
    "Document": "crivello.index",
    "analyze": "crivello.analysis",
}


def create(folder: str | PathLike[str], **sections: Mapping[str, Any]) -> Collection:
    """Creates a collection in a new or empty folder, and opens it for writing.

    Sections of settings are keyword arguments, and are saved in the collection's ``crivello.toml``:

        >>> collection = crivello.create("small", crawl={"delay": 0.02, "scope": "domain"})

    It is an error if the folder is a collection already: use ``open(folder, write=True)`` to continue with
    it.
    """
    from pathlib import Path

    from crivello.collection import Collection
    from crivello.errors import CollectionError, NotACollection
    from crivello.settings import load
    from crivello.settings.given import with_sections

    chosen = with_sections(load(), sections)
    try:
        Collection(Path(folder))
    except NotACollection:
        return Collection.write(Path(folder), settings=chosen, create=True)
    raise CollectionError(
        f"{folder} is a collection already", hint=f"go on with it: crivello.open({str(folder)!r}, write=True)"
    )


def open(folder: str | PathLike[str], *, write: bool = False, **sections: Mapping[str, Any]) -> Collection:
    """Opens a collection for reading or, with ``write``, as its only writer.

    Sections of settings are keyword arguments, and override ``crivello.toml`` while the collection is open:

        >>> collection = crivello.open("small", search={"scorer": "bm25"})
    """
    from pathlib import Path

    from crivello.collection import Collection
    from crivello.settings import Settings
    from crivello.settings.given import with_sections

    with_sections(Settings(), sections)  # report mistakes before locking the folder
    collection = Collection.write(Path(folder)) if write else Collection(Path(folder))
    collection.settings = with_sections(collection.settings, sections)
    return collection


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module("importlib.metadata").version("crivello")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"crivello.{name}")
    raise AttributeError(f"module 'crivello' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
