"""Indexes of the pages of ``bench._pages``, cached next to them.

``ours`` and ``tantivy`` hold the same terms of one field, title and body; ``collection`` is built by
``crivello index``, and ``stored-tantivy`` also stores what tantivy needs to show hits. An index is rebuilt if
the pages are newer, and ours also if the core is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench._pages import documents, kept
from crivello import _core, analyze
from crivello.collection import Collection
from crivello.index import Document, Index

MEMORY = 1_000_000_000


def ours() -> _core.Searcher:
    """Our index of one field, with default options."""
    folder = _made("ours", _make_ours, _core_file())
    return _core.Searcher(folder, [(file.name, file.stat().st_size) for file in sorted(folder.glob("*.seg"))])


def tantivy() -> tuple[Any, Any]:
    """tantivy's index of our terms, in one segment: its searcher and its schema."""
    import tantivy

    index = tantivy.Index.open(str(_made("tantivy", _make_tantivy)))
    return index.searcher(), index.schema


def stored_tantivy() -> Path:
    """The folder of tantivy's index of title and body, with its own analyzer and stored fields."""
    return _made("stored-tantivy", _make_stored_tantivy)


def collection() -> Collection:
    """The collection of the pages."""
    return Collection(_made("collection", _make_collection, _core_file()))


def command(*arguments: str) -> list[str]:
    """A ``crivello`` command line of this installation."""
    return [sys.executable, "-c", "from crivello.cli import main; main()", *arguments]


def _core_file() -> Path:
    assert _core.__file__
    return Path(_core.__file__)


def _made(name: str, make: Callable[[Path], None], *sources: Path) -> Path:
    folder = kept().parent / "search-bench" / name
    newest = max(source.stat().st_mtime for source in (kept(), *sources))
    if not folder.is_dir() or folder.stat().st_mtime < newest:
        unfinished = folder.with_suffix(".tmp")
        for old in (folder, unfinished):
            shutil.rmtree(old, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _pages() -> Iterator[Document]:
    for page in documents():
        yield Document(page.url, "", f"{page.title}\n{page.body}", page.language)


def _make_ours(folder: Path) -> None:
    Index(folder).add(_pages())


def _make_tantivy(folder: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="terms", index_option="position")
    index = tantivy.Index(builder.build(), path=str(folder))
    plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("terms", plain)
    terms = (" ".join(word.term for word in analyze(page.body, page.language)) for page in _pages())
    _fill(index, (tantivy.Document(body=text) for text in terms))


def _make_stored_tantivy(folder: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    for zone in ("title", "body"):
        builder.add_text_field(zone, stored=True, tokenizer_name="en_stem", index_option="position")
    index = tantivy.Index(builder.build(), path=str(folder))
    pages = documents()
    _fill(index, (tantivy.Document(url=page.url, title=page.title, body=page.body) for page in pages))


def _fill(index: Any, rows: Iterator[Any]) -> None:
    writer = index.writer(heap_size=MEMORY, num_threads=1)
    for row in rows:
        writer.add_document(row)
    writer.commit()
    writer.wait_merging_threads()


def _make_collection(folder: Path) -> None:
    subprocess.run(command("index", str(folder), "--from", str(kept())), check=True)
