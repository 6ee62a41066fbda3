"""Plots the study of queues: operations a second over the number of threads."""

from __future__ import annotations

from pathlib import Path

from crivello.lab.queues.study import Study
from crivello.plots import check_format, save


def draw(found: Study, file: Path) -> None:
    """Draws the plot."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    for queue in dict.fromkeys(row.queue for row in found.rows):
        rows = [row for row in found.rows if row.queue == queue]
        rates = [row.operations_per_second / 1e6 for row in rows]
        axes.plot([row.threads for row in rows], rates, marker="o", label=queue)
    threads = sorted({row.threads for row in found.rows})
    axes.axvline(found.processors, color="#888888", linestyle=":", label="processors")
    axes.set_xscale("log", base=2)
    axes.set_xticks(threads, [str(number) for number in threads])
    axes.set(xlabel="threads", ylabel="million operations a second", title="pushes and pops on one queue")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, file)
