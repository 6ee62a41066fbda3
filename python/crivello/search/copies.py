"""The near-duplicates that are collapsed under a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from crivello.search.results import Hit

if TYPE_CHECKING:
    from crivello.collection import Collection

# As many hits as a search collapses.
_LOOKED_AT = 1000


def near_copies(collection: Collection, query: str, url: str) -> list[Hit]:
    """The other matches whose SimHash is within ``search.collapse`` bits of the page's, the best first.

    Documents that were not crawled have no row, and so no copies here.
    """
    row = collection.page(url)
    wanted = row.simhash if row else None
    settings = collection.settings.search
    if not wanted or settings.collapse < 0:
        return []
    plain = structs.replace(settings, collapse=-1, per_site=0)
    found = collection.searcher().search(query, top=_LOOKED_AT, passages=False, settings=plain)
    rows = (collection.table.get(hit.url) if hit.url != url else None for hit in found)
    return [
        hit
        for hit, other in zip(found, rows, strict=True)
        if other and other.simhash and (other.simhash ^ wanted).bit_count() <= settings.collapse
    ]
