"""The study of dictionaries: the cost of mapping a term to its rank, and of testing membership."""

from __future__ import annotations

from crivello.lab.terms.keys import generate, strangers
from crivello.lab.terms.study import Asked, Rate, Row, Study, study

__all__ = ["Asked", "Rate", "Row", "Study", "generate", "strangers", "study"]
