"""Small plots of block characters, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_BLOCKS) - 1


def bars(values: Sequence[float], height: int = 2) -> list[str]:
    """A bar for each value, as lines of text from the top; the highest bar fills them, no value below zero.

    Whatever is not zero can be seen.
    """
    top = max(values, default=0.0)
    steps = [round(value / top * height * _STEPS) or int(value > 0) if top > 0 else 0 for value in values]
    return [
        "".join(_BLOCKS[min(_STEPS, max(0, step - row * _STEPS))] for step in steps)
        for row in reversed(range(height))
    ]


def axis(width: int, seconds: float, starts: Sequence[float], label: str) -> str:
    """The line under the bars, with a mark where each run begins and a label at its end."""
    line = ["─"] * width
    for start in starts:
        line[min(width - 1, int(start / seconds * width)) if seconds > 0 else 0] = "┴"
    return "".join(line) + f" {label}"
