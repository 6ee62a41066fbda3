"""A random sample of the texts of a corpus: JSON lines, a folder of text files, or a collection.

A file is read once and a folder or a collection is listed; only the sample is kept in memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

from crivello._core import Layout
from crivello.errors import InvalidArgument, StorageError
from crivello.lines import numbered_lines

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
        lines = _reservoir(numbered_lines(corpus), 2 * documents, chosen)
        texts = _until(lines, lambda line: _text_of_line(corpus, line, field), documents)
    if len(texts) < 2:
        raise InvalidArgument(
            f"{corpus} has fewer than two texts of {LEAST_WORDS} words",
            hint="give JSON lines and their --field, a folder of text files, or a collection",
        )
    return texts


def _of_collection(name: str, documents: int, chosen: random.Random) -> list[str]:
    from crivello.collection import Collection

    collection = Collection(name)
    pages = _reservoir((page for page in collection.pages() if page.status == 200), 2 * documents, chosen)
    return _until(pages, lambda page: collection.text(page) or "", documents)


def _text_of_file(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_LARGEST).decode(errors="replace")
    except OSError as error:
        raise StorageError.of(error, file) from None


def _text_of_line(name: str, line: tuple[int, str], field: str) -> str:
    number, text = line
    try:
        found = msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"line {number} of {name} is not a JSON object: {error}") from None
    if not isinstance(found.get(field), str):
        names = ", ".join(name for name, value in found.items() if isinstance(value, str))
        raise InvalidArgument(
            f"line {number} of {name} has no text in the field {field!r}",
            hint=f"name another one with --field: {names}" if names else "",
        )
    return str(found[field])


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
