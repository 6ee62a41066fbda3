"""Private: what changed between two versions of a page, in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from crivello._core import Row
from crivello._times import Moment, end_of
from crivello._times import shown as moment
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.collection import Collection

Kind = Literal["same", "deleted", "inserted"]
_WORDS = re.compile(r"\S+|\s+")
# The most lines or words that are compared exactly: the time is quadratic.
_EXACT = 4000


@dataclass(frozen=True, repr=False)
class Difference:
    """Two versions of a page with their texts; true if these differ, and ``str()`` shows where."""

    before: Row
    after: Row
    old: str
    new: str

    def __bool__(self) -> bool:
        return self.old != self.new

    def __repr__(self) -> str:
        words = "changed" if self else "the same text"
        return f"<Difference: {self.after.url}, {' to '.join(self._moments())}: {words}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, context: int = 3) -> Iterator[str]:
        """The changed lines as a unified diff, with ``context`` lines around them."""
        before, after = (f"{self.after.url}\t{when}" for when in self._moments())
        old, new = self.old.splitlines(), self.new.splitlines()
        return unified_diff(old, new, before, after, n=context, lineterm="")

    def words(self) -> Iterator[tuple[Kind, str]]:
        """The whole text in pieces: what stayed, what was deleted, what was inserted."""
        return changed_words(self.old, self.new)

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello diff --json``: both versions, and the words that were deleted and inserted."""
        return {
            "url": self.after.url,
            "changed": bool(self),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "changes": [{"kind": kind, "text": text} for kind, text in self.words() if kind != "same"],
        }

    def _moments(self) -> tuple[str, str]:
        return moment(self.before.fetched_at), moment(self.after.fetched_at)


def changed_words(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    """Two texts in pieces: what is in both, what only in the first (deleted), what only in the second (inserted).

    Lines are compared first, and then the words of those that differ.
    """
    same = ""
    for kind, text in _by_lines(before, after):
        if kind == "same":
            same += text
            continue
        if same:
            yield "same", same
        same = ""
        yield kind, text
    if same:
        yield "same", same


def _by_lines(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    for old, new, is_same in _blocks(before.splitlines(keepends=True), after.splitlines(keepends=True)):
        if is_same:
            yield "same", old
            continue
        for deleted, inserted, is_same in _blocks(_WORDS.findall(old), _WORDS.findall(new)):
            if is_same:
                yield "same", deleted
                continue
            if deleted:
                yield "deleted", deleted
            if inserted:
                yield "inserted", inserted


def _blocks(before: list[str], after: list[str]) -> Iterator[tuple[str, str, bool]]:
    """What corresponds in two lists of pieces, and whether it is the same."""
    # Without what occurs often a comparison is quick, and finds little.
    is_long = max(len(before), len(after)) > _EXACT
    for kind, start, end, begin, stop in SequenceMatcher(None, before, after, autojunk=is_long).get_opcodes():
        yield "".join(before[start:end]), "".join(after[begin:stop]), kind == "equal"


def difference(
    collection: Collection, url: str, before: Moment | None = None, after: Moment | None = None
) -> Difference | None:
    """Compares the versions of a page at two times (``after``: now); by default the newest two whose texts
    differ.

    ``None`` if there are no two versions to compare.
    """
    versions = [row for row in collection.versions(url) if row.digest is not None]
    if before is not None:
        old, new = _at(versions, url, before), _at(versions, url, after or "now")
        return _compared(collection, old, new)
    for new, old in pairwise(versions):
        if old.digest != new.digest:
            return _compared(collection, old, new)
    return None


def _compared(collection: Collection, old: Row, new: Row) -> Difference:
    return Difference(old, new, collection.text(old), collection.text(new))


def _at(versions: list[Row], url: str, when: Moment) -> Row:
    limit = end_of(when)
    row = next((row for row in versions if row.fetched_at <= limit), None)
    if row is None:
        raise InvalidArgument(
            f"there was no text of {url} at {moment(limit)}", hint="crivello pages DIR --url URL --history"
        )
    return row
