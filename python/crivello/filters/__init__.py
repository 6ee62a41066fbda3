"""Filters: approximate sets of keys in a fixed number of bits, with false positives.

    >>> from crivello.filters import Bloom
    >>> seen = Bloom(capacity=1_000_000, error=0.01)
    >>> seen.add(["https://a.example/", "https://b.example/", "https://a.example/"])
    array([False, False,  True])
    >>> seen.contains(["https://b.example/", "https://c.example/"])
    array([ True, False])

Keys are passed in batches: a list of ``str``, a list of ``bytes`` (a ``str`` and its UTF-8 are the same key),
or a NumPy array of ``uint64`` with their signatures (XXH3-64, as ``signatures`` returns them). Answers are
NumPy arrays of ``bool``.

``Bloom`` and ``BlockedBloom`` never forget a key; the second costs one cache miss per key instead of one per
hash function, and somewhat more bits. ``StableBloom`` detects duplicates in an unbounded stream: it forgets
the oldest keys. Formulas, costs and file formats are in docs/filters.md.
"""

from __future__ import annotations

from crivello.filters.base import Decay, Filter, Hashing, Keys, signatures
from crivello.filters.bloom import BlockedBloom, Bloom
from crivello.filters.stable import StableBloom

__all__ = ["BlockedBloom", "Bloom", "Decay", "Filter", "Hashing", "Keys", "StableBloom", "signatures"]
