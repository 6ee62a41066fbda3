"""Revisits: which pages are due, and the run that visits them again.

The plan and the queue are native (``crates/core/src/collection/refresh.rs``): two passes over the table, in memory
that does not grow with it. What a run does not get to is still due afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from crivello.crawl.crawler import Crawler
from crivello.crawl.report import Report
from crivello.settings import Crawl, for_core

if TYPE_CHECKING:
    from crivello.collection import Collection


@dataclass(frozen=True, slots=True)
class Due:
    """The pages that are due: their number, and the length of the queue of their revisits."""

    pages: int
    queue: int


def find_due(
    collection: Collection, *, everything: bool = False, budget: int = 0, site: str | None = None
) -> Due:
    """Writes the queue of the pages that are due, at most ``budget`` (0: no limit); commits the plan."""
    ranks = collection._ranks()
    now = time.time()
    queue, pages, plan = collection._native.plan_revisits(
        _options(collection),
        now,
        all=everything,
        limit=budget,
        site=site,
        ranks=ranks and ranks[:2],
        before=_kept_plan(collection),
    )
    state = {**collection.state("refresh"), "at": now, "due": pages}
    # The price of a visit is that of a budget for all pages: the plan for one site says nothing about the others.
    if site is None:
        state["plan"] = msgspec.json.decode(plan)
    collection.commit({}, refresh=state)
    return Due(pages, queue)


def visit_due(
    collection: Collection,
    due: Due,
    *,
    settings: Crawl,
    budget: int = 0,
    on_progress: Callable[[Report], object] | None = None,
) -> Report:
    """Visits the pages that are due, then new URLs as long as the limits of the settings allow.

    With a budget, the run makes that many visits; otherwise revisits do not count against ``max_pages``.
    """
    if not due.pages:
        return Report(collection.state("crawl").get("report"))
    most = budget or (settings.max_pages and settings.max_pages + due.pages)
    chosen = msgspec.structs.replace(settings, max_pages=most)
    return Crawler(collection, settings=chosen, revisits=due.queue, on_progress=on_progress).run()


@dataclass(frozen=True, slots=True)
class NextVisit:
    """When a page is visited next, why then, and what its earlier visits showed.

    ``rate`` is the estimated number of changes per day, ``signal`` what announced a change that was not
    visited yet.
    """

    time: datetime
    reason: str
    visits: int
    changes: int
    failures: int
    rate: float
    signal: str | None

    def to_dict(self) -> dict[str, Any]:
        """The form in ``crivello why --json``."""
        return {**asdict(self), "time": self.time.isoformat(timespec="seconds")}


def next_visit(collection: Collection, url: str) -> NextVisit | None:
    """The next visit of a page by the plan of the last refresh; ``None`` if it is not visited again."""
    found = collection._native.next_visit(url, _options(collection), _kept_plan(collection))
    if found is None:
        return None
    when, reason, about = found
    known = msgspec.json.decode(about)
    known["rate"] *= 86_400
    return NextVisit(datetime.fromtimestamp(when, UTC), reason, **known)


def _kept_plan(collection: Collection) -> bytes | None:
    plan = collection.state("refresh").get("plan")
    return None if plan is None else msgspec.json.encode(plan)


def _options(collection: Collection) -> bytes:
    return msgspec.json.encode(for_core(collection.settings.refresh))
