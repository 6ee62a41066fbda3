"""Static dictionaries: values and ranks of keys without storing the keys, approximate sets, and a front-coded
list.

    >>> from crivello.dictionaries import ApproximateDictionary, Ranks, StaticFunction
    >>> ranks = Ranks(["bee", "honey", "queen", "swarm"], signature_bits=16)
    >>> ranks.get(["queen", "king"])
    array([ 2, -1])
    >>> StaticFunction(["bee", "honey"], [6, 0]).get(["bee"])
    array([6], dtype=uint64)
    >>> ApproximateDictionary(["bee", "honey"], bits=16).contains(["honey", "king"])
    array([ True, False])

Keys are passed in batches, as for filters: a list of ``str``, a list of ``bytes`` (a ``str`` and its UTF-8
are the same key), or a NumPy array of ``uint64``, whose numbers are keys themselves. Answers are NumPy
arrays.

A ``StaticFunction`` to values of b bits takes about 1.12 b bits per key, whatever the keys; ``Ranks`` are
such a function and a signature for every key, which rejects other strings; an ``ApproximateDictionary`` is a
function from each key to its own signature. A ``FrontCodedList`` stores its keys. Formulas, costs and file
formats are in docs/dictionaries.md.
"""

from __future__ import annotations

from crivello.dictionaries.approximate import ApproximateDictionary
from crivello.dictionaries.base import Construction
from crivello.dictionaries.front_coded import FrontCodedList
from crivello.dictionaries.function import StaticFunction
from crivello.dictionaries.ranks import Ranks

__all__ = ["ApproximateDictionary", "Construction", "FrontCodedList", "Ranks", "StaticFunction"]
