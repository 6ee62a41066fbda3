"""Duplicates and near-duplicates of any corpus: files, folders, collections, batches and tables.

    >>> from crivello import dedup
    >>> dedup.run("pages.jsonl", method="minhash", threshold=0.8, out="clean.jsonl", clusters="clusters.jsonl")
    <Report: 5,000 documents, 4,312 kept, 688 dropped in 431 clusters, 1.2 s>

``run`` takes files of any size, out of core. ``Deduplicator`` takes batches of texts in one pass, and ``arrow`` record batches, so that
Polars, DuckDB, pandas, ``datasets`` and Spark need no adapter. The functions ``simhash``, ``minhash``, ``fingerprints``, ``digest`` and
``similarity`` take lists of texts and return arrays of numpy; ``HammingTable`` and ``HammingFile`` search among SimHashes. See docs/duplicates.md.
"""

from __future__ import annotations

from crivello.dedup.arrow import arrow
from crivello.dedup.deduplicator import Deduplicator
from crivello.dedup.fingerprint import digest, fingerprints, minhash, simhash, similarity
from crivello.dedup.hamming import HammingFile, HammingTable, Lead, Nearest, Pairs, Within
from crivello.dedup.inputs import Format
from crivello.dedup.options import Keep, Linkage, Measure, Method, Options, Signals, Unit, Weights
from crivello.dedup.report import Example, Report
from crivello.dedup.run import run

__all__ = [
    "Deduplicator",
    "Example",
    "Format",
    "HammingFile",
    "HammingTable",
    "Keep",
    "Lead",
    "Linkage",
    "Measure",
    "Method",
    "Nearest",
    "Options",
    "Pairs",
    "Report",
    "Signals",
    "Unit",
    "Weights",
    "Within",
    "arrow",
    "digest",
    "fingerprints",
    "minhash",
    "run",
    "simhash",
    "similarity",
]
