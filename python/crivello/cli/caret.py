"""A caret below the character of a text that is meant."""

from __future__ import annotations

_BEFORE, _AFTER = 50, 20


def with_caret(text: str, position: int, indent: str = "  ") -> str:
    """The text on one line, or what is around the position in a long one, and a caret on the next."""
    from rich.cells import cell_len

    line = "".join(character if character.isprintable() else " " for character in text)
    start = max(0, position - _BEFORE)
    before = ("…" if start else "") + line[start:position]
    end = position + _AFTER
    after = line[position:end] + ("…" if end < len(line) else "")
    return f"{indent}{before}{after}\n{indent}{' ' * cell_len(before)}^"
