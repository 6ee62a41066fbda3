"""The study of duplicates in a stream: Bloom filters against stable Bloom filters over a grid of parameters.

    >>> from crivello.lab.duplicates import Grid, generate, study
    >>> outcome = study(generate(1_000_000, distinct=0.49), Grid(cells=(500_000,)), "out")

A stream is an array of 64-bit signatures, generated, read from a file, or downloaded from Common Crawl. The ground truth is computed once,
by the exact set; then every combination of the grid classifies it from the start, on as many threads as there
are processors. The results are stored in ``duplicates.duckdb``, from which ``report.md`` and its plots are
made.

Source: Fan Deng and Davood Rafiei, "Approximately detecting duplicates for streaming data using stable Bloom
filters", 2006, as repeated on Common Crawl in the second of the seed documents.
"""

from __future__ import annotations

from crivello.lab.duplicates.grid import Combination, Grid
from crivello.lab.duplicates.runs import Run
from crivello.lab.duplicates.stream import Stream, generate, generate_at_distance, of_common_crawl, read
from crivello.lab.duplicates.study import Outcome, study

__all__ = [
    "Combination",
    "Grid",
    "Outcome",
    "Run",
    "Stream",
    "generate",
    "generate_at_distance",
    "of_common_crawl",
    "read",
    "study",
]
