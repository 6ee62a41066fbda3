"""From a response to what is stored of it: the record for the archive, and what parsing found."""

from __future__ import annotations

from dataclasses import dataclass

from crivello import _core
from crivello.crawl.convert import Converted
from crivello.crawl.fetch import Response
from crivello.errors import InvalidArgument
from crivello.parse import parse
from crivello.store.archive import conversion_record, response_record


@dataclass(frozen=True, slots=True)
class Page:
    """A response, ready for the store; ``parsed`` is None where there was nothing to parse."""

    record: bytes
    conversion: bytes | None
    parsed: _core.ParsedPage | None
    title: str
    undecodable: bool = False


def make_page(response: Response, when: float, limit: int, converted: Converted | None = None) -> Page:
    """Compresses and parses; native code that leaves the GIL, so it may run in threads."""
    status = f"{response.status} {response.reason}".strip()
    record = response_record(response.url, when, response.address, status, response.headers, response.body)
    if converted is not None:
        parsed = _core.parse_text(converted.text.encode(), "text/plain; charset=utf-8")
        title = converted.title.strip() or response.url.rsplit("/", 1)[-1]
        return Page(record, conversion_record(response.url, when, converted.text), parsed, title)
    if response.status != 200:
        return Page(record, None, None, "")
    try:
        found = parse(response.url, response.header, response.body, limit)
    except InvalidArgument:
        return Page(record, None, None, "", undecodable=True)
    return Page(record, None, found, found.title if found else "")
