"""Private: the counters of several agents as those of one crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from crivello.crawl.report import Report


def summed(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The reports of agents as one, in the form of ``Report.to_dict``."""
    total: dict[str, Any] = {}
    for name in ("outcomes", "statuses", "unconverted", "revisits"):
        counter: Counter[str] = Counter()
        for report in reports:
            counter.update(report.get(name) or {})
        total[name] = dict(counter)
    for name in ("duplicates", "near_duplicates", "links", "requests", "bytes", "seen", "waiting"):
        total[name] = sum(report.get(name, 0) for report in reports)
    total["seconds"] = max((report.get("seconds", 0.0) for report in reports), default=0.0)
    return total


def renew(report: Report, reports: Sequence[dict[str, Any]]) -> None:
    """Brings the counters of a report of all agents up to date."""
    total = Report(summed(reports))
    for name in ("outcomes", "statuses", "duplicates", "near_duplicates", "links", "requests", "bytes"):
        setattr(report, name, getattr(total, name))
    for name in ("seconds", "seen", "waiting", "unconverted", "revisits"):
        setattr(report, name, getattr(total, name))
    report.gauges = {"active": sum(told.get("active", 0) for told in reports)}
