"""Plots a crawl over time: throughput, queues, hosts and errors; a dashed line marks the start of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.crawl.timeline import Timeline
from crivello.plots import check_format, save

_STRETCHES = 240
_SPEED, _VOLUME, _WAITING, _QUEUED, _HOSTS, _ERRORS = (
    "#1f77b4",
    "#888888",
    "#6c3483",
    "#17a589",
    "#b9770e",
    "#c0392b",
)


def draw(timeline: Timeline, title: str, file: Path) -> None:
    """Draws the plot into a file."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, axes = plt.subplots(2, 2, figsize=(12, 7.5), sharex=True, layout="constrained")
    figure.suptitle(title, fontsize=13)
    unit, name = _unit(timeline.seconds)
    stretches = max(1, min(_STRETCHES, len(timeline.samples)))
    moments = [moment / unit for moment in timeline.moments(stretches)]
    speed, queues, hosts, errors = axes.flat

    def line(axis: Any, values: list[float], color: str, label: str) -> None:
        axis.plot(
            moments, values, color=color, label=label, linewidth=1.6, marker="." if stretches < 30 else ""
        )

    line(speed, timeline.rates("pages", stretches), _SPEED, "pages/s")
    volume = speed.twinx()
    line(volume, [rate / 2**20 for rate in timeline.rates("bytes", stretches)], _VOLUME, "MiB/s")
    volume.set_ylabel("MiB/s", color=_VOLUME)
    line(queues, timeline.levels("waiting", stretches), _WAITING, "URLs waiting")
    line(queues, timeline.levels("queued", stretches), _QUEUED, "URLs in the queues of hosts")
    line(hosts, timeline.levels("active", stretches), _HOSTS, "fetched from")
    waiting = hosts.twinx()
    line(waiting, timeline.levels("hosts_in_workbench", stretches), _WAITING, "in the workbench")
    line(waiting, timeline.levels("hosts_waiting", stretches), _QUEUED, "waiting for it")
    line(errors, timeline.levels("errors", stretches), _ERRORS, "errors so far")
    for axis, heading in ((speed, "Speed"), (queues, "URLs"), (hosts, "Hosts"), (errors, "Errors")):
        axis.set_title(heading, loc="left", fontsize=11)
        axis.set_xlim(0, timeline.seconds / unit or 1)
        axis.grid(alpha=0.25)
        for start in timeline.runs[1:]:
            axis.axvline(start / unit, color="#444444", linestyle="--", linewidth=0.9)
    for axis in (*axes.flat, volume, waiting):
        axis.set_ylim(0, max(axis.get_ylim()[1], 0.01 if axis is volume else 1))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    speed.set_ylabel("pages/s", color=_SPEED)
    hosts.set_ylabel("fetched from", color=_HOSTS)
    waiting.set_ylabel("waiting")
    for axis in (queues, waiting, errors):
        axis.legend(loc="best", frameon=False, fontsize=9)
    for axis in (hosts, errors):
        axis.set_xlabel(f"{name} of crawling")
    save(figure, file)


def _unit(seconds: float) -> tuple[float, str]:
    """The unit of the time axis: its length in seconds, and its name."""
    if seconds < 300:
        return 1.0, "seconds"
    return (60.0, "minutes") if seconds < 3 * 3600 else (3600.0, "hours")
