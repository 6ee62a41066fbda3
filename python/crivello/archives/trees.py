"""Folders of files that a mirroring program wrote: the URL of each file.

From the surest to the least sure: the log of HTTrack (``hts-cache/new.txt``), the comment that HTTrack puts into pages
(``<!-- Mirrored from … -->``), the URL of the folder if it is given, and a first folder that is named like a host, as
``wget -r`` makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from crivello.errors import InvalidArgument

_OWN = {"hts-cache", "hts-log.txt", "hts-in_progress.lock", "backblue.gif", "fade.gif", "cookies.txt"}
_MIRRORED = re.compile(rb"<!--\s*Mirrored from (\S+) by HTTrack")
_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)*\.[a-zA-Z][\w-]+|\d+\.\d+\.\d+\.\d+)([:+_]\d{1,5})?")
_INDEX = re.compile(r"(^|/)index\.html?$")
# A mirror's comment is in the first lines or, in some versions, in the last.
_HEAD = 1 << 14


class Tree:
    """The files of a folder in order, each with its URL."""

    def __init__(self, root: Path, base: str) -> None:
        self.root = root
        self._base = base if not base or base.endswith("/") else f"{base}/"
        self._logged = _log(root)
        self._scheme = _scheme(root)

    def files(self) -> Iterator[Path]:
        """The files, in order of their paths."""
        if self.root.is_file():
            yield self.root
            return
        folders = [self.root]
        while folders:
            entries = sorted(folders.pop().iterdir(), key=lambda entry: entry.name)
            entries = [entry for entry in entries if entry.name not in _OWN and not entry.is_symlink()]
            yield from (entry for entry in entries if entry.is_file())
            folders += reversed([entry for entry in entries if entry.is_dir()])

    def url(self, file: Path, body: bytes) -> str:
        """The URL of a file."""
        relative = (file.name if self.root.is_file() else file.relative_to(self.root).as_posix()) or file.name
        if url := self._logged.get(relative):
            return url
        found = _MIRRORED.search(body[:_HEAD]) or _MIRRORED.search(body[-_HEAD:])
        if found:
            return f"{self._scheme}://{found.group(1).decode(errors='replace')}"
        path = _INDEX.sub(r"\1", relative)
        if self._base:
            return urljoin(self._base, quote(path, safe="/%?&=:@!$'()*+,;~"))
        host, _, rest = path.partition("/")
        if not _HOST.fullmatch(host) or (not rest and "/" not in path):
            raise InvalidArgument(
                f"{file}: its URL cannot be told from its path",
                hint="say what the folder is with --base https://www.example.org/",
            )
        return f"{self._scheme}://{host.replace('+', ':')}/{quote(rest, safe=_KEPT)}"


_KEPT = "/%?&=:@!$'()*+,;~"


def _log(root: Path) -> dict[str, str]:
    """The URL of each file by HTTrack's log of transfers: tab-separated, with the URL before the file."""
    file = root / "hts-cache" / "new.txt"
    urls: dict[str, str] = {}
    if not file.is_file():
        return urls
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            for url, local in pairwise(cells):
                if re.match(r"(https?://)?[\w.-]+(:\d+)?/", url) and not local.startswith("(from"):
                    urls[_local(root, local)] = url if "://" in url else f"http://{url}"
                    break
    return urls


def _local(root: Path, name: str) -> str:
    """A path of the log relative to the root: it begins with the path that the root had."""
    marker = f"/{root.name}/"
    return name.rsplit(marker, 1)[-1] if marker in name else name.lstrip("/")


def _scheme(root: Path) -> str:
    """The scheme of the first URL in HTTrack's own log; http if there is none."""
    log = root / "hts-log.txt"
    if log.is_file():
        with log.open("rb") as file:
            if found := re.search(rb"(https?)://", file.read(_HEAD)):
                return found.group(1).decode()
    return "http"


def is_url(text: str) -> bool:
    """Whether a text is the URL of a page."""
    return urlsplit(text).scheme in ("http", "https") and bool(urlsplit(text).netloc)
