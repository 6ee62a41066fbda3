"""Plots the study of assignments: balance and movement beside the theory, time and memory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from crivello.lab.assign.study import Row, Study
from crivello.plots import check_format, save

_COLOURS = {"consistent": "#1f77b4", "min-hash": "#17a589", "permutation": "#d68910", "modulo": "#c0392b"}
_MARKS = {"consistent": "o", "min-hash": "s", "permutation": "^", "modulo": "x"}


def draw(found: Study, file: Path) -> None:
    """Draws the plot."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 8.4), layout="constrained")
    figure.suptitle(f"{found.hosts:,} hosts, {found.replicas} replicas; marks: measured, dashed: theory")
    (balance, movement), (cost, room) = axes
    for method in dict.fromkeys(row.method for row in found.rows):
        rows = [row for row in found.rows if row.method == method]
        _pair(balance, rows, "deviation", "expected_deviation")
        _pair(movement, rows, "added", "expected_added")
        _line(cost, rows, "nanoseconds")
        _line(room, rows, "memory")
    balance.set(title="balance", ylabel="deviation / mean of an agent's hosts")
    movement.set(title="movement", ylabel="share that moves to a new agent")
    hashing = found.hash_nanoseconds
    cost.axhline(hashing, color="#888888", linestyle=":", label=f"hashing a name, {hashing:.1f} ns")
    cost.set(title="time of a look-up in a batch", ylabel="nanoseconds")
    room.set(title="memory", ylabel="bytes")
    for axis in axes.flat:
        axis.set(xlabel="agents", xscale="log", yscale="log")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    save(figure, file)


def _line(axis: Any, rows: list[Row], field: str) -> None:
    method = rows[0].method
    values = [getattr(row, field) or math.nan for row in rows]
    style = {"color": _COLOURS.get(method), "marker": _MARKS.get(method)}
    axis.plot([row.agents for row in rows], values, label=method, linewidth=1, markersize=6, **style)


def _pair(axis: Any, rows: list[Row], field: str, theory: str) -> None:
    method = rows[0].method
    agents = [row.agents for row in rows]
    values = [getattr(row, field) or math.nan for row in rows]
    expected = [getattr(row, theory) or math.nan for row in rows]
    axis.plot(agents, expected, color=_COLOURS.get(method), linestyle="--", linewidth=1)
    axis.plot(
        agents, values, color=_COLOURS.get(method), marker=_MARKS.get(method), linestyle="", label=method
    )
