"""Which code fits these numbers? Bits and nanoseconds of every code compared with the entropy, and a plot.

>>> from crivello.lab.codes import read, study
>>> outcome = study(read("gaps.txt"))
>>> outcome.smallest.code, outcome.entropy
"""

from __future__ import annotations

from crivello.lab.codes.numbers import FORMATS, gaps, read
from crivello.lab.codes.study import Outcome, study

__all__ = ["FORMATS", "Outcome", "gaps", "read", "study"]
