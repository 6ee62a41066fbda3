"""A random sample of the texts of a corpus: JSON lines, a folder of text files, or a collection.

A file is read once and a folder or a collection is listed; only the sample is kept in memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from crivello._core import Layout
from crivello.dedup.inputs import Format, open_inputs
from crivello.dedup.options import Options
from crivello.dedup.source import Text, comparable
from crivello.errors import InvalidArgument, StorageError

Item = TypeVar("Item")

# With fewer words a few percent of them are none.
LEAST_WORDS = 20
_LARGEST = 1 << 20


def sample(corpus: str, *, field: str = "text", documents: int = 1000, seed: int = 0) -> list[str]:
    """Up to ``documents`` texts, in random order; those of fewer than 20 words are left out, and of longer ones
    than a mebibyte the beginning is taken."""
    path = Path(corpus)
    chosen = random.Random(seed)
    if path.is_dir() and (path / Layout.MANIFEST).exists():
        texts = _of_collection(corpus, documents, chosen)
    elif path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        texts = _until(chosen.sample(files, len(files)), _text_of_file, documents)
    else:
        lines = _reservoir(_texts_of_lines(corpus, field), 2 * documents, chosen)
        texts = _until(lines, comparable, documents)
    if len(texts) < 2:
        raise InvalidArgument(
            f"{corpus} has fewer than two texts of {LEAST_WORDS} words",
            hint="give JSON lines and their --field, a folder of text files, or a collection",
        )
    return texts


def _of_collection(name: str, documents: int, chosen: random.Random) -> list[str]:
    from crivello.collection import Collection

    collection = Collection(name)
    pages = _reservoir(
        (page for page in collection.pages() if page.status == 200 and page.length), 2 * documents, chosen
    )
    return _until(pages, lambda page: collection.text(page) or "", documents)


def _text_of_file(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_LARGEST).decode(errors="replace")
    except OSError as error:
        raise StorageError.of(error, file) from None


def _texts_of_lines(name: str, field: str) -> Iterator[Text]:
    """The texts of JSON lines, which are what ``crivello dedup`` takes for them."""
    limit = Options().largest_document
    with TemporaryDirectory(prefix="crivello-lab-") as spool:
        for source in open_inputs(
            [name], format=Format.JSONL, field=field, id="id", limit=limit, spool=Path(spool)
        ):
            for batch in source.batches():
                yield from batch.texts


def _until(items: Iterable[Item], text_of: Callable[[Item], str], documents: int) -> list[str]:
    texts: list[str] = []
    for item in items:
        text = text_of(item)[:_LARGEST]
        if len(text.split(None, LEAST_WORDS)) >= LEAST_WORDS:
            texts.append(text)
        if len(texts) == documents:
            break
    return texts


def _reservoir(items: Iterable[Item], count: int, chosen: random.Random) -> list[Item]:
    """``count`` of the items, each with the same probability, in random order (Vitter's algorithm R)."""
    kept: list[Item] = []
    for seen, item in enumerate(items):
        if seen < count:
            kept.append(item)
        elif (place := chosen.randrange(seen + 1)) < count:
            kept[place] = item
    chosen.shuffle(kept)
    return kept
