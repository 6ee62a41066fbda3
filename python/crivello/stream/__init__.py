"""Streams: the duplicates among lines, marked or dropped on the way, in a fixed memory.

    >>> from crivello.stream import JudgeOptions, sift
    >>> report = sift(["urls.txt.gz"], JudgeOptions(kind="stable", memory=16 << 20), truth=True)
    >>> report.duplicates, report.truth.f1

Lines come from files or the standard input, plain, gzip or Zstandard, and go to the standard output. Their keys
are judged in order, by a filter or by the exact set. With ``truth`` DuckDB works out the exact answer from the
same stream, and the report says how often the judge was right. All of it is in docs/stream.md.
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
