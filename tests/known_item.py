"""Known items: a page that somebody has seen, looked for by its title and the rarest other word of its text.

    CRIVELLO_REALWEB_PAGES=pages.jsonl

names a file of JSON lines with pages of a real web: ``{"url", "title", "body"}``. A page counts as found where it, or one
with the very same text, is among the first three of all pages: ``WHOLE`` is the settings by which no page is folded under
another and a site may have any number of results.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import msgspec
import pytest

from crivello._core import analyze
from crivello.index import Document, Index
from crivello.index.jsonl import JsonLines
from crivello.search import Group, Operator, Term
from crivello.search.searcher import Search
from crivello.settings import Search as SearchSettings

ITEMS = 500
SAMPLE = 5_000
FIRST = 3
LEAST_WORDS = 20
MOST_TITLE_WORDS = 30
WHOLE = SearchSettings(collapse=-1, per_site=0, time_limit=0)


@dataclass(frozen=True)
class KnownItem:
    """What is looked for, in which language, and the pages that will do."""

    query: Operator
    language: str
    urls: frozenset[str]


Find = Callable[[KnownItem], list[str]]


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
    items: list[KnownItem] = []
    for document in random.sample(documents, len(documents)):
        if len(items) == ITEMS:
            break
        if (query := _query(document, frequencies)) is not None:
            items.append(KnownItem(query, document.language or "en", frozenset(same_text[document.body])))
    return items


def found(items: Iterable[KnownItem], find: Find) -> float:
    """The share of items that are among the first URLs that are found."""
    hits = [not item.urls.isdisjoint(find(item)[:FIRST]) for item in items]
    return sum(hits) / len(hits)


def index(folder: Path, documents: Iterable[Document]) -> Search:
    """Indexes documents, and opens the index for searching."""
    segments = Index(folder).add(documents)
    return Search(folder, segments, None, WHOLE)


def finder(search: Search, settings: SearchSettings = WHOLE) -> Find:
    """Finds the first pages, each item in its own language."""

    def find(item: KnownItem) -> list[str]:
        own = msgspec.structs.replace(settings, language=item.language, suggest=False)
        return [hit.url for hit in search.search(item.query, top=FIRST, passages=False, settings=own)]

    return find


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


def _query(document: Document, frequencies: Counter[str]) -> Operator | None:
    title = dict(islice(words(document.title, document.language), MOST_TITLE_WORDS))
    text = dict(words(document.body, document.language))
    others = [term for term in text if frequencies[term] and term not in title]
    if not title or not others or len(text) < LEAST_WORDS:
        return None
    rare = min(others, key=frequencies.__getitem__)
    return Group(optional=[Term(word) for word in [*title.values(), text[rare]]])
