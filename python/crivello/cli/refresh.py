"""crivello refresh: visits again what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli.live import CrawlProgress
from crivello.cli.options import Folder, InGroups, Json, with_settings
from crivello.cli.output import print_json, print_report, say, stderr_console
from crivello.cli.units import counted

if TYPE_CHECKING:
    from crivello.crawl import Report


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("refresh", cls=InGroups)(with_settings("crawl", "refresh")(refresh))


def refresh(
    folder: Folder,
    all: Annotated[bool, typer.Option("--all", help="visit every page now, whatever its schedule")] = False,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", min=0, help="maximum number of requests; 0: no limit")
    ] = 0,
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="only pages of this domain and its subdomains")
    ] = "",
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Visit the pages again that are due, and bring the index up to date.

    Requests are conditional. A changed page is stored and indexed again, one that is gone or moved leaves the
    index, and new links are followed as in a crawl. With --budget the most urgent pages are visited. A host that
    does not answer is left for later. When a page is due is set in the section [refresh] of the settings;
    `crivello why` says it for one page.

    \b
    Examples:
      crivello refresh example
      crivello refresh example --budget 1000
      crivello refresh example --policy adaptive --min-interval 1d
      crivello refresh example --all --site docs.example.org --json
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    file = Path(folder) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    progress = CrawlProgress(stderr_console(), loaded.crawl)
    due = 0

    def count(pages: int) -> None:
        nonlocal due
        due = pages
        say(f"{counted(pages, 'page')} to visit again" if pages else "nothing is due")

    with Collection.write(folder, settings=loaded) as collection:
        try:
            with progress.shown():
                report = collection.revisit(
                    all=all, budget=budget, site=site or None, progress=progress, on_due=count
                )
        except KeyboardInterrupt:
            if progress.report:
                _tell(folder, due, progress.report, {}, json)
            say(f"stopped; `crivello refresh {folder}` goes on with what is still due")
            raise
        indexed = collection.index(progress=not json).to_dict() if collection.is_behind else {}
    _tell(folder, due, report, indexed, json)


def _tell(folder: str, due: int, report: Report, indexed: dict[str, Any], json: bool) -> None:
    run = report.of_run()
    if json:
        print_json(
            {"collection": folder, "due": due, "revisits": run["revisits"], "run": run, "index": indexed}
        )
    elif due:
        print_report(f"refreshed {folder}", report)
        if indexed:
            say(f"indexed: {indexed['added']:,} added, {indexed['deleted']:,} deleted")
