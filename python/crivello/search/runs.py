"""Runs: the documents found for each topic of a batch, in the TREC run format.

    301 Q0 FBIS4-50478 1 18.3412704 crivello

is a line: the topic, a constant, the document, its rank, its score, and the tag of the run.

Programs that evaluate a run use the scores and not the ranks. trec_eval stores a score as a 32-bit float,
sorts by it in decreasing order, and breaks ties by document name, in reverse alphabetical order. To preserve
the order of the ranking, each score written is less than the one before as a 32-bit float: the document's own
or, if that is not less, the next float below the one before. Nine digits are enough to restore it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np

from crivello.errors import InvalidArgument
from crivello.lines import numbered_lines
from crivello.search.results import Hit

TAG = "crivello"
_COLUMNS = 6

Run = dict[str, dict[str, float]]
"""The scores of the documents found, by topic and document."""


def lines_of_run(topic: str, hits: Iterable[Hit], tag: str = TAG) -> Iterator[str]:
    """The lines of one topic. A document is named by its id, or by its URL if it has none; one whose name has
    occurred before is skipped, since names must be unique."""
    named = set[str]()
    above = np.float32(math.inf)
    for hit in hits:
        name = name_of(hit)
        if name in named:
            continue
        named.add(name)
        above = min(np.float32(hit.score), np.nextafter(above, np.float32(-math.inf)))
        yield f"{topic} Q0 {name} {len(named)} {above:.9g} {tag}"


def name_of(hit: Hit) -> str:
    """The name of a document in a run; white space, which would end the name, is percent-encoded."""
    return re.sub(r"\s", lambda space: f"%{ord(space[0]):02X}", hit.id or hit.url)


def read_run(name: str) -> Run:
    """The run of a file, plain or gzip; ``-`` is standard input."""
    run: Run = {}
    for number, line in numbered_lines(name):
        columns = line.split()
        if len(columns) != _COLUMNS:
            raise InvalidArgument(
                f"{name}, line {number}: a line of a run has {_COLUMNS} columns, and this one {len(columns)}",
                hint="they are topic, Q0, document, rank, score and tag",
            )
        topic, _, document, _, score, _ = columns
        found = run.setdefault(topic, {})
        if document in found:
            raise InvalidArgument(f"{name}, line {number}: {document} was found for topic {topic} before")
        found[document] = _score(score, name, number)
    return run


def _score(text: str, name: str, number: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise InvalidArgument(f"{name}, line {number}: {text!r} is no score")
    return score
