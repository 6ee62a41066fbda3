"""Duplicates and near-duplicates: the same page at two URLs, or nearly the same."""

from __future__ import annotations

from collections.abc import Sequence

from crivello.lab.web.resource import Resource
from crivello.lab.web.site import Placed, Site

Pair = tuple[str, str]

_SITES_WITH_COPIES = 3
_REWORDINGS = (
    (" often ", " frequently "),
    (" begin", " start"),
    (" every ", " each "),
    (" nearly ", " almost "),
    (" because ", " since "),
    (" small ", " little "),
)
_MOST_REWORDINGS = 1


def mark_originals(open_sites: Sequence[Site]) -> None:
    """Prepare the articles that will be copied; to be called before any page is rendered."""
    for site in open_sites[:_SITES_WITH_COPIES]:
        site.spell_links_in_full(0)
        site.spell_links_in_full(1)
    open_sites[0].spell_links_in_full(2)


def add_duplicates(open_sites: Sequence[Site]) -> list[Pair]:
    """Publish each site's first article on the next site too, and one article twice on the same site."""
    pairs = [
        _copy(site, site.articles[0], neighbour, "/mirror/") for site, neighbour in _neighbours(open_sites)
    ]
    first = open_sites[0]
    return [*pairs, _copy(first, first.articles[2], first, "/print/")]


def _copy(site: Site, original: Placed, target_site: Site, folder: str) -> Pair:
    copy = target_site.publish(f"{folder}{original.article.slug}.html", site.resources[original.url])
    target_site.announce(copy, f"{original.article.title} (a copy)")
    return original.url, copy


def add_near_duplicates(open_sites: Sequence[Site]) -> list[Pair]:
    """Publish each site's second article on the next site too, with a few words changed."""
    pairs = []
    for site, neighbour in _neighbours(open_sites):
        original = site.articles[1]
        page = _reworded(site.resources[original.url].body.decode(), original.article.lead)
        copy = neighbour.publish(f"/reprints/{original.article.slug}.html", Resource(page.encode()))
        neighbour.announce(copy, f"{original.article.title} (reprinted)")
        pairs.append((original.url, copy))
    return pairs


def _reworded(page: str, lead: str) -> str:
    """The page with a remark after its first paragraph and a few words changed."""
    page = page.replace(lead, f"{lead} (Reprinted.)", 1)
    for words, others in [pair for pair in _REWORDINGS if pair[0] in page][:_MOST_REWORDINGS]:
        page = page.replace(words, others, 1)
    return page


def _neighbours(open_sites: Sequence[Site]) -> list[tuple[Site, Site]]:
    following = [*open_sites[1:], open_sites[0]]
    return list(zip(open_sites, following, strict=True))[:_SITES_WITH_COPIES]
