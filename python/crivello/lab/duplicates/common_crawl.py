"""Private: the URLs of a Common Crawl index, as a table of DuckDB.

A crawl such as ``CC-MAIN-2024-42`` lists the parts of its index in ``crawl-data/CRAWL/cc-index.paths.gz``; each
part, ``cdx-00000.gz``, has some ten million lines, a sort key, a timestamp and a JSON object with the URL, in 600 MB
or so. Parts are downloaded one after the other; an interrupted download goes on where it was (HTTP Range), and a
finished one is not repeated. The URLs are appended to the table ``urls (part, url)`` of ``urls.duckdb``, a part in one
transaction, in the order of the index: 10 to 20 bytes a URL.
"""

from __future__ import annotations

import gzip
import http.client
import re
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from crivello._extras import optional
from crivello.errors import CrivelloError, InvalidArgument, StorageError

with optional():
    import duckdb

BASE_URL = "https://data.commoncrawl.org/"
FILE = "urls.duckdb"

_CRAWL = re.compile(r"CC-MAIN-\d{4}(-\d{2}|-\d{4})?", re.ASCII)
_PART = re.compile(r"[\w./-]*/(cdx-\d+\.gz)", re.ASCII)
_TIMEOUT = 60.0
_BLOCK = 1 << 20
_LONGEST_LINE = 2 << 20
_MOST_PATHS = 16 << 20
_URLS_A_BATCH = 100_000
_AGAIN = "run it again: the download goes on where it was"

Progress = Callable[[int, int], None]


class _Complete(Exception):
    """A file has no more bytes than were downloaded before."""


def fetch(
    crawl: str, folder: Path, *, parts: int = 1, base_url: str = BASE_URL, progress: Progress | None = None
) -> Path:
    """Downloads the first parts of a crawl's index, and adds their URLs to the table; returns its file."""
    if not _CRAWL.fullmatch(crawl):
        raise InvalidArgument(f"{crawl!r} is no crawl of Common Crawl", hint="for example CC-MAIN-2024-42")
    base = base_url.rstrip("/") + "/"
    if not base.startswith(("http://", "https://")):
        raise InvalidArgument(
            f"{base_url!r} is not the address of a web server", hint=f"for example {BASE_URL}"
        )
    paths = _paths(f"{base}crawl-data/{crawl}/cc-index.paths.gz")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(str(folder / FILE)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS urls (part VARCHAR, url VARCHAR)")
            for path in paths[:parts]:
                part = f"{crawl}/{Path(path).name}"
                if database.execute("SELECT 1 FROM urls WHERE part = ? LIMIT 1", [part]).fetchone():
                    continue
                file = folder / part.replace("/", "-")
                _download(base + path, file, progress)
                _load(database, part, file)
    except OSError as error:
        raise StorageError.of(error, folder) from None
    except duckdb.Error as error:
        raise StorageError(f"{folder}: the URLs could not be kept: {error}", folder) from None
    return folder / FILE


def signatures_of(file: Path, crawl: str, parts: int) -> tuple[NDArray[np.uint64], int]:
    """The signatures of the URLs of a crawl's first parts, in the order of the index; how many parts they are."""
    from crivello.filters import signatures

    found = []
    with duckdb.connect(str(file), read_only=True) as database:
        wanted = "SELECT DISTINCT part FROM urls WHERE starts_with(part, ?) ORDER BY part LIMIT ?"
        read = database.execute(wanted, [f"{crawl}/", parts]).fetchall()
        for (part,) in read:
            rows = database.execute("SELECT url FROM urls WHERE part = ?", [part])
            while batch := rows.fetchmany(_URLS_A_BATCH):
                found.append(signatures([url for (url,) in batch]))
    if not found:
        raise InvalidArgument(f"{file} has no URLs of {crawl}")
    return np.concatenate(found), len(read)


def _paths(url: str) -> list[str]:
    """The paths of the parts of an index."""
    with _open(url, 0) as answer:
        packed = answer.read(_MOST_PATHS)
    try:
        listed = gzip.decompress(packed).decode().split()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise CrivelloError(f"{url} is not a list of files, compressed with gzip") from None
    found = [path for path in listed if _PART.fullmatch(path) and ".." not in path]
    if not found:
        raise CrivelloError(f"{url} lists no parts of an index")
    return found


def _download(url: str, file: Path, progress: Progress | None) -> None:
    """Downloads a file, going on with what there is of it; it has its name when it is whole."""
    if file.exists():
        return
    unfinished = file.with_name(f"{file.name}.part")
    done = unfinished.stat().st_size if unfinished.exists() else 0
    with suppress(_Complete):
        _fetch_rest(url, unfinished, done, progress)
    unfinished.replace(file)


def _fetch_rest(url: str, unfinished: Path, done: int, progress: Progress | None) -> None:
    """Downloads what is missing of a file, after its first ``done`` bytes."""
    with _open(url, done) as answer:
        if answer.status != http.client.PARTIAL_CONTENT:
            done = 0
        elif not (answer.headers.get("Content-Range") or "").startswith(f"bytes {done}-"):
            raise CrivelloError(f"{url}: the server sent another range than was asked for")
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length and length.isdigit() else 0
        with unfinished.open("r+b" if done else "wb") as out:
            out.seek(done)
            for block in _blocks(answer, url):
                out.write(block)
                done += len(block)
                if progress is not None:
                    progress(done, total)
    if total and done < total:
        raise CrivelloError(f"{url}: the connection ended after {done:,} of {total:,} bytes", hint=_AGAIN)


def _open(url: str, start: int) -> http.client.HTTPResponse:
    headers = {"User-Agent": "crivello lab", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=_TIMEOUT
        )
        return answer
    except urllib.error.HTTPError as error:
        if start and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            if error.headers.get("Content-Range", "").strip() == f"bytes */{start}":
                raise _Complete from None
            # What there is may be of another file: from the start.
            return _open(url, 0)
        raise CrivelloError(f"{url}: the server answered {error.code}") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise CrivelloError(f"could not reach {url}: {getattr(error, 'reason', error)}") from None


def _blocks(answer: IO[bytes], url: str) -> Iterator[bytes]:
    while True:
        try:
            block = answer.read(_BLOCK)
        except (http.client.HTTPException, OSError) as error:
            raise CrivelloError(f"{url}: the connection broke: {error}", hint=_AGAIN) from None
        if not block:
            return
        yield block


def _load(database: duckdb.DuckDBPyConnection, part: str, file: Path) -> None:
    """Appends the URLs of a part to the table, all or none; a line without one is left out."""
    try:
        # DuckDB does not look at the checksums.
        with gzip.open(file) as packed:
            while packed.read(_BLOCK):
                pass
        database.execute(_INSERT, [part, str(file), _LONGEST_LINE])
    except (OSError, EOFError, zlib.error, duckdb.Error) as error:
        file.unlink(missing_ok=True)
        reason = str(error).partition("\n")[0]
        raise StorageError(
            f"{file} is damaged and was removed: {reason}", file, hint="run it again"
        ) from None


_INSERT = """
    INSERT INTO urls
    SELECT ?, url FROM (
        SELECT json_extract_string(TRY_CAST(substr(line, strpos(line, '{')) AS JSON), '$.url') AS url
        FROM read_csv(?, columns = {'line': 'VARCHAR'}, auto_detect = false, header = false,
            delim = '\x01', quote = '', escape = '', compression = 'gzip', max_line_size = ?)
    ) WHERE url IS NOT NULL
"""
