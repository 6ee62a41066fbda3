"""The return types of the methods of a collection, for annotations and as a reference.

    >>> from crivello.reports import Indexed
    >>> def tell(indexed: Indexed) -> str:
    ...     return f"{indexed.documents} documents of {indexed.terms} terms"

``Results``, ``Hit`` and ``Explanation`` are in ``crivello.search``, ``Evaluation`` in ``crivello.evaluate``.
"""

from crivello._pages import Pages
from crivello.crawl.report import Report
from crivello.crawl.status import Status
from crivello.crawl.why import Story
from crivello.doctor import Finding, Repaired
from crivello.graph.update import Ranking
from crivello.index.update import Indexed
from crivello.store import Row
from crivello.summary import Summary

__all__ = [
    "Finding",
    "Indexed",
    "Pages",
    "Ranking",
    "Repaired",
    "Report",
    "Row",
    "Status",
    "Story",
    "Summary",
]
