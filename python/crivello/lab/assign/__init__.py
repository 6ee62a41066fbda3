"""The study of assignments: balance, movement and cost of every method, beside the theory.

    >>> from crivello.lab.assign import generate, study
    >>> for row in study(generate(100_000), agents=(10, 1000)).rows:
    ...     print(row.method, row.agents, row.deviation, row.expected_deviation)

See docs/assignment.md.
"""

from __future__ import annotations

from crivello.lab.assign.hosts import generate, hosts_of
from crivello.lab.assign.study import Row, Study, study

__all__ = ["Row", "Study", "generate", "hosts_of", "study"]
