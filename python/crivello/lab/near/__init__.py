"""The study of near-duplicates: which method, with which threshold, finds edited copies in a corpus.

    >>> from crivello.lab.near import sample, study
    >>> found = study(sample("pages.jsonl", field="text"))
    >>> found.best("minhash").f1

Of each sampled text an edited copy is made: words replaced, sentences moved, paragraphs dropped, or boilerplate
added, 2 to 20 % of its words. These pairs are the truth, and every method looks for them with every threshold.
"""

from __future__ import annotations

from crivello.lab.near.corpus import sample
from crivello.lab.near.edits import KINDS, SHARES, Copy, Editor
from crivello.lab.near.methods import METHODS, Method
from crivello.lab.near.study import Point, Study, study

__all__ = ["KINDS", "METHODS", "SHARES", "Copy", "Editor", "Method", "Point", "Study", "sample", "study"]
