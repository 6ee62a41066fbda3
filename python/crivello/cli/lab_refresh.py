"""crivello lab refresh: simulates the policies of revisits."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli.options import Json
from crivello.cli.output import emit, print_json, progress_of, say, stdout_console
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.lab.refresh import Study

# Visits per page and day of the default budgets.
_SHARES = (0.01, 0.03, 0.1, 0.3)


def refresh(
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="a collection whose history is the trace", show_default=False),
    ] = "",
    policy: Annotated[
        str,
        typer.Option(
            "--policy", metavar="P,…", help="some policies; default: all and oracle", show_default=False
        ),
    ] = "",
    pages: Annotated[
        int, typer.Option("--pages", min=10, max=1_000_000, help="number of generated pages")
    ] = 2000,
    days: Annotated[float, typer.Option("--days", min=1, max=3650, help="duration of the trace")] = 300,
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            metavar="N,…",
            help="requests per day; default: 0.01, 0.03, 0.1 and 0.3 per page",
            show_default=False,
        ),
    ] = "",
    correlation: Annotated[
        str,
        typer.Option("--correlation", metavar="C,…", help="correlations of rate of change and importance"),
    ] = "0,0.5",
    exponent: Annotated[
        float, typer.Option("--exponent", min=0, max=5, help="exponent of the power law of change rates")
    ] = 1.5,
    signals: Annotated[
        float, typer.Option("--signals", min=0, max=1, help="share of pages whose changes are announced")
    ] = 0.1,
    precision: Annotated[
        float, typer.Option("--precision", min=0.01, max=1, help="share of announcements that are right")
    ] = 0.9,
    recall: Annotated[
        float, typer.Option("--recall", min=0.01, max=1, help="share of changes that are announced")
    ] = 0.9,
    seeds: Annotated[int, typer.Option("--seeds", min=1, max=100, help="number of traces of each kind")] = 3,
    plot: Annotated[
        str,
        typer.Option("--plot", metavar="FILE", help="plot staleness against budget to a .png or .svg file"),
    ] = "",
    json: Json = False,
) -> None:
    """Simulate the policies of revisits on generated traces, or on the history of a collection: weighted staleness at
    equal budgets.

    Generated rates of change and importance have power laws. No policy knows the rates, except the oracle, which is
    the policy optimal with known rates; optimum is the least staleness of any allocation that knows them, computed. In
    the first two fifths of the time the policies learn: they are shown apart. The settings of [refresh] are taken from
    the environment, or from the collection.

    \b
    Examples:
      crivello lab refresh --plot staleness.svg
      crivello lab refresh --pages 10000 --budget 100,1000 --seeds 5
      crivello lab refresh example --budget 10,100,1000
      CRIVELLO_REFRESH_INCREASE=0.2 crivello lab refresh --policy optimal,adaptive --json
    """
    from crivello import settings
    from crivello.lab.refresh import Trace, generate, of_histories, study
    from crivello.plots import check_format

    if plot:
        check_format(Path(plot))
    refresh_settings = settings.load().refresh
    traces: dict[str, list[Trace]]
    if folder:
        from crivello.collection import Collection
        from crivello.lab.refresh import histories

        collection = Collection(folder)
        refresh_settings = collection.settings.refresh
        visited = histories(collection)
        traces = {collection.name: [of_histories(visited, seed=seed) for seed in range(seeds)]}
        pages = len(visited)
    else:
        traces = {
            f"correlation {value:g}": [
                generate(
                    pages,
                    days,
                    seed=seed,
                    exponent=exponent,
                    correlation=value,
                    signals=signals,
                    precision=precision,
                    recall=recall,
                )
                for seed in range(seeds)
            ]
            for value in _numbers(correlation, "--correlation")
        }
    wanted = _numbers(budget, "--budget") if budget else [share * pages for share in _SHARES]
    with progress_of("simulations") as progress:
        found = study(
            traces,
            wanted,
            policies=policy.split(",") if policy else (),
            settings=refresh_settings,
            progress=progress,
        )
    if plot:
        from crivello.lab.refresh.plot import draw

        draw(found, Path(plot))
        say(f"drew {plot}")
    if json:
        print_json(found.to_dict())
    else:
        _print(found)


def _numbers(text: str, flag: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidArgument(f"{flag}: {text!r} is no list of numbers", hint="as in 10,100,1000") from None


def _print(found: Study) -> None:
    from crivello.lab.refresh.study import WARM_UP

    for trace in found.names("trace"):
        emit(f"weighted staleness, {trace}, {found.pages:,} pages, {found.days:.3g} days; requests per day:")
        phases = {"policy": False, f"the first {WARM_UP * found.days:.3g} days": True}
        for title, learning in phases.items():
            means = {
                policy: [
                    statistics.fmean(found.staleness(trace, policy, budget, learning=learning))
                    for budget in found.names("budget")
                ]
                for policy in found.names("policy")
            }
            _table(found, title, {name: [f"{mean:.4f}" for mean in row] for name, row in means.items()})
        titles = {"optimal is less stale than": "mean", "at worst": "worst", "the optimum": "possible"}
        for title, field in titles.items():
            shares: dict[str, list[str]] = {}
            for one in found.comparisons:
                if one.trace == trace:
                    shares.setdefault(one.policy, []).append(f"{getattr(one, field):.1%}")
            _table(found, title, shares)


def _table(found: Study, title: str, rows: dict[str, list[str]]) -> None:
    from rich.table import Table

    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(title, no_wrap=True)
    for budget in found.names("budget"):
        table.add_column(f"{budget:,.4g}", justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    stdout_console().print(table)
    emit("")
