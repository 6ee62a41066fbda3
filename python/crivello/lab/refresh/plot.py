"""Plots staleness against budget."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from crivello.lab.refresh.study import OPTIMUM, ORACLE, Study
from crivello.plots import check_format, save

_COLOURS = {
    "optimal": "#1f77b4",
    "adaptive": "#c0392b",
    "uniform": "#7f8c8d",
    "by-age": "#17a589",
    ORACLE: "#8e44ad",
    OPTIMUM: "#000000",
}


def draw(found: Study, file: Path) -> None:
    """Draws a panel for each trace, a line for each policy; the band spans all seeds."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    traces = found.names("trace")
    figure, panels = plt.subplots(
        1, len(traces), figsize=(1 + 5 * len(traces), 4.6), layout="constrained", sharey=True, squeeze=False
    )
    figure.suptitle(f"{found.pages:,} pages, {found.days:g} days")
    for axes, trace in zip(panels[0], traces, strict=True):
        _panel(axes, found, trace)
    panels[0][0].set_ylabel("weighted staleness")
    panels[0][0].legend(fontsize=8)
    save(figure, file)


def _panel(axes: Any, found: Study, trace: str) -> None:
    budgets = sorted(found.names("budget"))
    for policy in found.names("policy"):
        seeds = [found.staleness(trace, policy, budget) for budget in budgets]
        style = {"linestyle": "--"} if policy == OPTIMUM else {"marker": "o", "markersize": 3}
        colour = _COLOURS.get(policy)
        axes.plot(
            budgets, [statistics.fmean(values) for values in seeds], label=policy, color=colour, **style
        )
        axes.fill_between(
            budgets,
            [min(values) for values in seeds],
            [max(values) for values in seeds],
            color=colour,
            alpha=0.15,
        )
    axes.set(title=trace, xlabel="requests per day", xscale="log", ylim=(0, None))
    axes.grid(alpha=0.3)
