"""crivello doctor: checks the installation."""

from __future__ import annotations

import importlib.metadata
import resource
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import typer

from crivello.cli import FAILED
from crivello.cli.options import Json
from crivello.cli.output import emit, print_json

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


def doctor(json: Json = False) -> None:
    """Check that everything Crivello needs is available, and suggest how to fix what is not.

    \b
    Examples:
      crivello doctor
    """
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


def examine() -> Iterator[Finding]:
    """Runs all checks."""
    yield Finding("Python", sys.version.split()[0], sys.version_info >= (3, 11), "")
    yield _native_core()
    yield from _packages()
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
