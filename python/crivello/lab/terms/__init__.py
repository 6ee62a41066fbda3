"""The study of dictionaries: what it costs to know the rank of a term, and to know whether it is one."""

from __future__ import annotations

from crivello.lab.terms.keys import generate, strangers
from crivello.lab.terms.study import Asked, Rate, Row, Study, study

__all__ = ["Asked", "Rate", "Row", "Study", "generate", "strangers", "study"]
