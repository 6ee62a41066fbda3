"""The plot of the study: each example, its nodes with the measures that rank them first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crivello._extras import optional
from crivello.graph.draw.layout import positions
from crivello.graph.draw.svg import PALETTE
from crivello.lab.graph.examples import EXAMPLES, Example
from crivello.lab.graph.study import Outcome, Table
from crivello.plots import check_format, save

with optional():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

_COLUMNS = 4
_MOST_NAMED = 6


def draw(outcome: Outcome, file: Path) -> None:
    """Draws the examples of a study."""
    check_format(file)
    examples = {example.name: example for example in EXAMPLES}
    rows = -(-len(outcome.tables) // _COLUMNS)
    figure, grid = plt.subplots(
        rows, _COLUMNS, figsize=(5.2 * _COLUMNS, 4.6 * rows), layout="constrained", squeeze=False
    )
    for axes in grid.flat:
        axes.axis("off")
    for axes, table in zip(grid.flat, outcome.tables, strict=False):
        _draw(axes, examples[table.example], table)
    figure.suptitle("Who is the most important? The measures disagree", x=0.01, ha="left", size=15)
    save(figure, file)


def _draw(axes: Any, example: Example, table: Table) -> None:
    arcs = np.array(example.arcs, np.intp)
    roles = [role for role, _ in table.roles]
    groups = np.array([roles.index(role) for role in example.roles], np.intp)
    points = positions(len(example.roles), arcs, groups)
    for source, target in example.arcs:
        axes.annotate(
            "",
            points[target],
            points[source],
            arrowprops={
                "arrowstyle": "-|>",
                "shrinkA": 9,
                "shrinkB": 9,
                "alpha": 0.45,
                "color": "#5c6470",
                "connectionstyle": "arc3,rad=0.06",
            },
        )
    colours = [PALETTE[place % len(PALETTE)] for place in groups]
    axes.scatter(points[:, 0], points[:, 1], s=230, c=colours, edgecolors="white", zorder=3)
    axes.set_title(example.name, loc="left", size=12, weight="bold")
    axes.margins(0.12)
    axes.set_aspect("equal", adjustable="datalim")
    lines = [(colours[example.roles.index(role)], _best(table, role)) for role in roles]
    for place, (colour, told) in enumerate(lines):
        axes.text(0.0, -0.03 - 0.062 * place, told, color=colour, size=8, va="top", transform=axes.transAxes)


def _best(table: Table, role: str) -> str:
    """A role, and the measures that rank it first alone."""
    first = [row.measure for row in table.rows if row.best == [role]]
    more = f" and {len(first) - _MOST_NAMED} more" if len(first) > _MOST_NAMED else ""
    return f"{role}: {', '.join(first[:_MOST_NAMED]) or 'never first alone'}{more}"
