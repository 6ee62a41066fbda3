"""crivello doctor: checks the installation, or a collection."""

from __future__ import annotations

import importlib.metadata
import resource
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from crivello._extras import EXTRAS
from crivello.cli import FAILED
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.doctor import Finding as Damage

_DESCRIPTORS = 1024
_FREE_BYTES = 2**30


@dataclass(frozen=True)
class Finding:
    """The result of one check; ``advice`` if something has to be done."""

    what: str
    found: str
    good: bool
    advice: str = ""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("doctor")(doctor)


def doctor(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="[DIR]", help="a collection's folder; without one, the installation", show_default=False
        ),
    ] = "",
    repair: Annotated[
        bool, typer.Option("--repair", help="rebuild what is damaged from the archive and the journal")
    ] = False,
    json: Json = False,
) -> None:
    """Check a collection from end to end, or that everything Crivello needs is available; say what to do.

    Of a collection, every checksum, the record of every version of every page, and the references between table,
    archive, index and graph are checked. --repair rebuilds what can be rebuilt, and moves damaged files to the
    folder lost in the collection.

    \b
    Examples:
      crivello doctor
      crivello doctor example
      crivello doctor example --repair --json
    """
    if folder:
        _collection(folder, repair, json)
        return
    if repair:
        raise InvalidArgument("--repair needs a collection", hint="crivello doctor DIR --repair")
    findings = list(examine())
    for finding in findings:
        if json:
            print_json(finding)
        else:
            emit(f"{'ok ' if finding.good else 'NO '} {finding.what}: {finding.found}")
            if finding.advice:
                emit(f"     {finding.advice}")
    if not all(finding.good for finding in findings):
        raise typer.Exit(FAILED)


def _collection(folder: str, repair: bool, json: bool) -> None:
    """Checks or repairs a collection; exits with 3 if something remains."""
    from crivello.collection import Collection

    collection = Collection(folder)
    if repair:
        repaired = collection.repair()
        if json:
            print_json(repaired.to_dict())
        else:
            for line in repaired.done or ["nothing to repair"]:
                emit(line)
            for finding in repaired.remaining:
                _show(finding, folder)
        is_bad = bool(repaired.remaining)
    else:
        is_bad = False
        for found in collection.check():
            print_json(found.to_dict()) if json else _show(found, folder)
            is_bad = is_bad or found.severity != "note"
        if not json and not is_bad:
            emit(f"{folder}: nothing is damaged")
    if is_bad:
        raise typer.Exit(FAILED)


def _show(finding: Damage, folder: str) -> None:
    emit(str(finding))
    emit(f"     {finding.advice.replace('DIR', folder)}")


def examine() -> Iterator[Finding]:
    """Runs all checks."""
    yield Finding("Python", sys.version.split()[0], sys.version_info >= (3, 11), "")
    yield _native_core()
    yield from _packages()
    yield from _extras()
    yield _loopback()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = soft >= _DESCRIPTORS
    yield Finding(
        "open files allowed", f"{soft:,}", enough, "" if enough else f"raise it: ulimit -n {_DESCRIPTORS}"
    )
    free = shutil.disk_usage(".").free
    enough = free >= _FREE_BYTES
    yield Finding(
        "free disk here", f"{free / 2**30:.1f} GiB", enough, "" if enough else "a crawl wants at least 1 GiB"
    )


def _native_core() -> Finding:
    try:
        from crivello import _core

        _core.signature("http://a.example/")
        return Finding("native core", "works", True)
    except ImportError as error:
        return Finding("native core", str(error), False, "build it: make setup")


def _packages() -> Iterator[Finding]:
    for requirement in importlib.metadata.requires("crivello") or []:
        if "extra ==" in requirement:
            continue
        name = requirement.split(">")[0].split("=")[0].strip()
        try:
            yield Finding(name, importlib.metadata.version(name), True)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "missing", False, f"install it: pip install '{requirement}'")


def _extras() -> Iterator[Finding]:
    """The packages that some parts need; that one is missing is no fault."""
    for package, extra in EXTRAS.items():
        name = package.replace("_", "-")
        try:
            found, advice = importlib.metadata.version(name), ""
        except importlib.metadata.PackageNotFoundError:
            found, advice = "not installed", f"for {extra.purpose}: pip install 'crivello[{extra.name}]'"
        yield Finding(f"{name} ({extra.name})", found, True, advice)


def _loopback() -> Finding:
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.11", 0))
        return Finding("loopback addresses", "127.0.0.11 can be used", True)
    except OSError as error:
        return Finding(
            "loopback addresses",
            str(error),
            False,
            "the demo needs 127.0.0.x; on macOS: sudo ifconfig lo0 alias 127.0.0.11",
        )
