"""Paragraphs and lines of documents: what is compared instead of documents, and what is left of a document without some.

A unit is a line that is not blank, or a paragraph, which ends at a blank line; blank lines belong to the unit before them. So the units
of a text, one after the other, are the text. They are compared without white space around them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crivello.dedup.options import Unit
from crivello.dedup.source import Text, Verdicts, readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def split(text: Text, unit: Unit) -> list[str]:
    """The units of a text; none if it is blank."""
    units: list[list[str]] = []
    leading: list[str] = []
    is_after_blank = True
    for line in _LINES.findall(readable(text)):
        is_blank = line.isspace()
        if not is_blank and (unit is Unit.LINE or is_after_blank or not units):
            units.append([*leading, line])
            leading = []
        else:
            (units[-1] if units else leading).append(line)
        is_after_blank = is_blank
    return ["".join(lines) for lines in units]


class Whole:
    """Documents that stay or go as they are, so that nobody need read them to tell."""

    def __init__(self, stays: NDArray[np.bool_]) -> None:
        self._stays, self._at = stays, 0

    def take(self, count: int) -> NDArray[np.bool_]:
        """Which of the next documents stay."""
        self._at += count
        return self._stays[self._at - count : self._at]

    def left(self, texts: Sequence[Text]) -> list[Text | None]:
        """The texts that stay, and ``None`` for the others."""
        stays = self.take(len(texts)).tolist()
        return [text if stay else None for text, stay in zip(texts, stays, strict=True)]


def as_whole(verdicts: Verdicts) -> Whole:
    """The verdicts for a source whose documents are not rewritten (``Source.can_rewrite``)."""
    if not isinstance(verdicts, Whole):
        raise TypeError(f"{type(verdicts).__name__} would rewrite documents")
    return verdicts


class InUnits:
    """Documents that lose units; one that loses all of them goes."""

    def __init__(self, stays: NDArray[np.bool_], unit: Unit) -> None:
        self._stays, self._at, self._unit = stays, 0, unit

    def left(self, texts: Sequence[Text]) -> list[Text | None]:
        """What is left of the next documents."""
        return [self._left(text) for text in texts]

    def _left(self, text: Text) -> Text | None:
        units = split(text, self._unit)
        self._at += len(units)
        stays = self._stays[self._at - len(units) : self._at].tolist()
        if all(stays):
            return text
        kept = "".join(unit for unit, stay in zip(units, stays, strict=True) if stay)
        if not kept:
            return None
        # White space at the end belongs to the text, not to its last unit.
        end = readable(text)
        return kept.rstrip() + end[len(end.rstrip()) :]
