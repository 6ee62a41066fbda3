"""Plots the study: precision against recall over the thresholds, recall by the share of edits, and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.lab.near.study import Study
from crivello.plots import check_format, save

_COLORS = {"exact": "#888888", "simhash": "#1f77b4", "fingerprint": "#17a589", "minhash": "#c0392b"}
_MARKS = "os^Dv<>Ph*Xd"


def draw(found: Study, file: Path) -> None:
    """Draws the plot."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (curves, shares, times) = plt.subplots(1, 3, figsize=(18, 6), layout="constrained")
    figure.suptitle(f"{found.documents:,} documents with {found.copies:,} edited copies")
    _curves(curves, found)
    _shares(shares, found)
    _times(times, found)
    save(figure, file)


def _curves(axes: Any, found: Study) -> None:
    for number, (family, method) in enumerate(found.methods()):
        points = found.of(family, method)
        axes.plot(
            [point.recall for point in points],
            [point.precision for point in points],
            color=_COLORS[family],
            marker=_MARKS[number % len(_MARKS)],
            markersize=4,
            alpha=0.7,
            label=f"{family}: {method}",
        )
    axes.set(title="every threshold", xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, loc="lower left")


def _shares(axes: Any, found: Study) -> None:
    for family in dict.fromkeys(family for family, _ in found.methods()):
        best = found.best(family)
        axes.plot(
            list(best.recall_by_share),
            list(best.recall_by_share.values()),
            color=_COLORS[family],
            marker="o",
            label=f"{family}: {best.method}, {best.threshold:g}",
        )
    axes.set(title="the best of each by F1", xlabel="words edited", ylabel="recall", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="lower left")


def _times(axes: Any, found: Study) -> None:
    best = [found.best(family, method) for family, method in found.methods()][::-1]
    bars = axes.barh(
        [f"{point.family}: {point.method}" for point in best],
        [point.seconds for point in best],
        color=[_COLORS[point.family] for point in best],
    )
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set(title="from texts to pairs", xlabel="seconds")
    axes.margins(x=0.15)
