"""Text analysis, from text to tokens and terms, compared with tantivy.

The texts are those of the HTML pages below the folder CRIVELLO_BENCH_PAGES, up to 32 MB; by default, of the
sample web. tantivy's analyzer returns a list of terms to Python, which costs more than the analysis; ours is
measured with such a list, and also without one, as in the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from bench import Measurement, seconds
from crivello import _core
from crivello.lab.web import SampleWeb

_MOST = 32 * 10**6


def measure() -> Iterator[Measurement]:
    texts = _texts()
    size = sum(len(text.encode()) for text in texts) / 10**6
    split = TextAnalyzerBuilder(Tokenizer.simple()).build()
    stem = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (Filter.remove_long(40), Filter.lowercase(), Filter.stemmer("English")):
        stem = stem.filter(step)
    en_stem = stem.build()

    def theirs_split() -> None:
        for text in texts:
            split.analyze(text)

    def theirs() -> None:
        for text in texts:
            en_stem.analyze(text)

    def ours() -> None:
        for text in texts:
            _core.analyze(text, "en")

    stemmed = size / seconds(theirs)
    yield Measurement(
        "text to tokens",
        size / seconds(lambda: _core.count_tokens(texts, "en")),
        "tantivy simple, as a list",
        size / seconds(theirs_split),
        "MB/s",
    )
    yield Measurement(
        "text to terms",
        size / seconds(lambda: _core.count_tokens(texts, "en", terms=True)),
        "tantivy en_stem, as a list",
        stemmed,
        "MB/s",
    )
    yield Measurement(
        "text to terms, as a list with places",
        size / seconds(ours),
        "tantivy en_stem, as a list",
        stemmed,
        "MB/s",
    )


def _texts() -> list[str]:
    texts, size = [], 0
    for body in _pages():
        text = _core.parse_html(body, "https://a.example/").text
        texts.append(text)
        size += len(text)
        if size > _MOST:
            break
    return texts


def _pages() -> Iterator[bytes]:
    if folder := os.environ.get("CRIVELLO_BENCH_PAGES"):
        yield from (path.read_bytes() for path in sorted(Path(folder).rglob("*.html")))
        return
    with SampleWeb() as web:
        yield from (
            web.resources[url].body for url in sorted(web.pages) if not url.endswith((".pdf", ".txt"))
        )
