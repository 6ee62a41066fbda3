"""Plots an evaluation query by query, best first: one run's values, or the differences between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.evaluate.compare import differences
from crivello.evaluate.measures import Evaluation
from crivello.plots import check_format, save

_BETTER, _WORSE, _VALUE, _MEAN = "#17a589", "#c0392b", "#1f77b4", "#888888"
_COLUMNS = 3
_NAMED_QUERIES = 60


def draw(file: Path, first: Evaluation, second: Evaluation | None, title: str) -> None:
    """Draws one panel per measure."""
    check_format(file)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    measures = first.measures
    columns = min(_COLUMNS, len(measures))
    rows = -(-len(measures) // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(5.5 * columns, 3.6 * rows), layout="constrained", squeeze=False
    )
    figure.suptitle(title)
    for panel, measure in zip(panels.flat, measures, strict=False):
        if second is None:
            values = [values[measure] for values in first.queries.values()]
        else:
            values = differences(first, second, measure)
        _panel(panel, measure, list(first.queries), values, second is not None)
    for panel in list(panels.flat)[len(measures) :]:
        panel.axis("off")
    save(figure, file)


def _panel(panel: Any, measure: str, queries: list[str], values: list[float], is_difference: bool) -> None:
    order = sorted(range(len(values)), key=lambda place: -values[place])
    sorted_values = [values[place] for place in order]
    colors = [_BETTER if value > 0 else _WORSE for value in sorted_values] if is_difference else _VALUE
    panel.bar(range(len(values)), sorted_values, width=0.9, color=colors)
    mean = sum(values) / len(values)
    panel.axhline(mean, color=_MEAN, linestyle="--", label=f"mean {mean:{'+' if is_difference else ''}.4f}")
    panel.axhline(0, color="black", linewidth=0.6)
    panel.set(title=measure, ylabel="difference" if is_difference else "")
    if len(queries) <= _NAMED_QUERIES:
        panel.set_xticks(range(len(order)), [queries[place] for place in order], rotation=90, fontsize=6)
    else:
        panel.set(xticks=[], xlabel=f"{len(queries):,} queries")
    panel.legend(fontsize=8)
