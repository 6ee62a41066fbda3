"""crivello crawl: crawl, or go on with a crawl."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from crivello.cli.live import CrawlProgress
from crivello.cli.options import Json, with_settings
from crivello.cli.output import print_json, print_table, report_rows, say, stderr_console


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("crawl")(with_settings("crawl")(crawl))


def crawl(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="where to start; none: go on", show_default=False),
    ] = None,
    into: Annotated[
        str, typer.Option("--into", metavar="DIR", help="the collection's folder; made where there is none")
    ] = "",
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Crawl from some URLs into a collection, or go on with a crawl.

    It stays on the hosts of the seeds (--scope any lets it out), obeys robots.txt, and waits between
    requests to a host. Ctrl-C makes a checkpoint and ends; the same command without URLs goes on.

    \b
    Examples:
      crivello crawl https://www.example.org/ --into example
      crivello crawl --into example --max-pages 1000 --delay 2
    """
    from pathlib import Path

    from crivello import crawl as crawling
    from crivello import settings
    from crivello.collection import SETTINGS, Collection
    from crivello.crawl.address import any_is_private
    from crivello.crawl.crawler import canonical_seeds
    from crivello.errors import CrawlError, InvalidArgument

    if not into:
        raise InvalidArgument("where should the pages go?", hint="name a folder with --into DIR")
    any_is_private(canonical_seeds(urls or []))  # what cannot be started leaves no folder behind
    file = Path(into) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    progress = CrawlProgress(stderr_console(), loaded.crawl)
    with Collection.write(into, settings=loaded, create=bool(urls)) as collection:
        try:
            with progress.shown():
                report = crawling.crawl(collection, urls or [], on_progress=progress)
        except KeyboardInterrupt:
            say(f"stopped; `crivello crawl --into {into}` goes on")
            raise
    if not report.pages:
        reasons = ", ".join(f"{outcome} ({count:,})" for outcome, count in report.outcomes.items())
        raise CrawlError(f"nothing could be fetched: {reasons or 'no URL was tried'}")
    if json:
        print_json({"collection": str(into), **report.to_dict()})
        return
    print_table(f"crawled into {into}", report_rows(report))
    if report.stopped_by:
        limit = getattr(loaded.crawl, report.stopped_by)
        say(f"stopped at {report.stopped_by} = {limit:g}; {report.waiting:,} URLs wait for the next run")
    say(f"next: crivello index {into}")
