"""crivello feed: follows feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello.cli import NOTHING
from crivello.cli.options import InGroups, Json, with_settings
from crivello.cli.output import print_columns, print_json, say, stderr_console
from crivello.cli.units import counted

if TYPE_CHECKING:
    from crivello.feeds import Feed

app: typer.Typer = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""Follow RSS, Atom and JSON Feed: only what is new is fetched.

    \b
    Examples:
      crivello feed add news https://www.example.org/feed.xml
      crivello feed poll news
      crivello feed list news
    """,
)

Folder = Annotated[str, typer.Argument(metavar="DIR", help="the collection's folder", show_default=False)]
Urls = Annotated[list[str], typer.Argument(metavar="URL", help="the URLs of feeds", show_default=False)]


@app.callback()
def options() -> None:
    """Follow feeds."""


@app.command("add")
def add(
    folder: Folder,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="the URLs of feeds", show_default=False)
    ] = None,
    found: Annotated[
        bool, typer.Option("--found", help="also add every feed that the crawl came across")
    ] = False,
    json: Json = False,
) -> None:
    """Follow feeds; the collection is created if it is missing.

    \b
    Examples:
      crivello feed add news https://www.example.org/feed.xml https://blog.example.org/atom.xml
      crivello feed add example --found
    """
    from crivello.collection import Collection
    from crivello.errors import InvalidArgument

    if not urls and not found:
        raise InvalidArgument("which feeds?", hint="name their URLs, or give --found")
    with Collection.write(folder, create=bool(urls)) as collection:
        new = collection.feeds.add(urls or (), found=found)
        count = len(collection.feeds)
    if json:
        print_json({"collection": folder, "added": new, "feeds": count})
    else:
        print_columns([(url,) for url in new])
        say(f"{len(new):,} added, {count:,} in all{f'; next: crivello feed poll {folder}' if count else ''}")


@app.command("list")
def list_feeds(folder: Folder, json: Json = False) -> None:
    """List the feeds: when each is polled next, how many entries it had, and whether it is dead.

    \b
    Examples:
      crivello feed list news
      crivello feed list news --json
    """
    import msgspec

    from crivello.collection import Collection

    feeds = Collection(folder).feeds.list()
    if json:
        for feed in feeds:
            fields = {**msgspec.structs.asdict(feed), "is_dead": feed.is_dead}
            del fields["seen"]
            print_json(fields)
    else:
        print_columns([("next", "entries", "state", "feed"), *map(_line, feeds)], left=(0, 2, 3))
    if not feeds:
        say(f"{folder} follows no feed: `crivello feed add {folder} URL` adds one")
        raise typer.Exit(NOTHING)


def _line(feed: Feed) -> tuple[str, ...]:
    if feed.is_dead:
        state = f"dead: {feed.failure}"
    elif feed.failures:
        state = f"failed {counted(feed.failures, 'time')}: {feed.failure}"
    else:
        state = "followed" if feed.polls else "new"
    return _moment(feed.next), f"{feed.entries:,}", state, feed.url


def _moment(seconds: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


@app.command("poll", cls=InGroups)
@with_settings("crawl")
def poll(
    folder: Folder,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="only these feeds, due or not", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="all feeds, due or not")] = False,
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Ask the feeds that are due, and fetch the pages of their new entries.

    \b
    Examples:
      crivello feed poll news
      crivello feed poll news --all --json
    """
    from dataclasses import asdict
    from pathlib import Path

    from crivello import settings
    from crivello.cli.live import CrawlProgress
    from crivello.collection import SETTINGS, Collection

    file = Path(folder) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    progress = CrawlProgress(stderr_console(), loaded.crawl)
    with Collection.write(folder, settings=loaded) as collection:
        if not len(collection.feeds):
            say(f"{folder} follows no feed: `crivello feed add {folder} URL` adds one")
            raise typer.Exit(NOTHING)
        with progress.shown():
            found = collection.feeds.poll(urls or (), every=every, progress=progress)
        is_behind = collection.is_behind
    for polled in found:
        if json:
            print_json(asdict(polled))
        else:
            what = polled.failure or f"{len(polled.new):,} new"
            if polled.moved:
                what += f"; it moved to {polled.moved}"
            print_columns(
                [(polled.outcome, polled.url, what), *(("", url) for url in polled.new)], left=(0, 1, 2)
            )
    if not found:
        say("no feed is due; --all asks all of them")
        raise typer.Exit(NOTHING)
    if not json and is_behind:
        say(f"next: crivello index {folder}")


@app.command("remove")
def remove(folder: Folder, urls: Urls, json: Json = False) -> None:
    """Stop following feeds; their pages stay.

    \b
    Example:
      crivello feed remove news https://www.example.org/feed.xml
    """
    from crivello.collection import Collection

    with Collection.write(folder) as collection:
        gone = collection.feeds.remove(urls)
    if json:
        print_json({"collection": folder, "removed": gone})
    else:
        print_columns([(url,) for url in gone])
    if not gone:
        say("none of these was followed")
        raise typer.Exit(NOTHING)
