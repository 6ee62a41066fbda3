"""Plots the study of dictionaries: space, time, and measured against expected errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from crivello.lab.terms.study import Study
from crivello.plots import check_format, save

_ROOM, _TIME, _PLAIN = "#1f77b4", "#17a589", "#c0392b"


def draw(found: Study, file: Path) -> None:
    """Draws the plot."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (room, times, sets) = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    figure.suptitle(f"{found.keys:,} terms, {found.asked:,} lookups")
    _room(room, found)
    _times(times, found)
    _sets(sets, found)
    save(figure, file)


def _room(axes: Any, found: Study) -> None:
    rows = found.ranks[::-1]
    bars = axes.barh([row.name for row in rows], [row.bits_per_key for row in rows], color=_ROOM)
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.axvline(math.log2(found.keys), color=_PLAIN, linestyle="--", label="log₂ n")
    axes.set(title=f"ranks, {found.signature_bits} bits of signature", xlabel="bits a key", xscale="log")
    axes.set_xlim(1, 4 * max(row.bits_per_key for row in rows))
    axes.legend(fontsize=8, loc="lower right")


def _times(axes: Any, found: Study) -> None:
    rows = found.ranks[::-1]
    bars = axes.barh([row.name for row in rows], [row.nanoseconds for row in rows], color=_TIME)
    axes.bar_label(bars, fmt="%.0f", padding=3)
    axes.set(title="ranks", xlabel="nanoseconds a lookup", xscale="log", yticklabels=[])
    axes.set_xlim(1, 4 * max(row.nanoseconds for row in rows))


def _sets(axes: Any, found: Study) -> None:
    names = list(dict.fromkeys(rate.name for rate in found.sets))
    for name in names:
        rates = [rate for rate in found.sets if rate.name == name]
        color = None if "Bloom" not in name else _PLAIN
        style = ":" if name.startswith("blocked") else "-"
        axes.plot(
            [rate.measured or math.nan for rate in rates],
            [rate.bits_per_key for rate in rates],
            marker="o",
            color=color,
            linestyle=style,
            label=name,
        )
    axes.set(title="sets", xlabel="false positives, measured", ylabel="bits a key", xscale="log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
