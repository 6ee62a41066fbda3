"""When to merge segments, and which.

Segments fall into tiers by their length: a tier is ``fan_in`` times as large as the one below. When ``fan_in``
neighbours are of the same tier or below they become one segment of the next. So n documents are in
O(fan_in · log n) segments, and each document is copied O(log n) times, to the base ``fan_in``.

Only neighbours are merged: the order of the segments says which document is the newer.
"""

from __future__ import annotations

from collections.abc import Sequence

Segment = tuple[str, int]
"""The name of a segment's file, and its length."""

FAN_IN = 8
SMALLEST_TIER = 1 << 20


def tier(length: int, fan_in: int = FAN_IN) -> int:
    """The tier of a segment of ``length`` bytes; everything small is of tier 0."""
    found = 0
    while length >= SMALLEST_TIER:
        length //= fan_in
        found += 1
    return found


def choose(segments: Sequence[Segment], fan_in: int = FAN_IN) -> slice | None:
    """The neighbours to merge next, or None when nothing needs merging.

    The newest segments are looked at first: of them, the longest run that stays within one tier.
    """
    tiers = [tier(length, fan_in) for _, length in segments]
    for highest in range(max(tiers, default=0) + 1):
        end = len(tiers)
        while end > 0:
            start = end
            while start > 0 and tiers[start - 1] <= highest:
                start -= 1
            if end - start >= fan_in:
                return slice(start, end)
            end = start - 1
    return None
