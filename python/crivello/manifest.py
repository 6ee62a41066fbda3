"""Private: the manifest, what makes a collection safe.

Every durable file of a collection is append-only, or written whole and renamed. A commit first makes the
files durable, then replaces ``manifest.json``, which names each with its committed length. Opening for
writing cuts every file back to what the manifest says, so whatever a crash left behind is gone.
A name that ends in ``/`` is a folder whose owner looks after it (a database with a log of its own): it has
to be there, and is left alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from crivello.errors import CorruptFile, NewerFormat, NotACollection, StorageError

NAME = "manifest.json"
FORMAT = 1
PARTS = ("frontier", "archive", "table", "index", "graph", "log")


class Manifest(msgspec.Struct, frozen=True):
    """Which files there are, how long each is, and what the parts want to remember."""

    format: int = FORMAT
    commits: int = 0
    files: dict[str, int] = {}
    state: dict[str, dict[str, Any]] = {}

    def with_changes(self, files: Mapping[str, int | None], state: Mapping[str, dict[str, Any]]) -> Manifest:
        """The next manifest: files with new lengths (None: no longer there) and parts with new states."""
        merged = {name: length for name, length in {**self.files, **files}.items() if length is not None}
        return Manifest(FORMAT, self.commits + 1, merged, {**self.state, **state})


def read(folder: Path) -> Manifest:
    """The manifest of a collection."""
    file = folder / NAME
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotACollection(
            f"{folder} is not a collection: it has no {NAME}",
            hint="`crivello crawl URL --into DIR` makes one",
        ) from None
    except OSError as error:
        raise StorageError.of(error, file) from None
    try:
        version = msgspec.json.decode(content, type=dict[str, Any]).get("format", 0)
        if version > FORMAT:
            raise NewerFormat(
                f"{file} has format version {version}, and this version of Crivello reads up to {FORMAT}",
                file,
            )
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, TypeError) as error:
        raise CorruptFile(f"{file} is damaged: {error}", file, 0) from None


def write(folder: Path, manifest: Manifest) -> None:
    """Replaces the manifest, durably: after this returns, a crash comes back to here."""
    write_whole(folder / NAME, msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def write_whole(file: Path, content: bytes) -> None:
    """Writes a file so that a crash leaves either the old one or the new one."""
    temporary = file.with_name(file.name + ".new")
    try:
        with temporary.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StorageError.of(error, file) from None


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cut_back(folder: Path, manifest: Manifest) -> None:
    """Cuts every file back to its committed length, and removes those that no commit names."""
    for name, length in manifest.files.items():
        file = folder / name
        if name.endswith("/"):
            if not file.is_dir():
                raise CorruptFile(f"{file} is missing, and was committed", file, 0)
            continue
        actual = file.stat().st_size if file.exists() else 0
        if actual < length:
            raise CorruptFile(
                f"{file} ends at byte {actual}, and {length} bytes were committed", file, actual
            )
        if actual > length:
            os.truncate(file, length)
    left_alone = tuple(name for name in manifest.files if name.endswith("/"))
    for part in PARTS:
        for file in (folder / part).rglob("*"):
            name = file.relative_to(folder).as_posix()
            if file.is_file() and name not in manifest.files and not name.startswith(left_alone):
                file.unlink()
