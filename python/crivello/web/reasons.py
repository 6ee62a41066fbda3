"""Why a page is among the results: its score as rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crivello.search.results import Explanation

_COUNT = re.compile(r"(\d+) in (\w+) of (\d+) words")
_FREQUENCY = re.compile(r"for (\d+) documents")
_ZONES = {"title": "the title", "headings": "the headings", "body": "the text", "anchors": "links to it"}


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a score: what counts, why in words, its points, its share in percent, and its formula."""

    what: str
    why: list[str]
    points: float
    share: float
    formula: str
    is_word: bool


def reasons_of(explanation: Explanation) -> list[Reason]:
    """The parts of a score, the largest first; what a reranker added is one of them."""
    parts = sorted(_parts(explanation), key=lambda part: -part.value)
    total = sum(max(part.value, 0.0) for part in parts) or 1.0
    return [_reason(part, 100 * max(part.value, 0.0) / total) for part in parts]


def _parts(explanation: Explanation) -> Iterator[Explanation]:
    for part in explanation.parts:
        if part.label == "score":
            yield from _parts(part)
        else:
            yield part


def _reason(part: Explanation, share: float) -> Reason:
    counts = _COUNT.findall(part.detail)
    if counts:
        why = [_place(int(count), zone, int(words)) for count, zone, words in counts]
        if frequency := _FREQUENCY.search(part.detail):
            pages = int(frequency[1])
            why.append("no other page has it" if pages == 1 else f"{pages:,} pages have it")
        return Reason(part.label, why, part.value, share, part.detail, True)
    if part.label == "proximity":
        zones = [f"close together in {_ZONES.get(zone.label, zone.label)}" for zone in part.parts]
        return Reason("The words are near each other", zones, part.value, share, part.detail, False)
    if part.label.startswith("static rank"):
        measure = part.label.removeprefix("static rank").removeprefix(" by ").strip(", ")
        why = ["what the links to the page are worth" + (f", by {measure}" if measure else "")]
        return Reason("Links", why, part.value, share, part.detail, False)
    return Reason(part.label[:1].upper() + part.label[1:], [], part.value, share, part.detail, False)


def _place(count: int, zone: str, words: int) -> str:
    times = "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"
    return f"{times} in {_ZONES.get(zone, zone)}, of {words:,} {'word' if words == 1 else 'words'}"
