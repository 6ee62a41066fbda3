"""Relevance judgments (qrels): which documents are relevant to a query, and how much.

    301 0 FBIS4-50478 1     TREC format: query, a constant, document, grade
    1 184 2                 three columns: query, document, grade

In TREC format a grade over 0 is relevant, and higher is better. In three columns a grade over 0 is relevant,
and its size is ignored: the file that made the format known, Cranfield's, gives 1 to the most and 4 to the
least relevant. ``graded`` uses those grades, too.
"""

from __future__ import annotations

from crivello.errors import InvalidArgument
from crivello.lines import numbered_lines

Judgments = dict[str, dict[str, int]]
"""The grades by query and document."""


def read_judgments(name: str, *, graded: bool = False) -> Judgments:
    """Reads judgments from a file, plain or gzip; ``-`` is standard input."""
    judgments: Judgments = {}
    width = 0
    for number, line in numbered_lines(name):
        columns = line.split()
        width = width or len(columns)
        if len(columns) not in (3, 4) or len(columns) != width:
            raise InvalidArgument(
                f"{name}, line {number}: a judgment has {width if width in (3, 4) else '4 or 3'} columns, "
                f"and this one {len(columns)}",
                hint="they are query, 0, document and grade; or query, document and grade",
            )
        query, document, grade = columns[0], columns[-2], _grade(columns[-1], name, number)
        judged = judgments.setdefault(query, {})
        if document in judged:
            raise InvalidArgument(f"{name}, line {number}: {document} was judged for query {query} before")
        judged[document] = grade if width == 4 or graded else int(grade > 0)
    if not judgments:
        raise InvalidArgument(f"there is no judgment in {name}")
    return judgments


def _grade(text: str, name: str, number: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgument(
            f"{name}, line {number}: {text!r} is no grade: it must be a whole number"
        ) from None
