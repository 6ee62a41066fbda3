"""The plot of a study: the cost of each code, and the intended distributions of the codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crivello import codes
from crivello._extras import optional
from crivello.errors import StorageError
from crivello.lab.codes.study import Outcome

with optional():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

_INTENDED = {"gamma": "γ", "delta": "δ", "zeta3": "ζ₃", "nibble": "nibble", "byte": "byte"}
_BINS_PER_OCTAVE = 2
# Codes that take more than this multiple of the smallest bits are omitted: they would squeeze the others.
_WIDEST = 2
_SIDES = ((7, 3), (-7, 3), (7, -10), (-7, -10))


def draw(outcome: Outcome, numbers: NDArray[np.uint64], path: str) -> None:
    """Draws the plot into a file; the format follows its extension."""
    figure, (costs, shapes) = plt.subplots(1, 2, figsize=(14, 6), layout="constrained")
    _draw_costs(costs, outcome)
    _draw_distributions(shapes, numbers)
    try:
        figure.savefig(Path(path), dpi=110)
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: {getattr(error, 'strerror', None) or error}", path) from None
    finally:
        plt.close(figure)


def _draw_costs(axes: Any, outcome: Outcome) -> None:
    shown = [measure for measure in outcome.measures if measure.bits <= _WIDEST * outcome.smallest.bits]
    axes.axvline(
        outcome.entropy, color="#888888", linestyle=":", label=f"entropy, {outcome.entropy:.2f} bits"
    )
    axes.scatter(
        [measure.bits for measure in shown],
        [measure.decode for measure in shown],
        color="#1f77b4",
        zorder=3,
    )
    # Codes with similar bits have similar times, too: alternate the sides of their labels.
    for place, measure in enumerate(sorted(shown, key=lambda measure: measure.decode)):
        side, height = _SIDES[place % len(_SIDES)]
        axes.annotate(
            measure.code,
            (measure.bits, measure.decode),
            (side, height),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            size=8,
        )
    axes.margins(x=0.15)
    axes.set(yscale="log", xlabel="bits a number", ylabel="nanoseconds a number, decoding")
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(plain)
    axes.yaxis.set_minor_formatter(plain)
    axes.set_title("What each code costs", loc="left")
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False)


def _draw_distributions(axes: Any, numbers: NDArray[np.uint64]) -> None:
    # A number n is drawn at n + 1, so that zero can be shown on the logarithmic axis.
    places = numbers.astype(np.float64) + 1
    octaves = int(np.ceil(np.log2(places.max()))) + 1
    edges = np.unique(np.ceil(2 ** np.arange(0, octaves + 1, 1 / _BINS_PER_OCTAVE)))
    counts, _ = np.histogram(places, bins=edges)
    widths, centres = np.diff(edges), np.sqrt(edges[:-1] * (edges[1:] - 1).clip(1))
    met = counts > 0
    axes.plot(
        centres[met],
        (counts / widths / numbers.size)[met],
        "o",
        color="#c0392b",
        label="these numbers",
        zorder=3,
    )
    at = np.unique(centres.astype(np.uint64)) - np.uint64(1)
    mean = float(numbers.mean(dtype=np.float64))
    fitted = f"golomb:{codes.golomb_modulus(1 / (mean + 1))}"
    for code, label in {**_INTENDED, fitted: fitted}.items():
        intended = codes.intended(code, at)
        seen = intended > 0
        axes.plot((at + np.uint64(1))[seen], intended[seen], label=label, alpha=0.8)
    floor = 0.1 / numbers.size
    axes.set(
        xscale="log", yscale="log", ylim=(floor / places.max(), 2), xlabel="number + 1", ylabel="probability"
    )
    axes.set_title("Which distribution each code is made for", loc="left")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
