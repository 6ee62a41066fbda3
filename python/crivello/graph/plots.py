"""Plots of measures: their distribution, and one against another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello._extras import optional
from crivello.graph.compare import Comparison, positions
from crivello.plots import check_format, save

with optional():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

_COLOURS = ("#1f77b4", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#148f8f", "#7f8c8d", "#b03a6f")
# Beyond this, more points make a plot darker and slower, and no clearer.
_POINTS = 50_000


def draw_distributions(scores: Mapping[str, NDArray[np.float64]], file: Path) -> None:
    """The share of nodes with at least each value, on logarithmic axes: a power law is a straight line.

    Zeros have no place on a logarithmic axis; the legend says how many nodes have a positive value.
    """
    check_format(file)
    figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
    for colour, (name, values) in zip(_cycled(len(scores)), scores.items(), strict=True):
        places, shares = distribution(values)
        positive = int(np.count_nonzero(values > 0))
        label = f"{name}: {positive:,} of {len(values):,} nodes above 0"
        axes.step(places, shares, where="post", color=colour, label=label)
        axes.plot(places, shares, ".", color=colour, markersize=3)
    axes.set(xscale="log", yscale="log", xlabel="value", ylabel="share of the nodes with this value or more")
    axes.set_title("How the values are distributed", loc="left")
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False, loc="lower left")
    save(figure, file)


def distribution(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The positive values, each once and increasing, and the share of all nodes with that value or more."""
    places, counts = np.unique(np.asarray(values)[np.asarray(values) > 0], return_counts=True)
    shares = counts[::-1].cumsum()[::-1] / max(1, len(values))
    if len(places) > _POINTS:
        kept = np.unique(np.geomspace(1, len(places), _POINTS // 10).astype(int))
        chosen = np.unique(np.concatenate([kept - 1, len(places) - kept]))
        places, shares = places[chosen], shares[chosen]
    return places, shares


def draw_comparison(
    scores: Mapping[str, NDArray[np.float64]], comparison: Comparison, file: Path, *, ranks: bool = False
) -> None:
    """A matrix of scatter plots: values below the diagonal, τ above it; with ``ranks``, ranks.

    Both axes are logarithmic; of a large graph, a fixed sample of the nodes is drawn.
    """
    check_format(file)
    names = list(scores)
    shown = {name: positions(values) if ranks else np.asarray(values) for name, values in scores.items()}
    nodes = _sample(comparison.nodes)
    agreement = {frozenset((pair.one, pair.other)): pair for pair in comparison.pairs}
    side = len(names)
    figure, grid = plt.subplots(
        side, side, figsize=(2.6 * side + 1, 2.4 * side + 0.8), layout="constrained", squeeze=False
    )
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            axes = grid[row][column]
            if row > column:
                _scatter(axes, shown[other][nodes], shown[one][nodes], ranks)
            elif row == column:
                _histogram(axes, one, shown[one], _COLOURS[row % len(_COLOURS)], ranks)
            else:
                pair = agreement[frozenset((one, other))]
                _tell(
                    axes,
                    f"τ = {pair.tau:.3f}\nweighted τ = {pair.weighted_tau:.3f}\n"
                    f"top {comparison.top:,}: {pair.overlap:.0%} common",
                )
            if column == 0 and row:
                axes.set_ylabel(one)
            if row == side - 1 and column < row:
                axes.set_xlabel(other)
    kind = "Ranks" if ranks else "Values"
    figure.suptitle(f"{kind} of {comparison.nodes:,} nodes by {side} measures", x=0.01, ha="left")
    save(figure, file)


def _scatter(axes: Any, across: NDArray[np.float64], up: NDArray[np.float64], ranks: bool) -> None:
    # Zeros are drawn at the edge, below the least positive value.
    axes.scatter(_lifted(across), _lifted(up), s=5, alpha=0.35, color="#34495e", linewidths=0)
    axes.set(xscale="log", yscale="log")
    if ranks:
        axes.invert_xaxis()
        axes.invert_yaxis()
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize=7)


def _histogram(axes: Any, name: str, values: NDArray[np.float64], colour: str, ranks: bool) -> None:
    if ranks:
        _tell(axes, name, size=12, colour=colour)
        return
    places, shares = distribution(values)
    axes.step(places, shares, where="post", color=colour)
    axes.set(xscale="log", yscale="log")
    axes.set_title(name, loc="left", size=10, color=colour)
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize=7)


def _tell(axes: Any, text: str, *, size: int = 10, colour: str = "#333333") -> None:
    axes.axis("off")
    axes.text(0.5, 0.5, text, ha="center", va="center", size=size, color=colour, transform=axes.transAxes)


def _lifted(values: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = values[values > 0]
    least = positive.min() / 2 if len(positive) else 1.0
    lifted: NDArray[np.float64] = np.where(values > 0, values, least)
    return lifted


def _sample(nodes: int) -> NDArray[np.intp]:
    if nodes <= _POINTS:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(1).choice(nodes, _POINTS, replace=False))


def _cycled(count: int) -> list[str]:
    return [_COLOURS[place % len(_COLOURS)] for place in range(count)]
