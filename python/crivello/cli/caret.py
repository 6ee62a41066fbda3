"""Marks a position in a text with a caret."""

from __future__ import annotations

_BEFORE, _AFTER = 50, 20


def with_caret(text: str, position: int, indent: str = "  ") -> str:
    """The text on one line, shortened around the position if it is long, and a caret on the next line."""
    from rich.cells import cell_len

    line = "".join(character if character.isprintable() else " " for character in text)
    start = max(0, position - _BEFORE)
    before = ("…" if start else "") + line[start:position]
    end = position + _AFTER
    after = line[position:end] + ("…" if end < len(line) else "")
    return f"{indent}{before}{after}\n{indent}{' ' * cell_len(before)}^"
