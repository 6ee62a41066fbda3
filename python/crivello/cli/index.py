"""crivello index: builds, updates and inspects the index."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
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
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="index documents from JSON lines instead of crawled pages; -: standard input; may be repeated",
        ),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="let the workers of the Ray cluster at this address index the files, one task each; "
            "local: of this machine",
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
      crivello index example --from a.jsonl.gz --from b.jsonl.gz --cluster local
      crivello index example --delete https://example.com/old.html
      crivello index example --rebuild --codes smallest --order url
      crivello index example --stats
      crivello index example --verify
    """
    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    asked = [
        name for name, is_asked in _tasks(bool(sources), delete, rebuild, merge, stats, verify) if is_asked
    ]
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

        if cluster and (not sources or "-" in sources):
            raise InvalidArgument(
                "--cluster indexes files", hint="name them with --from FILE, once for each file"
            )
        # Report a wrong file name before anything is written.
        lines = [JsonLines(source) for source in sources or ()]
        with _opened(Path(folder), loaded, create=bool(lines)) as collection:
            try:
                figures = _work(collection, lines, delete or [], rebuild, merge, cluster)
            except KeyboardInterrupt:
                say("stopped: the index is as it was committed last")
                raise
        for remark in chain.from_iterable(file.remarks() for file in lines):
            _warn(remark)
        if lines and not figures["added"]:
            say(f"{', '.join(sources or ())} {'has' if len(lines) == 1 else 'have'} no documents")
            raise typer.Exit(NOTHING)
        if delete and (absent := len(set(delete)) - figures["deleted"]):
            of = f"{absent:,} of the {len(set(delete)):,} documents to delete"
            _warn(f"{of} {'is' if absent == 1 else 'are'} not in the index")
        _report(folder, figures, json)
        if delete and not figures["deleted"]:
            raise typer.Exit(NOTHING)


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
    given: bool, delete: list[str] | None, rebuild: bool, merge: bool, stats: bool, verify: bool
) -> list[tuple[str, bool]]:
    return [
        ("--from", given),
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
    collection: Collection,
    lines: list[JsonLines],
    delete: list[str],
    rebuild: bool,
    merge: bool,
    cluster: str,
) -> dict[str, Any]:
    if delete:
        indexed = collection.delete(delete)
    elif cluster:
        for file in lines:
            file.close()
        names = [file.name for file in lines]
        indexed = collection.add_files(names, cluster=cluster, rebuild=rebuild, on_remark=_warn)
    elif lines:
        documents = lines[0] if len(lines) == 1 else chain.from_iterable(lines)
        indexed = collection.add(documents, rebuild=rebuild)
    else:
        indexed = collection.index(rebuild=rebuild, merge=merge)
    ranking = collection.rank(keep_given=True)
    failures = collection.extensions.failures()
    return {
        **indexed.to_dict(),
        **(ranking.to_dict() if ranking.pages else {}),
        **({"failures": failures} if failures else {}),
    }


def _warn(remark: str) -> None:
    say(f"warning: {remark}")


def _report(folder: str, figures: dict[str, Any], json: bool) -> None:
    if not figures["documents"] and not figures["deleted"]:
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
