"""Known-item search on a real web: how often the page from which a query was made is among the top three.

The pages are those of ``bench._pages``; the queries are those of ``tests.known_item``. The target is 95 of
100. By default near-duplicates are collapsed and sites are mixed, so that a page may be replaced by a similar
one: the second line shows the cost of that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests import known_item

from bench import Measurement
from bench._pages import documents
from crivello.settings import Search as SearchSettings


def measure() -> Iterator[Measurement]:
    pages = documents()
    items = known_item.known_items(pages)
    with tempfile.TemporaryDirectory() as folder:
        search = known_item.index(Path(folder), pages)
        for how, settings, asked in (
            ("", known_item.WHOLE, 0.95),
            (", folded and mixed", SearchSettings(), None),
        ):
            share = known_item.found(items, known_item.finder(search, settings))
            what = f"found among the first {known_item.FIRST}{how}"
            yield Measurement(what, 100 * share, f"all {len(items)}", 100.0, "%", asked)
