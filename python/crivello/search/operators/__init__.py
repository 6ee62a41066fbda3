"""Queries as objects that compose; ``str()`` of one is the query in the language of docs/search.md.

    >>> from crivello.search import In, Or, Ordered, Site, Term
    >>> str(In("title", Or("bees", "honey")) & ~Term("wax") & Site("example.org"))
    'title:("bees" OR "honey") AND (NOT "wax") AND site:example.org'

Nothing is evaluated here: the core parses the text, so an operator means what its text means. A string stands
for ``Term`` wherever a query is expected, and its text is always words, whatever signs and operators it
contains. An invalid argument raises ``InvalidArgument`` when the object is constructed.
"""

from __future__ import annotations

from crivello.search.operators.base import And, Everything, Not, Operator, Or, Query, Term
from crivello.search.operators.filters import After, Before, Filter, Lang, Site, Type
from crivello.search.operators.intervals import (
    Aligned,
    Containing,
    Inside,
    NotContaining,
    NotInside,
    Ordered,
    Window,
)
from crivello.search.operators.modifiers import Boost, Group, In
from crivello.search.operators.words import Fuzzy, Phrase, Prefix

__all__ = [
    "After",
    "Aligned",
    "And",
    "Before",
    "Boost",
    "Containing",
    "Everything",
    "Filter",
    "Fuzzy",
    "Group",
    "In",
    "Inside",
    "Lang",
    "Not",
    "NotContaining",
    "NotInside",
    "Operator",
    "Or",
    "Ordered",
    "Phrase",
    "Prefix",
    "Query",
    "Site",
    "Term",
    "Type",
    "Window",
]
