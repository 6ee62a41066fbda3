"""Streams: duplicate lines are marked or dropped on the way, in fixed memory.

    >>> from crivello.stream import JudgeOptions, sift
    >>> report = sift(["urls.txt.gz"], JudgeOptions(kind="stable", memory=16 << 20), truth=True)
    >>> report.duplicates, report.truth.f1

Lines come from files or the standard input, plain, gzip or Zstandard, and go to the standard output. Their keys
are judged in order, by a filter or by the exact set. With ``truth`` DuckDB computes the exact answer for the
same stream, and the report has the confusion matrix of the judge. See docs/stream.md.
"""

from __future__ import annotations

from crivello.stream.confusion import Confusion
from crivello.stream.judge import Description, Exact, JudgeOptions, Kind
from crivello.stream.sift import Emit, Format, Report, sift

__all__ = [
    "Confusion",
    "Description",
    "Emit",
    "Exact",
    "Format",
    "JudgeOptions",
    "Kind",
    "Report",
    "sift",
]
