"""Crivello: a web search engine in a box, from a few URLs to ranked answers.

    >>> import crivello
    >>> with crivello.create("small", crawl={"delay": 0.02}) as collection:
    ...     collection.crawl("https://www.example.org/", max_pages=1000)
    ...     collection.index()
    ...     collection.rank()
    ...     for hit in collection.search("lava", top=3):
    ...         print(hit.title, hit.url)

A collection is a folder. ``crivello.create`` makes one, ``crivello.open`` opens it for reading, and
``crivello.open(folder, write=True)`` for writing. ``Collection`` has a method for each task, by the name of the
command in the shell: crawl, index, rank, search, pages, status, why, serve.

The libraries behind it stand alone:

    codes         integers in few bits, and the theory of codes
    crawl         the crawl and its report, and which links come first
    dictionaries  static functions, ranks and sets of keys that are not kept
    errors        everything that Crivello raises on purpose
    evaluate      how good answers are: measures of runs, and runs against each other
    extend        classes of your own: what each is asked, and what happens when it fails
    filters       sets in a fixed number of bits: Bloom, blocked Bloom, Stable Bloom
    graph         the link graph and PageRank, of a crawl or of any edge list
    index         documents to segments, without a collection
    lab           a sample web to try everything on, and studies
    reports       what the methods of a collection give
    search        queries as objects, and what an answer is
    settings      every setting, with its limits and its description
    sieve         each URL once, in first-seen order, in constant memory
    stream        duplicates in a stream of lines, in constant memory

What these list in their ``__all__`` is public. All other modules are private, as are those inside a library, and
may change. Everything is loaded when it is first used, so ``import crivello`` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from crivello import codes as codes
    from crivello import crawl as crawl
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
    "codes",
    "crawl",
    "create",
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
    """Makes a collection in a new or empty folder, and opens it for writing.

    A section of the settings is a keyword, and is kept in the collection's ``crivello.toml``:

        >>> collection = crivello.create("small", crawl={"delay": 0.02, "scope": "domain"})

    Where there is a collection already, that is an error: ``open(folder, write=True)`` goes on with it.
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
    """Opens a collection: for reading, or with ``write`` as its one writer.

    Sections of the settings are keywords, and win over ``crivello.toml`` for as long as it is open:

        >>> collection = crivello.open("small", search={"scorer": "bm25"})
    """
    from pathlib import Path

    from crivello.collection import Collection
    from crivello.settings import Settings
    from crivello.settings.given import with_sections

    with_sections(Settings(), sections)  # a mistake is told before the folder is locked
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
