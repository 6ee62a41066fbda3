"""Small graphs on which measures of importance disagree, and the axioms that each measure satisfies, computed.

>>> outcome = study()
>>> outcome.axioms["harmonic"].density.holds
True
"""

from __future__ import annotations

from crivello.lab.graph.axioms import Axioms, Verdict, axioms_of
from crivello.lab.graph.examples import EXAMPLES, Example
from crivello.lab.graph.study import Outcome, Row, Table, study

__all__ = ["EXAMPLES", "Axioms", "Example", "Outcome", "Row", "Table", "Verdict", "axioms_of", "study"]
