"""crivello index: builds, updates and inspects the index."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crivello._figures import shown
from crivello.cli import NOTHING
from crivello.cli.options import Folder, InGroups, Json, with_settings
from crivello.cli.output import print_json, print_table, say, stderr_console
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.index.jsonl import JsonLines
    from crivello.settings import Settings


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("index", cls=InGroups)(with_settings("index", "index.codes", "rank")(index))


def index(
    folder: Folder,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE",
            help="index documents from JSON lines instead of crawled pages; -: standard input",
        ),
    ] = "",
    delete: Annotated[
        list[str] | None,
        typer.Option(
            "--delete", metavar="URL", help="delete the page with this URL from the index; may be repeated"
        ),
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="index all pages again, or replace the documents with those of FILE"),
    ] = False,
    merge: Annotated[
        bool,
        typer.Option("--merge", help="merge all segments into one, without replaced and deleted documents"),
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="show the content of the index, and the size of each part")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="read the entire index and verify its integrity")
    ] = False,
    json: Json = False,
    *,
    flags: dict[str, Any],
) -> None:
    """Index the pages crawled since the last time, and rank all pages by their links.

    \b
    Examples:
      crivello index example
      crivello index example --from documents.jsonl --threads 2 --memory 1G
      crivello index example --delete https://example.com/old.html
      crivello index example --rebuild --codes smallest --order url
      crivello index example --stats
      crivello index example --verify
    """
    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    asked = [name for name, is_asked in _tasks(source, delete, rebuild, merge, stats, verify) if is_asked]
    if len(asked) > 1 and asked not in (["--rebuild", "--merge"], ["--from", "--rebuild"]):
        raise InvalidArgument(
            f"{asked[0]} and {asked[1]} are two different things", hint="ask for one at a time"
        )
    file = Path(folder) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    if verify:
        _verify(Collection(folder), folder, json)
    elif stats:
        from crivello.cli.index_stats import show

        show(Collection(folder), folder, json)
    else:
        from crivello.index.jsonl import JsonLines

        # Report a wrong file name before anything is written.
        lines = JsonLines(source) if source else None
        with _opened(Path(folder), loaded, create=lines is not None) as collection:
            try:
                figures = _work(collection, lines, delete or [], rebuild, merge)
            except KeyboardInterrupt:
                say("stopped: the index is as it was committed last")
                raise
        for remark in lines.remarks() if lines else ():
            say(f"warning: {remark}")
        if lines and not figures["added"]:
            say(f"{source} has no documents")
            raise typer.Exit(NOTHING)
        _report(folder, figures, json)


@contextmanager
def _opened(folder: Path, loaded: Settings, *, create: bool) -> Iterator[Collection]:
    """The collection, open for writing; a newly created one is removed if nothing is committed to it."""
    from crivello.collection import SETTINGS, Collection

    is_new, had_folder = not (folder / SETTINGS).exists(), folder.exists()
    with Collection.write(folder, settings=loaded, create=create) as collection:
        try:
            yield collection
        finally:
            if is_new and not collection.files:
                for part in folder.iterdir():
                    shutil.rmtree(part) if part.is_dir() else part.unlink()
                if not had_folder:
                    folder.rmdir()


def _tasks(
    source: str, delete: list[str] | None, rebuild: bool, merge: bool, stats: bool, verify: bool
) -> list[tuple[str, bool]]:
    return [
        ("--from", bool(source)),
        ("--delete", bool(delete)),
        ("--rebuild", rebuild),
        ("--merge", merge),
        ("--stats", stats),
        ("--verify", verify),
    ]


def _verify(collection: Collection, folder: str, json: bool) -> None:
    with stderr_console().status("checking …"):
        collection.verify()
    say("the index is whole: every checksum is right and every list decodes")
    if json:
        print_json({"collection": folder, "verified": True})


def _work(
    collection: Collection, lines: JsonLines | None, delete: list[str], rebuild: bool, merge: bool
) -> dict[str, Any]:
    if delete:
        indexed = collection.delete(delete)
    elif lines is not None:
        indexed = collection.add(lines, rebuild=rebuild)
    else:
        indexed = collection.index(rebuild=rebuild, merge=merge)
    ranking = collection.rank(keep_given=True)
    failures = collection.extensions.failures()
    return {
        **indexed.to_dict(),
        **(ranking.to_dict() if ranking.pages else {}),
        **({"failures": failures} if failures else {}),
    }


def _report(folder: str, figures: dict[str, Any], json: bool) -> None:
    if not figures["documents"]:
        say(f"{folder} has no page yet that can be searched")
        raise typer.Exit(NOTHING)
    if json:
        print_json({"collection": folder, **figures})
        return
    failures = figures.pop("failures", {})
    rows = [
        ("  in place of older ones" if name == "replaced" else name.replace("_", " "), shown(value))
        for name, value in figures.items()
        if name not in ("replaced", "deleted") or value
    ]
    rows += [(f"failures of {name}", f"{told['count']:,}") for name, told in failures.items()]
    print_table(f"indexed {folder}", rows)
    say(f"next: crivello search {folder} WORDS, or crivello serve {folder}")
