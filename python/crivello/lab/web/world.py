"""The sample web as a whole, generated from a seed: sites, their articles, the links between them and the
features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from random import Random

from crivello.lab.web.article import Article, articles_on
from crivello.lab.web.calendar import Calendar
from crivello.lab.web.copies import Pair, add_duplicates, add_near_duplicates, mark_originals
from crivello.lab.web.documents import add_documents
from crivello.lab.web.features import Feature
from crivello.lab.web.obstacles import add_obstacles
from crivello.lab.web.page import Link
from crivello.lab.web.resource import TEXT, Resource
from crivello.lab.web.site import Placed, Site
from crivello.lab.web.syndication import FEED_LINK, add_feed, add_sitemap
from crivello.lab.web.themes import ENGLISH_THEMES, FOREIGN_THEMES, Theme, theme

_THEMES_OF_A_SITE = 3
_ONE_FOREIGN_ARTICLE_IN = 10
_LINKS_ELSEWHERE = 2
_CLOSED_ARTICLES = 4


@dataclass(frozen=True, slots=True)
class World:
    """Everything on the sample web, by URL."""

    resources: dict[str, Resource]
    pages: frozenset[str]
    forbidden: frozenset[str]
    redirects: dict[str, str]
    broken: frozenset[str]
    duplicates: list[Pair]
    near_duplicates: list[Pair]
    features: dict[Feature, str]
    spellings: tuple[str, ...]
    calendar: Calendar
    compressing_host: int
    slow_host: int


def make_world(seed: int, origins: list[str], pages_per_host: int) -> World:
    """A world of one site for each origin; the last is closed to robots, and the last but one is slow."""
    random = Random(seed)
    decks: dict[str, Iterator[Article]] = {}
    sites = [_new_site(number, origin, random) for number, origin in enumerate(origins)]
    *open_sites, closed_site = sites
    for site in open_sites:
        _write_articles(site, pages_per_host, decks, random)
    _write_articles(closed_site, _CLOSED_ARTICLES, decks, random)

    mark_originals(open_sites)
    popular = _Popular([placed for site in open_sites for placed in site.articles], random)
    for site in open_sites:
        site.pages.update(_put_articles(site, popular))
        site.publish_lists()
    _put_articles(closed_site, popular)
    closed_site.put("/", closed_site.plain_page("/", closed_site.name, ["This house is closed to robots."]))

    first, second, third = (open_sites[number % len(open_sites)] for number in range(3))
    obstacles = add_obstacles(open_sites, closed_site)
    documents = add_documents(first, second, third, decks[ENGLISH_THEMES[0]])
    duplicates = add_duplicates(open_sites)
    near_duplicates = add_near_duplicates(open_sites)
    calendar = Calendar(third.origin, third.frame(third.home, absolute=True))
    third.announce(calendar.entry, "Our calendar of events")
    features = {
        **obstacles.urls,
        **documents.urls,
        **add_feed(second),
        **add_sitemap(first),
        Feature.CALENDAR: calendar.entry,
        Feature.SLOW_HOST: open_sites[-1].home,
        Feature.COMPRESSED: second.home,
    }
    _publish_homes(open_sites, with_feed=second)
    third.resources.setdefault(third.url("/robots.txt"), Resource(b"User-agent: *\nDisallow:\n", TEXT))
    return World(
        resources={url: resource for site in sites for url, resource in site.resources.items()},
        pages=frozenset(url for site in open_sites for url in site.pages),
        forbidden=obstacles.forbidden,
        redirects=obstacles.redirects,
        broken=obstacles.broken,
        duplicates=duplicates,
        near_duplicates=near_duplicates,
        features=features,
        spellings=documents.spellings,
        calendar=calendar,
        compressing_host=sites.index(second),
        slow_host=len(open_sites) - 1,
    )


def _new_site(number: int, origin: str, random: Random) -> Site:
    english = [
        theme(ENGLISH_THEMES[(number * _THEMES_OF_A_SITE + offset) % len(ENGLISH_THEMES)])
        for offset in range(_THEMES_OF_A_SITE)
    ]
    foreign_language, foreign_theme = FOREIGN_THEMES[number % len(FOREIGN_THEMES)]
    return Site(number, origin, [*english, theme(foreign_theme, foreign_language)], random)


def _write_articles(site: Site, how_many: int, decks: dict[str, Iterator[Article]], random: Random) -> None:
    """Place articles on every theme of the site; sites that share a theme never share an article."""
    for slug, count in _shares(list(site.themes.values()), how_many).items():
        deck = decks.setdefault(slug, articles_on(site.themes[slug], random))
        for article in islice(deck, count):
            site.place(article)
    random.shuffle(site.articles)


def _put_articles(site: Site, popular: _Popular) -> list[str]:
    """Put the pages of the site's articles; returns their URLs."""
    return [
        site.put(
            placed.url.removeprefix(site.origin), Resource(site.article_html(placed, popular.links(site)))
        )
        for placed in site.articles
    ]


def _shares(themes: list[Theme], how_many: int) -> dict[str, int]:
    """The number of articles per theme: most for the English ones, and at least one for each."""
    *english, foreign = themes
    in_foreign = max(1, how_many // _ONE_FOREIGN_ARTICLE_IN)
    each, left_over = divmod(how_many - in_foreign, len(english))
    shares = {theme.slug: each + (number < left_over) for number, theme in enumerate(english)}
    return {**shares, foreign.slug: in_foreign}


class _Popular:
    """Links to other hosts; a few articles attract most of them, as on the real web (Zipf's law)."""

    def __init__(self, articles: list[Placed], random: Random) -> None:
        self._articles = random.sample(articles, len(articles))
        self._cumulative = list(accumulate(1 / rank for rank in range(1, len(articles) + 1)))
        self._random = random

    def links(self, site: Site) -> list[Link]:
        """A few links from a page of ``site`` to pages that are not on it."""
        drawn = self._random.choices(self._articles, cum_weights=self._cumulative, k=4 * _LINKS_ELSEWHERE)
        foreign = {placed.url: placed for placed in drawn if not placed.url.startswith(site.origin + "/")}
        chosen = list(foreign.values())[:_LINKS_ELSEWHERE]
        return [Link(placed.url, placed.article.title) for placed in chosen]


def _publish_homes(open_sites: list[Site], with_feed: Site) -> None:
    """Publish home pages, each linking to the next two sites, so that the path to the last one is long."""
    for number, site in enumerate(open_sites):
        following = [open_sites[(number + step) % len(open_sites)] for step in (1, 2)]
        neighbours = [each for each in following if each is not site]
        site.publish_home(neighbours, head=FEED_LINK if site is with_feed else "")
