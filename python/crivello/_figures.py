"""Private: how reports show themselves, in one line, on a page of text and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any


class Figures:
    """A report: its ``repr`` is one line, its text has a line for each figure, and a notebook shows a table.

    A class says what it is in ``_headline`` and what it counted in ``_figures``.
    """

    __slots__ = ()

    def _headline(self) -> str:
        raise NotImplementedError

    def _figures(self) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

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


def shown(value: float) -> str:
    """A number as people read it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def table_html(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table for a notebook; a cell without a value is empty."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_cell(value))}</td>' for value in row)}</tr>" for row in rows
    )
    header = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table><caption>{html.escape(title)}</caption>{header}<tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
