"""Private: how reports are displayed: as one line, as text and in notebooks."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any


class Figures(ABC):
    """Base class of reports: ``repr`` is one line, ``str`` has a line per figure, and a notebook shows a
    table.

    Subclasses implement ``_headline`` and ``_figures`` (pairs of name and formatted value).
    """

    __slots__ = ()

    @abstractmethod
    def _headline(self) -> str: ...

    @abstractmethod
    def _figures(self) -> Iterable[tuple[str, str]]: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>"

    def __str__(self) -> str:
        rows = list(self._figures())
        names = max((len(name) for name, _ in rows), default=0)
        values = max((len(value) for _, value in rows), default=0)
        lines = (f"{name:<{names}}  {value:>{values}}" for name, value in rows)
        return "\n".join([self._headline(), *lines])

    def _repr_html_(self) -> str:
        return table_html(self._headline(), (), self._figures())


def shown(value: float | str) -> str:
    """Formats a figure for people."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def table_html(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """An HTML table for a notebook; ``None`` is an empty cell."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_cell(value))}</td>' for value in row)}</tr>" for row in rows
    )
    header = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table><caption>{html.escape(title)}</caption>{header}<tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
