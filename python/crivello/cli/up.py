"""crivello up: crawls, indexes while crawling, and serves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli.crawl import with_contact
from crivello.cli.live import CrawlProgress
from crivello.cli.options import InGroups, with_settings
from crivello.cli.output import print_report, say, stderr_console
from crivello.cli.units import counted

if TYPE_CHECKING:
    from typing import Never

    from crivello.collection import Collection
    from crivello.web import Server

_BETWEEN_LOOKS = 1.0


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("up", cls=InGroups)(with_settings("crawl", "serve")(up))


def up(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="where to start", show_default=False)],
    into: Annotated[
        str,
        typer.Option("--into", metavar="DIR", help="the collection's folder (default: the first URL's host)"),
    ] = "",
    forever: Annotated[
        bool,
        typer.Option(
            "--forever", help="then poll feeds and visit pages again when they are due, until Ctrl-C"
        ),
    ] = False,
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="with --forever: how often to look what is due")
    ] = "5m",
    once: Annotated[bool, typer.Option("--once", help="end when everything is crawled and indexed")] = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Crawl sites, index them while crawling, and serve the search page from the first page on.

    \b
    Examples:
      crivello up https://www.example.org/
      crivello up https://docs.example.org/ --into docs --max-pages 5000 --port 8000
      crivello up https://docs.example.org/ --into docs --forever --every 1h
    """
    from pathlib import Path
    from urllib.parse import urlsplit

    from crivello import settings, web
    from crivello.collection import SETTINGS, Collection
    from crivello.crawl.crawler import canonical_seeds, check, starts_on_private
    from crivello.errors import InvalidArgument
    from crivello.live import crawl_live
    from crivello.settings.numbers import SECONDS, parse_number

    seconds = parse_number(every, SECONDS)
    if seconds is None or seconds <= 0:
        raise InvalidArgument(f"--every: {every!r} is not a duration", hint="as in 30s, 5m or 1h")
    if once and forever:
        raise InvalidArgument("--once ends and --forever does not", hint="take one of them")
    seeds = canonical_seeds(urls)
    folder = Path(into or urlsplit(seeds[0]).netloc.replace(":", "-"))
    file = folder / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    check(loaded.crawl, seeds)
    if not starts_on_private(loaded.crawl, seeds):
        loaded = with_contact(loaded)
    progress = CrawlProgress(stderr_console(), loaded.crawl)
    with (
        Collection.write(folder, settings=loaded, create=True) as collection,
        web.Push(collection, loaded.serve.public_url) as push,
        web.Server(
            collection,
            loaded.serve.host,
            loaded.serve.port,
            push=push,
            doors=web.Doors(collection, loaded.serve),
            settings=loaded.serve,
        ) as server,
    ):
        say(f"the search page is at {server.url} and fills while the crawl goes on (Ctrl-C ends it)")
        say(f"watch and steer the crawl at {server.url}/crawl")
        try:
            with progress.shown():
                report = crawl_live(collection, seeds, on_progress=progress)
        except KeyboardInterrupt:
            if progress.report:
                print_report(f"crawled into {folder}", progress.report)
            say(f"stopped; `crivello up {' '.join(urls)} --into {folder}` goes on")
            raise
        print_report(f"crawled into {folder}", report)
        if forever:
            say(f"serving {server.url} and keeping it fresh (Ctrl-C ends it)")
            _keep_fresh(collection, seconds)
        collection.close()  # lets another process write; the server keeps reading
        if not once:
            say(f"still serving {server.url} (Ctrl-C ends it)")
            _serve_on(server, collection)


def _serve_on(server: Server, collection: Collection) -> None:
    """Serves until Ctrl-C, and crawls again when that is asked for on the dashboard."""
    from crivello.collection import Collection
    from crivello.crawl.now import Now
    from crivello.crawl.steering import waiting_commands
    from crivello.errors import CrivelloError
    from crivello.live import crawl_live

    folder, settings = collection.folder, collection.settings
    now = Now(folder, settings.crawl)
    failure = ""
    try:
        while not server.wait(_BETWEEN_LOOKS):
            now.tell(None, "idle")
            collection.refresh()
            if not waiting_commands(collection):
                continue
            try:
                with Collection.write(folder, settings=settings) as writer:
                    report = crawl_live(writer, [])
                    settings = writer.settings
            except CrivelloError as error:
                if str(error) != failure:
                    say(failure := str(error))
                continue
            now.settings = settings.crawl
            say(f"crawled as the dashboard said: {counted(report.pages_of_run, 'new page')}")
    finally:
        now.close()


def _keep_fresh(collection: Collection, seconds: float) -> Never:
    """Polls the feeds and visits the pages that are due at an interval, and indexes them."""
    from crivello.crawl.now import Now
    from crivello.crawl.steering import waiting_commands
    from crivello.live import crawl_live, poll_live, refresh_live

    while True:
        if polled := poll_live(collection):
            new, failed = sum(len(feed.new) for feed in polled), sum(bool(feed.failure) for feed in polled)
            say(f"polled {counted(len(polled), 'feed')}: {counted(new, 'new page')}, {failed:,} failed")
        report = refresh_live(collection)
        if report is not None:
            ends = ", ".join(f"{count:,} {how}" for how, count in sorted(report.of_run()["revisits"].items()))
            say(f"refreshed: {ends or 'nothing answered'}")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            Now(collection.folder, collection.settings.crawl).tell(None, "idle")
            if waiting_commands(collection):
                report = crawl_live(collection, [])
                say(f"crawled as the dashboard said: {counted(report.pages_of_run, 'new page')}")
            time.sleep(min(_BETWEEN_LOOKS, max(0.0, until - time.monotonic())))
