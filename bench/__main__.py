"""Runs the benchmarks and prints them as a table; the figures are also written to bench/results/PART.json."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

import bench
from bench import Measurement


def parts() -> list[str]:
    """The parts that can be measured."""
    return sorted(
        module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")
    )


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


def run(part: str, console: Console) -> None:
    table = Table(title=part, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("what", "ours", "peer", "theirs", "unit", "ratio", "asked", ""):
        table.add_column(
            column, justify="right" if column in ("ours", "theirs", "ratio", "asked") else "left"
        )
    measured: list[Measurement] = []
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    with console.status(f"measuring {part} …"):
        for one in importlib.import_module(f"bench.{part}").measure():
            measured.append(one)
            # At once: a run of an hour that is cut off has told what it has measured.
            (results / f"{part}.json").write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
            asked = "" if one.asked is None else f"{'≤' if one.smaller_is_better else '≥'} {one.asked:g}×"
            verdict = {None: "", True: "yes", False: "NO"}[one.reached]
            ratio = f"{one.ratio:.2f}×"
            table.add_row(
                one.what, shown(one.ours), one.peer, shown(one.theirs), one.unit, ratio, asked, verdict
            )
    console.print(table)


def main() -> None:
    wanted = sys.argv[1:] or parts()
    if unknown := [part for part in wanted if part not in parts()]:
        sys.exit(f"bench: no such part: {', '.join(unknown)} (there are: {', '.join(parts())})")
    for part in wanted:
        run(part, Console(width=140))


if __name__ == "__main__":
    main()
