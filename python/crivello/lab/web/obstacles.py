"""Obstacles for a crawler: robots.txt, redirects and broken links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from crivello.lab.web.features import Feature
from crivello.lab.web.resource import HTML, TEXT, Resource
from crivello.lab.web.site import Site

_LETTERS = {
    "ledger.html": "The ledger of the society",
    "members.html": "A list of members",
    "minutes.html": "Minutes of a closed meeting",
}
_LOST_PAGES = ("/lost/chapter-nine.html", "/lost/index-of-names.html")


@dataclass(frozen=True, slots=True)
class Obstacles:
    """The URLs of the obstacles, by feature and by kind; a redirect's value is its target."""

    urls: dict[Feature, str]
    forbidden: frozenset[str]
    redirects: dict[str, str]
    broken: frozenset[str]


def add_obstacles(open_sites: Sequence[Site], closed_site: Site) -> Obstacles:
    """Put obstacles on the sites, each linked from a home page."""
    first, second = open_sites[0], open_sites[1]
    forbidden = _forbidden_part(first) | _closed_host(closed_site, open_sites)
    letter = first.url("/private/ledger.html")
    exception = first.publish_page(
        "/private/open-letter.html",
        "An open letter to the members",
        ["This letter lies among private papers, and the rules for robots name it as the exception."],
    )
    first.announce(exception, "An open letter to the members")

    chain = [first.url("/atlas-of-last-year"), first.url("/moved/atlas"), first.articles[-1].url]
    loop = [second.url("/loop/morning"), second.url("/loop/evening"), second.url("/loop/morning")]
    redirects = {
        **_redirect(first, chain, (301, 302)),
        **_redirect(second, loop, (302, 302)),
        **_redirect(first, [first.url("/shortcut"), letter], (302,)),
        **_redirect(second, [second.url("/our-friends"), first.articles[1].url], (308,)),
    }
    first.announce("/atlas-of-last-year", "Last year's atlas, which has moved")
    first.announce("/shortcut", "A shortcut to the ledger")
    second.announce("/loop/morning", "From morning to evening and back")
    second.announce("/our-friends", "A page by our friends")

    gone = second.put("/exhibition-2019", Resource(b"The exhibition is over.\n", TEXT, 410))
    second.announce(gone, "The exhibition of 2019")
    for site in open_sites:
        for path in _LOST_PAGES:
            site.announce(path, f"A page that was lost: {path.rpartition('/')[2]}")
    lost = [site.url(path) for site in open_sites for path in _LOST_PAGES]

    urls = {
        Feature.FORBIDDEN: letter,
        Feature.ALLOWED_EXCEPTION: exception,
        Feature.CLOSED_HOST: closed_site.home,
        Feature.REDIRECT_CHAIN: chain[0],
        Feature.REDIRECT_ACROSS_HOSTS: second.url("/our-friends"),
        Feature.REDIRECT_LOOP: loop[0],
        Feature.REDIRECT_TO_FORBIDDEN: first.url("/shortcut"),
        Feature.NOT_FOUND: lost[0],
        Feature.GONE: gone,
    }
    return Obstacles(urls, forbidden, redirects, frozenset([*lost, gone]))


def _forbidden_part(site: Site) -> frozenset[str]:
    rules = "User-agent: *\nAllow: /private/open-letter.html\nDisallow: /private/\n"
    site.put("/robots.txt", Resource(f"{rules}\nSitemap: {site.url('/sitemap.xml')}\n".encode(), TEXT))
    forbidden = set()
    for name, title in _LETTERS.items():
        target = f"/private/{name}"
        text = "No robot should ever read this page: the rules of this host forbid it."
        forbidden.add(site.put(target, site.plain_page(target, title, [text])))
        site.announce(target, title)
    return frozenset(forbidden)


def _closed_host(closed_site: Site, open_sites: Sequence[Site]) -> frozenset[str]:
    """A host whose robots.txt is unreachable is entirely forbidden (RFC 9309, 2.3.1.4)."""
    closed_site.put("/robots.txt", Resource(b"Try again later.\n", HTML, 503))
    closed = [closed_site.home, *(placed.url for placed in closed_site.articles)]
    for number, url in enumerate(closed):
        open_sites[number % len(open_sites)].announce(url, f"At our sister house, room {number + 1}")
    return frozenset(closed)


def _redirect(site: Site, hops: Sequence[str], statuses: Sequence[int]) -> dict[str, str]:
    """Redirects from each hop to the next; those on the same host use a relative Location."""
    steps = dict(pairwise(hops))
    for (source, target), status in zip(steps.items(), statuses, strict=True):
        site.put(
            source.removeprefix(site.origin), Resource.redirect(status, target.removeprefix(site.origin))
        )
    return steps
