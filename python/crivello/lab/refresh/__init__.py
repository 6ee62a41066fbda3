"""The study of revisits: how stale each policy leaves the copies, by simulation on a trace of changes."""

from __future__ import annotations

from crivello.lab.refresh.history import histories
from crivello.lab.refresh.study import Comparison, Point, Study, study
from crivello.lab.refresh.trace import History, Trace, generate, of_histories

__all__ = [
    "Comparison",
    "History",
    "Point",
    "Study",
    "Trace",
    "generate",
    "histories",
    "of_histories",
    "study",
]
