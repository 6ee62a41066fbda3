"""The merge policy: when to merge segments, and which (a tiered policy as in LSM trees).

Segments fall into tiers by their length: a tier is ``fan_in`` times as large as the one below. A segment
that has a larger one after it counts as part of that one's tier, so tiers only decrease from the oldest segment to the
newest, and those of a tier are neighbours. When a tier has ``fan_in`` segments, they are merged into one.

So n documents are in fewer than ``fan_in`` segments per tier, with a logarithmic number of tiers, and documents
added in equal batches are copied once per tier. Only neighbours are merged: the order of the segments
determines which document is newer.
"""

from __future__ import annotations

from collections.abc import Sequence

from crivello._core import Layout

Segment = tuple[str, int]
"""The name of a segment's file, and its length."""

SMALLEST_TIER = 1 << 20


def generations(segments: Sequence[Segment]) -> list[list[Segment]]:
    """The segments by generation, oldest first: files with the same number are the shards of one."""
    found: list[list[Segment]] = []
    last = None
    for file in segments:
        number = Layout.segment_number(file[0])
        if found and number is not None and number == last:
            found[-1].append(file)
        else:
            found.append([file])
        last = number
    return found


def tier(length: int, fan_in: int) -> int:
    """The tier of a segment of ``length`` bytes; everything below a mebibyte is of tier 0."""
    found = 0
    while length >= SMALLEST_TIER:
        length //= fan_in
        found += 1
    return found


def choose(segments: Sequence[Segment], fan_in: int) -> slice | None:
    """The neighbours to merge next, the newest first, or None when nothing needs merging.

    The shards of a generation are merged together, by the length of all: so they have the same generations, and a
    divided index has the same replaced documents as one that is not.
    """
    divided = generations(segments)
    lengths = [sum(length for _, length in files) for files in divided]
    if (chosen := _choose(lengths, fan_in)) is None:
        return None
    before = sum(map(len, divided[: chosen.start]))
    return slice(before, before + sum(map(len, divided[chosen])))


def _choose(segments: Sequence[int], fan_in: int) -> slice | None:
    highest, end = 0, len(segments)
    for start in range(len(segments) - 1, -1, -1):
        own = tier(segments[start], fan_in)
        if own > highest:
            if end - (start + 1) >= fan_in:
                return slice(start + 1, end)
            highest, end = own, start + 1
    return slice(0, end) if end >= fan_in else None
