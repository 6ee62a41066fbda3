"""The study of queues between threads: a lock, a lock-free list, a bounded array.

    >>> from crivello.lab.queues import study
    >>> [(row.queue, row.threads, row.operations_per_second) for row in study((1, 2), pairs=100_000).rows]

Every thread alternates a push and a pop on one queue, as in Michael and Scott's paper. See docs/lab.md.
"""

from __future__ import annotations

from crivello.lab.queues.study import QUEUES, Row, Study, study

__all__ = ["QUEUES", "Row", "Study", "study"]
