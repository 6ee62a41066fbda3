"""crivello crawl: starts or resumes a crawl."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli.live import CrawlProgress
from crivello.cli.options import InGroups, Json, with_settings
from crivello.cli.output import print_json, print_report, say, stderr_console

if TYPE_CHECKING:
    from crivello.crawl import Report
    from crivello.settings import Settings


MOST_SEEDS = 100_000


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("crawl", cls=InGroups)(with_settings("crawl", "cluster")(crawl))


def crawl(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="seed URLs; none: resume the crawl", show_default=False),
    ] = None,
    into: Annotated[
        str, typer.Option("--into", metavar="DIR", help="the collection's folder; created if missing")
    ] = "",
    seeds_file: Annotated[
        str,
        typer.Option(
            "--seeds",
            metavar="FILE",
            help="file with more seed URLs, one per line; -: standard input",
        ),
    ] = "",
    agents: Annotated[
        int,
        typer.Option(
            "--agents",
            min=0,
            metavar="N",
            help="divide the hosts among N agents, each a process with a collection of its own in DIR",
            show_default=False,
        ),
    ] = 0,
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="let the agents run on the Ray cluster at this address [default: on this machine]",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Crawl from seed URLs into a collection, or resume a crawl.

    By default it stays on the hosts of the seeds (see --scope), obeys robots.txt, and pauses between visits
    to a host for five times the duration of the visit. Ctrl-C makes a checkpoint and exits; the same command
    without URLs resumes the crawl.

    \b
    Examples:
      crivello crawl https://www.example.org/ --into example
      crivello crawl --into example --max-pages 1000 --delay 2
      crivello crawl --seeds urls.txt --into many --scope domain --priority short
      crivello crawl https://www.example.org/ --into divided --agents 3
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import CLUSTER, SETTINGS, Collection
    from crivello.crawl.crawler import canonical_seeds, check, starts_on_private
    from crivello.errors import CrawlError, InvalidArgument

    if not into:
        raise InvalidArgument("where should the pages go?", hint="name a folder with --into DIR")
    file = Path(into) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    named = list(urls or [])
    if seeds_file:
        named += _read_seeds(seeds_file)
    seeds = canonical_seeds(named)
    # A crawl that cannot start leaves no folder behind.
    check(loaded.crawl, seeds)
    if seeds and not starts_on_private(loaded.crawl, seeds):
        loaded = with_contact(loaded)
    if loaded.crawl.max_depth == 0:
        say(
            "only the seeds are fetched, because max_depth is 0; --max-depth -1 follows links without a limit"
        )
    progress = CrawlProgress(stderr_console(), loaded.crawl)
    try:
        with progress.shown():
            if agents or cluster or (Path(into) / CLUSTER).exists():
                report = _by_agents(into, seeds, loaded, agents, cluster, progress)
            else:
                with Collection.write(into, settings=loaded, create=bool(seeds)) as collection:
                    report = collection.crawl(seeds, progress=progress)
    except KeyboardInterrupt:
        if progress.report:
            _tell(into, progress.report, json)
        say(f"stopped; `crivello crawl --into {into}` goes on")
        raise
    if not report.pages:
        reasons = ", ".join(f"{outcome} ({count:,})" for outcome, count in report.outcomes.items())
        raise CrawlError(f"nothing could be fetched: {reasons or 'no URL was tried'}")
    _tell(into, report, json)
    if json:
        return
    if not report.pages_of_run:
        say("nothing new was fetched: every known URL was visited before")
    if report.is_stopped:
        say(f"stopped from the dashboard; `crivello crawl --into {into}` goes on")
    if report.stopped_by:
        limit = getattr(loaded.crawl, report.stopped_by)
        say(f"stopped at {report.stopped_by} = {limit:g}; {report.waiting:,} URLs wait for the next run")
    say(f"next: crivello index {into}")


def _by_agents(
    into: str, seeds: list[str], loaded: Settings, agents: int, address: str, progress: CrawlProgress
) -> Report:
    """Crawls with several agents, on this machine or on a Ray cluster."""
    import msgspec

    from crivello.cluster.driver import crawl
    from crivello.crawl.crawler import starts_on_private

    if seeds and starts_on_private(loaded.crawl, seeds):
        # Consent is given once, for all agents.
        own = msgspec.structs.replace(loaded.crawl, allow_private=True)
        loaded = msgspec.structs.replace(loaded, crawl=own)
    return crawl(
        into,
        loaded,
        seeds=seeds,
        agents=agents,
        address=address,
        on_progress=lambda report, _: progress(report),
        on_event=say,
    )


def _tell(into: str, report: Report, json: bool) -> None:
    if json:
        print_json({"collection": into, **report.to_dict(), "run": report.of_run()})
    else:
        print_report(f"crawled into {into}", report)


def _read_seeds(file: str) -> list[str]:
    """The URLs in a file; blank lines and comments (#) are skipped."""
    from crivello.cli.lines import lines_of
    from crivello.errors import InvalidArgument

    seeds = [line for line in lines_of([file]) if not line.startswith("#")]
    if not seeds:
        raise InvalidArgument(f"there is no URL in {file}")
    if len(seeds) > MOST_SEEDS:
        raise InvalidArgument(
            f"{file} has {len(seeds):,} URLs, and a crawl starts from at most {MOST_SEEDS:,}",
            hint="crawl them in parts, into the same collection",
        )
    return seeds


def with_contact(loaded: Settings) -> Settings:
    """The settings with a contact address, which is asked for on a terminal."""
    import msgspec

    from crivello import settings

    if loaded.crawl.contact:
        return loaded
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say("no contact address: name one with --contact, so that site owners can reach you")
        return loaded
    say("Crawlers say who they are. A URL or mail address where site owners can reach you:")
    contact = settings.checked("crawl", "contact", input("contact: ").strip(), "the contact")
    return msgspec.structs.replace(loaded, crawl=msgspec.structs.replace(loaded.crawl, contact=contact))
