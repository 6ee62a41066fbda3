"""crivello import and crivello export: archives in and out."""

from __future__ import annotations

from typing import Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.options import Folder, Json
from crivello.cli.output import print_json, print_table, say

_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Adds the verbs."""
    app.command("import")(import_)
    app.command("export")(export)


def import_(
    folder: Folder,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="files, folders or patterns; -: standard input", show_default=False
        ),
    ],
    base: Annotated[
        str, typer.Option("--base", metavar="URL", help="the URL of a folder of HTML files")
    ] = "",
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="let the workers of the Ray cluster at this address read the files, one task each; "
            "local: of one started on this machine",
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Import pages from archives and other files into a collection, which is created if missing.

    WARC, ARC, WET and WACZ files (plain, gzip, Zstandard), the records that a CDXJ index names, folders that
    wget -r or HTTrack wrote, JSON lines and Parquet of pages; the URLs of a sitemap or a list become seeds.
    What a file is, is recognised by its content. Damage is reported with its offset, and everything else is
    kept. A file is imported once; after Ctrl-C the same command goes on.

    \b
    Examples:
      crivello import example crawls/*.warc.gz
      crivello import example site.wacz --json
      crivello import example mirror/ --base https://www.example.org/
      curl https://data.example.org/a.warc.gz | crivello import example -
      crivello import example 'crawls/*.warc.gz' --cluster 192.0.2.7:6379
    """
    from pathlib import Path

    from crivello import settings
    from crivello.archives.importing import check
    from crivello.collection import SETTINGS, Collection

    file = Path(folder) / SETTINGS
    check(files, settings.load(file if file.exists() else None), base, cluster)
    with Collection.write(folder, create=True) as collection:
        try:
            imported = collection.import_(files, base=base, cluster=cluster)
        except KeyboardInterrupt:
            say("stopped; the same command goes on")
            raise
    for damage in imported.damage[:_SHOWN]:
        say(f"warning: {damage}")
    if (more := imported.tally["damaged"] - _SHOWN) > 0:
        say(f"warning: {more:,} more damaged places")
    for note in imported.notes[:_SHOWN]:
        say(f"note: {note}")
    for url, of in imported.unresolved[:_SHOWN]:
        say(f"warning: {url} is a revisit of {of}, which was not imported before it")
    if (more := imported.tally["revisits of what is not here"] - _SHOWN) > 0:
        say(f"warning: {more:,} more revisits of what is not here")
    if json:
        print_json({"collection": folder, **imported.to_dict()})
    else:
        print_table(f"imported into {folder}", list(imported._figures()))
    if imported.pages and not json:
        say(f"next: crivello index {folder}")
    if not imported.pages and not imported.seeds and not imported.before:
        say("there was no page to import")
        raise typer.Exit(NOTHING)


def export(
    folder: Folder,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="the file to write; -: standard output")
    ] = "",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="warc, wacz, cdxj, jsonl, parquet or ciff (default: by the name of FILE, or warc)",
        ),
    ] = "",
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="only this host and its subdomains")
    ] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="only pages fetched since: 2026-05-01, 12h, 2d")
    ] = "",
    versions: Annotated[
        str, typer.Option("--versions", metavar="WHICH", help="newest, or all versions of each page")
    ] = "newest",
    compression: Annotated[
        str, typer.Option("--compression", metavar="KIND", help="of WARC files: gzip or zstd")
    ] = "",
    json: Json = False,
) -> None:
    """Export pages to an archive or a table, or the index to the Common Index File Format.

    \b
    Examples:
      crivello export example
      crivello export example --out example.warc.zst --versions all
      crivello export example --out example.wacz --site docs.example.org
      crivello export example --format cdxj --out - | head
      crivello export example --out pages.parquet --since 2d
    """
    from crivello._times import seconds_of
    from crivello.collection import Collection

    try:
        exported = Collection(folder).export(
            out,
            format=format,
            site=site,
            since=seconds_of(since) if since else 0.0,
            versions=versions,
            compression=compression,
        )
    except KeyboardInterrupt:
        say("stopped; nothing was written" if out != "-" else "stopped; what was written is not whole")
        raise
    if json and out != "-":
        print_json({"collection": folder, **exported.to_dict()})
    elif out != "-":
        print_table(f"exported {folder}", list(exported._figures()))
    if not exported.records:
        say(f"{folder} has nothing to export")
        raise typer.Exit(NOTHING)
