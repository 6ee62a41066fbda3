"""All exceptions that Crivello raises deliberately.

    CrivelloError
    ├── InvalidArgument        a wrong argument: a malformed URL, a value out of range
    │   ├── InvalidSetting     a setting's value is not allowed
    │   └── QuerySyntaxError   a query does not parse (``position``)
    ├── CollectionError        the folder is not what was asked for
    │   ├── NotACollection     there is no collection in the folder
    │   └── CollectionInUse    another process is writing to it
    ├── StorageError           the disk or the file system refused (``path``, ``errno``)
    │   ├── CorruptFile        a file is damaged (``path``, ``offset``)
    │   ├── NewerFormat        a file was written by a later version (``path``)
    │   └── OlderFormat        a file was written by an earlier version, in a format no longer read (``path``)
    ├── CrawlError             a crawl cannot start or go on
    ├── ExtensionError         a user-defined class failed (``crivello.extend``)
    └── InternalError          a bug in Crivello

The message is one sentence; ``hint`` suggests what to try, if there is anything to try.
"""

from __future__ import annotations

import errno
from pathlib import Path


class CrivelloError(Exception):
    """Base class of all exceptions of Crivello."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")  # so that a traceback shows it


class InvalidArgument(CrivelloError):
    """A wrong argument."""


class InvalidSetting(InvalidArgument):
    """A setting's value is not allowed."""


class QuerySyntaxError(InvalidArgument):
    """A query does not parse; ``position`` is the index of the offending character, from 0."""

    def __init__(self, message: str, position: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.position = position


class CollectionError(CrivelloError):
    """The folder is not what was asked for."""


class NotACollection(CollectionError):
    """There is no collection in the folder."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="`crivello crawl URL --into DIR` makes one")


class CollectionInUse(CollectionError):
    """Another process is writing to the collection."""

    def __init__(self, message: str) -> None:
        hint = "wait until it ends, or stop it with Ctrl-C; reading and searching go on meanwhile"
        super().__init__(message, hint=hint)


class StorageError(CrivelloError):
    """The disk or the file system refused."""

    def __init__(
        self, message: str, path: str | Path, code: int | None = None, *, hint: str | None = None
    ) -> None:
        if hint is None and code == errno.ENOSPC:
            hint = "the disk is full: free some space and go on; what was committed is safe"
        super().__init__(message, hint=hint)
        self.path: Path = Path(path)
        self.errno = code

    @classmethod
    def of(cls, error: OSError, path: str | Path) -> StorageError:
        """Wraps an ``OSError`` about ``path``."""
        return cls(f"{path}: {error.strerror or error}", path, error.errno)


class CorruptFile(StorageError):
    """A file is damaged: its content is not what was written."""

    def __init__(self, message: str, path: str | Path, offset: int) -> None:
        super().__init__(message, path)
        self.offset = offset


class NewerFormat(StorageError):
    """A file was written by a later version of Crivello."""

    def __init__(self, message: str, path: str | Path) -> None:
        super().__init__(message, path, hint="install the newest version of crivello")


class OlderFormat(StorageError):
    """A file was written by an earlier version of Crivello, in a format that is no longer supported."""

    def __init__(
        self,
        message: str,
        path: str | Path,
        hint: str = "build the index anew: crivello index DIR --rebuild",
    ) -> None:
        super().__init__(message, path, hint=hint)


class CrawlError(CrivelloError):
    """A crawl cannot start or go on."""


class ExtensionError(CrivelloError):
    """A user-defined class failed."""


class InternalError(CrivelloError):
    """A bug in Crivello."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="this is a bug in Crivello: please report it with the command you ran")
