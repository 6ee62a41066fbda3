"""Private: where the icon of a host may be stored."""

from __future__ import annotations

from heapq import nsmallest
from itertools import chain, islice
from typing import TYPE_CHECKING

from crivello._core import Outcome, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crivello._core import Row
    from crivello.collection import Collection

_ROWS_LOOKED_AT = 1000
_PAGES_READ = 10


def icon_urls(collection: Collection, host: str) -> list[str]:
    """The URLs where the icon of a host, with its port, may be stored, the best first: those that its pages declare,
    the nearest to the seeds first, then icons that other pages declared, then ``/favicon.ico``.

    At most 1,000 rows of each scheme are looked at, and ten pages read: of most sites one.
    """
    homes = [f"{scheme}://{host}/" for scheme in ("https", "http")]
    found = chain.from_iterable(_found(collection, home) for home in homes)
    return list(dict.fromkeys([*found, *(f"{home}favicon.ico" for home in homes)]))


def _found(collection: Collection, home: str) -> Iterator[str]:
    rows = list(islice(chain.from_iterable(collection.table.scan(prefix=home)), _ROWS_LOOKED_AT))
    limit = collection.settings.crawl.max_bytes
    for row in nsmallest(_PAGES_READ, filter(_is_page, rows), key=lambda row: (row.depth, len(row.url))):
        page = collection.record(row).parse(limit)
        if page and page.icon:
            yield page.icon
            break
    yield from (row.url for row in rows if _is_icon(row))


def _is_page(row: Row) -> bool:
    has_page = row.status == 200 and bool(row.length) and row.digest is not None
    return has_page and reading(row.content_type or "text/html") == "html"


def _is_icon(row: Row) -> bool:
    is_stored = row.outcome is Outcome.ASSET and row.status == 200
    return is_stored and (row.content_type or "").startswith("image/")
