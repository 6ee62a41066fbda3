"""The plots of a study, drawn from its DuckDB file.

Where a plot can show only one P per filter, it is the one solved from the *reference bound*: the median of
the bounds in the grid (or, without bounds, the smallest P).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crivello._extras import optional

with optional():
    import duckdb
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, PercentFormatter

BLOOM, STABLE, STABLE_MORE, PLAIN = "#c0392b", "#1f77b4", "#17a589", "#888888"

# A Bloom filter is stored with Max = 1, which the grid need not have.
_LEAST_MAX = "(SELECT min(max) FROM runs WHERE filter = 'stable')"


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot: its file name, its title, and what it shows."""

    file: str
    title: str
    caption: str
    draw: Callable[[duckdb.DuckDBPyConnection], Any]


def short(number: float) -> str:
    """A count in short form: 500 k, 40 M."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if number >= size:
            return f"{number / size:g} {unit}"
    return f"{number:g}"


def reference(database: duckdb.DuckDBPyConnection) -> str:
    """The SQL condition for the stable filters of the reference bound."""
    bound = _reference_bound(database)
    if bound is None:
        return "filter = 'stable' AND p = (SELECT min(p) FROM runs WHERE filter = 'stable')"
    return f"filter = 'stable' AND wanted = {bound!r}"


def reference_name(database: duckdb.DuckDBPyConnection) -> str:
    """The legend's name for the P of the reference bound."""
    bound = _reference_bound(database)
    return "smallest P" if bound is None else f"P for FPS ≤ {bound:g}"


def _reference_bound(database: duckdb.DuckDBPyConnection) -> float | None:
    bounds = sorted(
        row[0] for row in _rows(database, "SELECT DISTINCT wanted FROM runs WHERE wanted IS NOT NULL")
    )
    return bounds[len(bounds) // 2] if bounds else None


def draw_all(database: duckdb.DuckDBPyConnection, folder: Path) -> list[Plot]:
    """Draws every plot into the folder."""
    for plot in PLOTS:
        figure = plot.draw(database)
        figure.savefig(folder / plot.file, dpi=100)
        plt.close(figure)
    return list(PLOTS)


def _legend(axes: Any) -> None:
    """Names the lines; a stream of one element has none over which there is a rate."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> Sequence[tuple[Any, ...]]:
    return database.execute(query).fetchall()


def _shown_k(database: duckdb.DuckDBPyConnection) -> int:
    """The K of the grid that is nearest to 4: a Bloom filter has more than the grid."""
    query = "SELECT DISTINCT k FROM runs WHERE filter = 'stable' ORDER BY abs(k - 4), k LIMIT 1"
    return int(_rows(database, query)[0][0])


def _baseline(database: duckdb.DuckDBPyConnection) -> float:
    """The F1 of the baseline that calls every element a duplicate."""
    elements, distinct = _rows(database, "SELECT elements, distinct_elements FROM stream")[0]
    share = 1 - distinct / elements
    return float(2 * share / (1 + share))


def _f1_axis(axes: Any, database: duckdb.DuckDBPyConnection) -> None:
    axes.axhline(_baseline(database), color=PLAIN, linestyle=":", label="all are called duplicates")
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)


def _f1_over_k(database: duckdb.DuckDBPyConnection) -> Any:
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    conditions = ("filter = 'bloom'", f"{reference(database)} AND max = {_LEAST_MAX}")
    titles = ("Bloom", f"Stable Bloom, {reference_name(database)}")
    for axes, condition, title in zip(panels, conditions, titles, strict=True):
        cells = [row[0] for row in _rows(database, "SELECT DISTINCT cells FROM runs ORDER BY cells")]
        for number, size in enumerate(cells):
            points = _rows(
                database, f"SELECT k, f1 FROM runs WHERE {condition} AND cells = {size} ORDER BY k"
            )
            shade = plt.get_cmap("viridis")(0.9 * number / max(1, len(cells) - 1))
            axes.plot(*zip(*points, strict=True), marker="o", color=shade, label=f"m = {short(size)}")
        _f1_axis(axes, database)
        axes.set(title=title, xlabel="K, hash functions")
        axes.set_xticks([row[0] for row in _rows(database, "SELECT DISTINCT k FROM runs ORDER BY k")])
    panels[0].set_ylabel("F1 over the stream")
    _legend(panels[1])
    return figure


def _f1_over_m(database: duckdb.DuckDBPyConnection) -> Any:
    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    wide: dict[str, Any] = {"color": BLOOM, "marker": "o", "linewidth": 4, "alpha": 0.6}
    lines = [("Bloom, best K", "filter = 'bloom'", wide)]
    maxima = _rows(database, "SELECT DISTINCT max FROM runs WHERE filter = 'stable' ORDER BY max")
    for (maximum,), color in zip(maxima, itertools.cycle((STABLE, STABLE_MORE, "#8e44ad"))):
        name = f"Stable Bloom, Max = {maximum}"
        bounded = f"{reference(database)} AND max = {maximum}"
        lines.append(
            (f"{name}, {reference_name(database)}, best K", bounded, {"color": color, "marker": "s"})
        )
        free = f"filter = 'stable' AND max = {maximum}"
        lines.append((f"{name}, best P and K", free, {"color": color, "marker": "^", "linestyle": "--"}))
    for label, condition, style in lines:
        best = f"SELECT cells, max(f1) FROM runs WHERE {condition} GROUP BY cells ORDER BY cells"
        axes.plot(*zip(*_rows(database, best), strict=True), label=label, **style)
    _f1_axis(axes, database)
    _cells_axis(axes, database)
    axes.set_ylabel("F1 over the stream")
    _legend(axes)
    return figure


def _cells_axis(axes: Any, database: duckdb.DuckDBPyConnection) -> None:
    axes.set_xscale("log")
    axes.set_xticks([row[0] for row in _rows(database, "SELECT DISTINCT cells FROM runs ORDER BY cells")])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.minorticks_off()
    axes.set_xlabel("m, cells (log scale)")


def _false_positives(database: duckdb.DuckDBPyConnection) -> Any:
    cells = [row[0] for row in _rows(database, "SELECT DISTINCT cells FROM runs ORDER BY cells")]
    k = _shown_k(database)
    width = 2.6 * len(cells) + 1
    figure, panels = plt.subplots(
        1, len(cells), figsize=(width, 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    stable = f"{reference(database)} AND max = {_LEAST_MAX}"
    for axes, size in zip(panels[0], cells, strict=True):
        for label, condition, color in (
            ("Bloom", "filter = 'bloom'", BLOOM),
            (f"Stable Bloom,\n{reference_name(database)}", stable, STABLE),
        ):
            points = _rows(
                database,
                "SELECT position / 1e6, series.fp / (series.fp + series.tn) FROM series JOIN runs USING (run) "
                f"WHERE {condition} AND k = {k} AND cells = {size} AND series.fp + series.tn > 0 "
                "ORDER BY position",
            )
            axes.plot(*zip(*points, strict=True), color=color, label=label)
        axes.set(title=f"m = {short(size)}, K = {k}", xlabel="elements so far (millions)", ylim=(0, 1.02))
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("false positives among new elements")
    _legend(panels[0][-1])
    return figure


def _f1_along(database: duckdb.DuckDBPyConnection) -> Any:
    cells = [row[0] for row in _rows(database, "SELECT DISTINCT cells FROM runs ORDER BY cells")]
    k = _shown_k(database)
    width = 2.6 * len(cells) + 1
    figure, panels = plt.subplots(
        1, len(cells), figsize=(width, 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    stable = f"{reference(database)} AND max = {_LEAST_MAX}"
    so_far = "OVER (PARTITION BY run ORDER BY position)"
    for axes, size in zip(panels[0], cells, strict=True):
        for label, condition, color in (
            ("Bloom", "filter = 'bloom'", BLOOM),
            (f"Stable Bloom,\n{reference_name(database)}", stable, STABLE),
        ):
            points = _rows(
                database,
                "SELECT position / 1e6, 2 * tp / nullif(2 * tp + wrong, 0) FROM (SELECT position, "
                f"sum(series.tp) {so_far} AS tp, sum(series.fp + series.fn) {so_far} AS wrong "
                f"FROM series JOIN runs USING (run) WHERE {condition} AND k = {k} AND cells = {size}) "
                "WHERE tp + wrong > 0 ORDER BY position",
            )
            axes.plot(*zip(*points, strict=True), color=color, label=label)
        axes.set(title=f"m = {short(size)}, K = {k}", xlabel="elements so far (millions)", ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("F1 so far")
    _legend(panels[0][-1])
    return figure


def _effect_of_p(database: duckdb.DuckDBPyConnection) -> Any:
    cells = [row[0] for row in _rows(database, "SELECT DISTINCT cells FROM runs ORDER BY cells DESC LIMIT 3")]
    k = _shown_k(database)
    figure, panels = plt.subplots(
        1, len(cells), figsize=(3.6 * len(cells) + 1, 3.8), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, size in zip(panels[0], reversed(cells), strict=True):
        points = _rows(
            database,
            f"SELECT p, f1, fpr, fnr FROM runs WHERE filter = 'stable' AND max = {_LEAST_MAX} "
            f"AND k = {k} AND cells = {size} ORDER BY p",
        )
        decrements, *rates = zip(*points, strict=True)
        names = ("F1", "false positive rate", "false negative rate")
        for name, values, color in zip(names, rates, ("black", BLOOM, STABLE), strict=True):
            axes.plot(decrements, values, marker="o", color=color, label=name)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set(
            title=f"m = {short(size)}, K = {k}", xlabel="P, cells decremented (log scale)", ylim=(0, 1.02)
        )
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("share")
    _legend(panels[0][-1])
    return figure


PLOTS = (
    Plot(
        "f1-over-k.png",
        "F1 over K",
        "A large Bloom filter errs less with more hash functions, a small one is full sooner. A stable filter pays for "
        "each with its memory of what came before. Shown with the smallest Max.",
        _f1_over_k,
    ),
    Plot(
        "f1-over-m.png",
        "F1 over m",
        "The best of the grid for each number of cells. A cell has one bit with Max = 1, two with Max = 3. The "
        "dotted line is what the answer *always a duplicate* gets, and a saturated Bloom filter is just that.",
        _f1_over_m,
    ),
    Plot(
        "false-positives.png",
        "False positives along the stream",
        "The share of the new elements of each window that were called duplicates: Bloom saturates, Stable Bloom "
        "stays level.",
        _false_positives,
    ),
    Plot(
        "f1-along.png",
        "F1 along the stream",
        "How a filter deteriorates: F1 over everything up to there. A stable filter falls as duplicates come to lie further "
        "back than it remembers, and then stays; a Bloom filter falls until it calls every element a duplicate.",
        _f1_along,
    ),
    Plot(
        "effect-of-p.png",
        "The effect of P",
        "A blanket that is too short: a small P lets the filter fill up (false positives), a large one makes it "
        "forget (false negatives).",
        _effect_of_p,
    ),
)
