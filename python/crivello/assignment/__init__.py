"""Assignment: which of many agents a host belongs to, computed by each of them alone.

    >>> from crivello.assignment import Assignment
    >>> agents = Assignment(1000)
    >>> agents.agent(["example.org", "www.example.org"])
    array([354,  95], dtype=uint32)
    >>> agents.next_agent(["example.org", "www.example.org"], without=[354])
    array([422,  95], dtype=uint32)

Hosts are passed in batches: a list of ``str`` or ``bytes``; a column of Arrow (of pyarrow, polars, pandas …); a pair of
NumPy arrays, the bytes of all (``uint8``) and where each begins and the last ends (``int64``); or an array of
``uint64`` with their hashes, as ``hashes`` returns them. Answers are NumPy arrays of ids.

Agents have distinct ids, and weights if they are unequal. The function is *balanced*: an agent gets about its share
of the hosts; and *contravariant*: adding an agent moves hosts only to it, losing one moves only its own. The
formulas, what each method costs, and the exact definition, which is a protocol between machines, are in
docs/assignment.md; ``crivello lab assign`` measures them on hosts of one's own.
"""

from __future__ import annotations

from crivello.assignment.assignment import METHODS, REPLICAS, Assignment, By, Method, hashes, keys
from crivello.assignment.column import Column, Hosts

__all__ = ["METHODS", "REPLICAS", "Assignment", "By", "Column", "Hosts", "Method", "hashes", "keys"]
