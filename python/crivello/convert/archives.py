"""Archives (ZIP, tar) and compressed files (gzip, bzip2, xz): the files in them, one level deep."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO
from urllib.parse import unquote, urlsplit

from crivello.convert import Converted, Markup, Unreadable
from crivello.convert.members import convert_file, convert_member, type_of
from crivello.convert.package import Budget, Package

FILES = 1000
"""The most files of an archive that are read."""
_ENDINGS = {".gz": "", ".bz2": "", ".xz": "", ".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar"}
_PIECE = 2**20
_COMPRESSED: dict[bytes, Callable[[IO[bytes]], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """A compressed file is what is in it; an archive is its files, each under a heading with its name."""
    del charset
    if body.startswith(b"PK\x03\x04"):
        return _together(_in_zip(body), url)
    if media_type == "application/zip":
        raise Unreadable("it is damaged (it is not a ZIP file)")
    unpacked = b"".join(_unpacked(body))
    if unpacked[257:262] == b"ustar":
        return _together(_in_tar(unpacked), url)
    name = posixpath.basename(unquote(urlsplit(url).path))
    stem, ending = posixpath.splitext(name)
    converted = convert_file(stem + _ENDINGS[ending] if ending in _ENDINGS else name, unpacked, url)
    converted.title = converted.title or stem
    return converted


def _together(files: Iterator[tuple[str, bytes]], url: str) -> Converted:
    markup = Markup()
    count = 0
    for name, body in files:
        count += convert_member(name, body, url, markup)
    if not count:
        raise Unreadable("none of its files has text")
    return Converted("", str(markup))


def _in_zip(body: bytes) -> Iterator[tuple[str, bytes]]:
    package = Package(body)
    for name in [name for name in package.names if type_of(name)][:FILES]:
        yield name, package.file(name)


def _in_tar(body: bytes) -> Iterator[tuple[str, bytes]]:
    count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as archive:
            for member in archive:
                if member.isfile() and type_of(member.name) and (file := archive.extractfile(member)):
                    yield member.name, file.read()
                    count += 1
                if count == FILES:
                    return
    except tarfile.TarError as error:
        raise Unreadable(f"it is damaged ({error})") from None


def _unpacked(body: bytes) -> Iterator[bytes]:
    """The content of a compressed file; a body that is not compressed is its own."""
    opened = next((opener for magic, opener in _COMPRESSED.items() if body.startswith(magic)), None)
    budget = Budget()
    try:
        with opened(io.BytesIO(body)) if opened else io.BytesIO(body) as file:
            while piece := file.read(_PIECE):
                budget.take(len(piece))
                yield piece
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise Unreadable(f"it is damaged ({error})") from None
