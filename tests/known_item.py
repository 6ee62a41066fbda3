"""Known items: a page that somebody has seen, looked for by its title and a rare word of its text.

    CRIVELLO_REALWEB_PAGES=pages.jsonl

names a file of JSON lines with pages of a real web: ``{"url", "title", "body"}``. A page counts as found where it, or one
with the very same text, is among the first three.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from crivello._core import Searcher, analyze
from crivello.index import Document, Index, IndexOptions
from crivello.index.jsonl import JsonLines
from crivello.search import Group, Operator, Term

ITEMS = 500
SAMPLE = 2_000
FIRST = 3
LEAST_WORDS = 20
MOST_TITLE_WORDS = 30


@dataclass(frozen=True)
class KnownItem:
    """What is looked for, and the pages that will do."""

    query: Operator
    urls: frozenset[str]


def pages() -> list[Document]:
    """The pages of a real web; skips the test where there are none."""
    path = os.environ.get("CRIVELLO_REALWEB_PAGES", "")
    if not Path(path).is_file():
        pytest.skip("there are no pages of a real web: name a file of JSON lines with CRIVELLO_REALWEB_PAGES")
    return list(JsonLines(path))


def known_items(documents: list[Document], seed: int = 1) -> list[KnownItem]:
    """Pages with a title and some text, each with a query."""
    random = Random(seed)
    frequencies: Counter[str] = Counter()
    for document in random.sample(documents, min(SAMPLE, len(documents))):
        frequencies.update({term for term, _ in words(document.body, document.language)})
    same_text = defaultdict(set)
    for document in documents:
        same_text[document.body].add(document.url)
    chosen = (_query(document, frequencies) for document in random.sample(documents, len(documents)))
    items = (KnownItem(query, frozenset(same_text[body])) for query, body in filter(None, chosen))
    return [item for item, _ in zip(items, range(ITEMS), strict=False)]


def found(items: Iterable[KnownItem], search: Callable[[str], list[str]]) -> float:
    """The share of items that are among the first URLs that a search gives."""
    hits = [not item.urls.isdisjoint(search(str(item.query))[:FIRST]) for item in items]
    return sum(hits) / len(hits)


def index(folder: Path, documents: Iterable[Document]) -> Callable[[str], list[str]]:
    """Indexes documents; returns what searches them."""
    segments = Index(folder, options=IndexOptions(threads=2)).add(documents)
    searcher = Searcher(folder, segments)
    return lambda query: [url for _, url, *_ in searcher.search(query, top=FIRST)[2]]


def words(text: str, language: str | None) -> Iterator[tuple[str, str]]:
    """The terms of a text that are no stop words and no parts of others, each with how it is written."""
    parts = 0
    for term, _, start, end, its_parts, is_stop_word in analyze(text, language):
        if parts:
            parts -= 1
            continue
        parts = its_parts
        if term and not is_stop_word:
            yield term, text[start:end]


def _query(document: Document, frequencies: Counter[str]) -> tuple[Operator, str] | None:
    title = [written for _, written in words(document.title, document.language)][:MOST_TITLE_WORDS]
    text = list(words(document.body, document.language))
    known = [(frequencies[term], written) for term, written in text if frequencies[term]]
    if not title or not known or len(text) < LEAST_WORDS:
        return None
    _, rare = min(known)
    return Group(optional=[Term(word) for word in [*title, rare]]), document.body
