"""The histories of the pages of a collection: one visit for each version that its table keeps."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, groupby
from typing import TYPE_CHECKING

import numpy as np

from crivello import _core
from crivello._core import Ranks, Row
from crivello.graph.update import strengths
from crivello.lab.refresh.trace import History
from crivello.store import Outcome

if TYPE_CHECKING:
    from crivello.collection import Collection

# What a page was at a visit, if the visit told.
_TOLD = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECTED, Outcome.GONE)


def histories(collection: Collection) -> list[History]:
    """The history of each page that was visited twice, with its importance: pages / position by the rank in use, as
    revisits have it, among these pages.

    A visit found a change if the text, the target of a redirect, or whether there is a page differs from
    the visit before. Versions that the table no longer keeps (``store.versions``, ``store.keep``) are missing.
    """
    urls: list[str] = []
    found: list[History] = []
    rows = chain.from_iterable(collection.table.scan(versions=True))
    for url, versions in groupby(rows, key=lambda row: row.url):
        visits = sorted((row for row in versions if row.outcome in _TOLD), key=lambda row: row.fetched_at)
        if len(visits) > 1:
            urls.append(url)
            found.append(History([row.fetched_at for row in visits], _changed(visits)))
    rank = collection._ranks()
    if not rank or not found:
        return found
    values = Ranks(*rank[:2]).get([_core.signature(url) for url in urls])
    importance = 1 + strengths(np.array([value or 0.0 for value in values]))
    return [history._replace(importance=float(one)) for history, one in zip(found, importance, strict=True)]


def _changed(visits: Iterable[Row]) -> list[bool]:
    found: list[bool] = []
    before: tuple[str | None, ...] = ()
    for row in visits:
        is_same = row.outcome is Outcome.NOT_MODIFIED
        now = before if is_same else (row.outcome, row.digest, row.redirect)
        found.append(now != before)
        before = now
    return found
