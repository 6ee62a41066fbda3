"""Bar charts of block characters, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_BLOCKS) - 1


def bars(values: Sequence[float], height: int = 2) -> list[str]:
    """A bar for each non-negative value, as lines of text from the top; the highest bar has full height.

    Every value other than zero is visible.
    """
    top = max(values, default=0.0)
    steps = [round(value / top * height * _STEPS) or int(value > 0) if top > 0 else 0 for value in values]
    return [
        "".join(_BLOCKS[min(_STEPS, max(0, step - row * _STEPS))] for step in steps)
        for row in reversed(range(height))
    ]


def axis(width: int, seconds: float, starts: Sequence[float], label: str) -> str:
    """The time axis below the bars, with a mark at the start of each run and a label at the end."""
    line = ["─"] * width
    for start in starts:
        line[min(width - 1, int(start / seconds * width)) if seconds > 0 else 0] = "┴"
    return "".join(line) + f" {label}"
