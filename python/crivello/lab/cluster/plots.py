"""The plots of a model: pages over time, with and without the loss, and the rate over the slots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crivello._extras import optional
from crivello.lab.cluster.model import Model
from crivello.plots import save

_CALM, _LOSS, _PLAIN = "#1f77b4", "#c0392b", "#888888"


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot: its file name, its title, and what it shows."""

    file: str
    title: str
    caption: str


def draw_all(found: Model, folder: Path) -> list[Plot]:
    """Draws the plots into a folder."""
    return [_over_time(found, folder), _over_slots(found, folder)]


def _over_time(found: Model, folder: Path) -> Plot:
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
    curves = [(found.speed.curve, _CALM, "no loss")]
    if found.loss is not None:
        curves.append((found.loss.curve, _LOSS, f"{found.loss.agents:,} agents lost"))
        axes.axvline(found.loss.at / 60, color=_PLAIN, linestyle=":", label="the loss")
    for curve, colour, label in curves:
        shown = [(at / 60, rate) for at, rate in curve if rate > 0]
        axes.plot(
            [at for at, _ in shown], [rate for _, rate in shown], color=colour, label=label, linewidth=1.3
        )
    for share in ("50 %", "90 %", "99 %"):
        at = found.speed.seconds[share] / 60
        axes.axvline(at, color=_PLAIN, linewidth=0.6, alpha=0.6)
        axes.annotate(f" {share}", (at, axes.get_ylim()[1]), va="top", fontsize=8, color=_PLAIN)
    axes.set(xlabel="minutes", ylabel="pages per second, all agents", xscale="symlog", yscale="log")
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, folder / "rate.svg")
    caption = (
        "Pages per second of the whole cluster. At first slots bound the rate, then politeness: only large hosts have "
        "pages left, and each gives one page per request and rest."
    )
    return Plot("rate.svg", "Pages per second over time", caption)


def _over_slots(found: Model, folder: Path) -> Plot:
    plt = _pyplot()
    scenario, saturation = found.scenario, found.saturation
    figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    slots = [number for number, _ in saturation.rates]
    axes.plot(slots, [rate for _, rate in saturation.rates], marker="o", color=_CALM, label="modelled")
    busy = scenario.fetch + found.costs.process(scenario)
    axes.plot(
        slots, [number / busy for number in slots], "--", color=_PLAIN, label="slots / time of a request"
    )
    axes.axhline(saturation.bound, color=_LOSS, linestyle="--", label="allowed by politeness at first")
    axes.axvline(saturation.slots, color=_PLAIN, linestyle=":", label=f"saturated: {saturation.slots} slots")
    axes.set(xlabel="slots of an agent", ylabel="pages per second and agent", xscale="log", yscale="log")
    axes.set_xticks(slots, [str(number) for number in slots])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    save(figure, folder / "slots.svg")
    caption = f"The rate until half of the pages are fetched with {scenario.slots} slots."
    return Plot("slots.svg", "Saturation", caption)


def _pyplot() -> Any:
    with optional():
        import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt
