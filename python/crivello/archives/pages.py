"""Pages from JSON lines and Parquet: ``{"url", "html" or "text", "date", "status", "headers", "content_type"}``.

Only ``url`` and one of ``html``, ``text`` and ``body`` are needed. With ``status`` and ``headers`` a page is a response; without,
it is a document, and one with only a text is like a page of a WET file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from crivello.errors import InvalidArgument

Page = tuple[str, float, int | None, list[tuple[str, str]], str | None, bytes]
_BATCH = 500
_BATCH_BYTES = 16 << 20
_URL = ("url", "uri", "target_uri", "warc_target_uri", "link")
_HTML = ("html", "raw_html", "body", "content")
_DATE = ("date", "fetched_at", "timestamp", "warc_date", "crawl_date", "time")
_TYPE = ("content_type", "mime", "mime_type", "type")
FROM_JSON = {*_URL, *_HTML, *_DATE, *_TYPE, "text", "status", "headers"}


class Batch:
    """Pages to import together."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self._bytes = 0

    def add(self, page: Page) -> None:
        """Adds a page."""
        self._pages.append(page)
        self._bytes += len(page[-1])

    @property
    def is_full(self) -> bool:
        """Whether it is time to import them."""
        return len(self._pages) >= _BATCH or self._bytes >= _BATCH_BYTES

    def take(self) -> list[Page]:
        """The pages, which are no longer here."""
        pages, self._pages, self._bytes = self._pages, [], 0
        return pages


def json_pages(lines: Iterable[bytes], name: str, done: int, path: Path) -> Iterator[tuple[int, Page, bool]]:
    """The pages of lines after the first ``done``, each with its number and whether it is only a text."""
    for number, line in enumerate(lines, start=1):
        if number <= done or not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            told = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
        except msgspec.DecodeError as error:
            raise InvalidArgument(f"{where} is not JSON: {error}") from None
        if not isinstance(told, dict):
            raise InvalidArgument(f"{where} is not a JSON object")
        yield number, *from_mapping({key.lower(): value for key, value in told.items()}, where, path)


def from_mapping(told: Mapping[str, Any], where: str, path: Path) -> tuple[Page, bool]:
    """A page, and whether it is only a text."""
    url = _first(told, _URL)
    if not isinstance(url, str) or not url:
        raise InvalidArgument(f"{where} has no url", hint="each page needs a url, and html or text")
    html, text = _first(told, _HTML), told.get("text")
    status = told.get("status")
    # A redirect has a status and no body.
    body = next((given for given in (html, text, None if status is None else "") if given is not None), None)
    if not isinstance(body, str | bytes):
        raise InvalidArgument(
            f"{where} has neither html nor text", hint="each page needs a url, and html or text"
        )
    encoded = body if isinstance(body, bytes) else body.encode(errors="replace")
    kind = _first(told, _TYPE)
    default = "text/html" if html is not None else "text/plain"
    media_type = kind if isinstance(kind, str) and kind else default
    if isinstance(body, str):
        # The text was decoded when the file was written: what the server declared is no longer true.
        media_type = f"{media_type.split(';')[0]}; charset=utf-8"
    headers = _headers(told.get("headers"), media_type)
    page = (url, _moment(_first(told, _DATE), where, path), None, headers, media_type, encoded)
    if status is None or not str(status).isdigit():
        return page, html is None
    return (*page[:2], int(status), *page[3:]), False


def _first(told: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _headers(given: Any, media_type: str) -> list[tuple[str, str]]:
    """Header fields, without those that are about the bytes on the wire."""
    pairs = given.items() if isinstance(given, Mapping) else given or []
    dropped = {"content-type", "content-encoding", "content-length", "transfer-encoding"}
    kept = [(str(name), str(value)) for name, value in pairs if str(name).lower() not in dropped]
    return [("Content-Type", media_type), *kept]


def _moment(given: Any, where: str, path: Path) -> float:
    """A date as seconds since 1970; that of the file if there is none."""
    match given:
        case None | "":
            return path.stat().st_mtime
        case datetime():
            return (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
        case date():
            return datetime(given.year, given.month, given.day, tzinfo=UTC).timestamp()
        case int() | float():
            return float(given) / (1000 if given > 1e11 else 1)
        case str():
            try:
                read = datetime.fromisoformat(given)
            except ValueError:
                raise InvalidArgument(
                    f"{where}: {given!r} is not a date", hint="write it as 2024-05-01T12:00:00Z"
                ) from None
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        case _:
            raise InvalidArgument(
                f"{where}: {given!r} is not a date", hint="write it as 2024-05-01T12:00:00Z"
            )
