"""crivello pages: lists or shows stored pages, as they are and as they were."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import emit, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crivello.collection import Collection
    from crivello.store import Row


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("pages")(pages)


def pages(
    folder: Folder,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="show the text of this page")] = "",
    raw: Annotated[
        bool, typer.Option("--raw", help="with --url: write the body as sent by the server")
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="with --url: write the text (the default)")] = False,
    links: Annotated[
        bool, typer.Option("--links", help="with --url: list the links, each with its anchor text")
    ] = False,
    headers: Annotated[bool, typer.Option("--headers", help="with --url: list the HTTP headers")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="with --url: list the versions, newest first")
    ] = False,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="with --url: the version at this time")
    ] = "",
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="list the pages of this domain and its subdomains")
    ] = "",
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="URL", help="list the pages whose URLs begin with this")
    ] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="list only the pages visited since this time")
    ] = "",
    json: Json = False,
) -> None:
    """List the outcome of each URL, or show one page, as it is or as it was.

    A time is a date, a date with a time (both in UTC unless they have a zone), a duration before now such as 2d or
    3h, or now.

    \b
    Examples:
      crivello pages example
      crivello pages example --site docs.example.org --since 2d --json
      crivello pages example --url https://www.example.org/ --raw > page.html
      crivello pages example --url https://www.example.org/ --history
      crivello pages example --url https://www.example.org/ --at 2026-05-01
    """
    from crivello.collection import Collection
    from crivello.crawl.story import copied
    from crivello.errors import InvalidArgument

    views = {"--raw": raw, "--text": text, "--links": links, "--headers": headers, "--history": history}
    chosen = [flag for flag, given in views.items() if given]
    of_one = [*chosen, *(["--at"] if at else [])]
    of_many = [
        flag for flag, given in {"--site": site, "--prefix": prefix, "--since": since}.items() if given
    ]
    collection = Collection(folder)
    if of_one and not url:
        raise InvalidArgument(f"{of_one[0]} shows one page", hint="name it with --url URL")
    if of_many and url:
        raise InvalidArgument(f"{of_many[0]} lists pages, and --url shows one", hint="take one of them")
    if len(chosen) > 1 or (history and at):
        raise InvalidArgument(f"{' and '.join(of_one)} do not go together", hint="take one of them")
    if not url:
        found = collection.pages(site=site or None, prefix=prefix or None, since=since or None)
        _list(found, json, f"{folder} has no pages yet" if not collection.has_pages else "no such pages")
        return
    if history:
        _list(collection.versions(url), json, f"{url} is not in {folder}", moments=True)
        return
    row = collection.page(url, at=at or None)
    if row is None:
        say(f"{url} is not in {folder}" if not at else f"{url} was not in {folder} at that time")
        raise typer.Exit(NOTHING)
    if json and not (links or headers):
        print_json(row.to_dict())
    elif not row.length:
        copy = copied(row)
        say(f"{url}: {f'{row.outcome}, {copy}' if copy else row.outcome}; nothing was stored")
        raise typer.Exit(NOTHING)
    elif raw:
        sys.stdout.buffer.write(collection.record(row).body)
    elif links:
        _show_links(collection, row, json)
    elif headers:
        _show_headers(collection, row, json)
    else:
        emit(collection.text(row))


def _list(rows: Iterable[Row], json: bool, otherwise: str, *, moments: bool = False) -> None:
    from crivello._times import shown
    from crivello.crawl.story import copied

    is_empty = True
    for row in rows:
        is_empty = False
        if json:
            print_json(row.to_dict())
        else:
            when = f"{shown(row.fetched_at)}  " if moments else ""
            is_page = row.status == 200 and row.outcome == "fetched"
            told = ["" if is_page else row.outcome, copied(row), "not stored" if row.is_dropped else ""]
            about = ", ".join(filter(None, told))
            emit(f"{when}{row.status or '---'}  {row.url}{f'  ({about})' if about else ''}")
    if is_empty:
        say(otherwise)
        raise typer.Exit(NOTHING)


def _show_links(collection: Collection, row: Row, json: bool) -> None:
    for link, anchor in collection.links(row):
        if json:
            print_json({"url": link, "anchor": anchor})
        else:
            emit(f"{link}  {anchor}".rstrip())


def _show_headers(collection: Collection, row: Row, json: bool) -> None:
    headers = collection.record(row).headers
    if json:
        print_json(headers)
        return
    for name, value in headers.items():
        emit(f"{name}: {value}")
