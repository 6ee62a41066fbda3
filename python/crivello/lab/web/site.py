"""Sites: one host each, with articles on a few themes, lists of them and a home page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from random import Random

from crivello.lab.web.article import Article
from crivello.lab.web.page import (
    Frame,
    Link,
    article_page,
    document,
    link_list,
    paragraphs,
    spelled_relatively,
)
from crivello.lab.web.resource import Resource
from crivello.lab.web.themes import Theme, language

_ADJECTIVES = ("Patient", "Winding", "Copper", "Northern", "Quiet", "Saturday", "Salted", "Blue", "Wandering")
_NOUNS = ("Almanac", "Notebook", "Gazette", "Cabinet", "Review", "Reader", "Companion", "Workshop")
_LISTED_ON_A_PAGE = 20
_READ_NEXT = 5
_LINKS_WITH_FRAGMENT = 0.15


class Addressing(Enum):
    """How a site forms the URLs of its pages."""

    FILES = "/{theme}/{slug}.html"
    FOLDERS = "/{theme}/{slug}/"
    QUERIES = "/read?theme={theme}&article={slug}"

    def article(self, article: Article) -> str:
        """The path and query of an article."""
        return self.value.format(theme=article.theme, slug=article.slug)

    def section(self, theme: str, page: int) -> str:
        """The path and query of a page of a theme's list; the first page is 1."""
        if self is Addressing.QUERIES:
            return f"/list?theme={theme}" + (f"&page={page}" if page > 1 else "")
        return f"/{theme}/" + (f"?page={page}" if page > 1 else "")


@dataclass(frozen=True, slots=True)
class Placed:
    """An article with its URL; a page that is copied elsewhere uses absolute links."""

    url: str
    article: Article
    absolute: bool = False


class Site:
    """One host while its pages are being generated."""

    def __init__(self, number: int, origin: str, themes: Iterable[Theme], random: Random) -> None:
        self.origin = origin
        self.name = f"The {_ADJECTIVES[number % len(_ADJECTIVES)]} {_NOUNS[number % len(_NOUNS)]}"
        self.addressing: Addressing = list(Addressing)[number % len(Addressing)]
        self.themes: dict[str, Theme] = {theme.slug: theme for theme in themes}
        self.articles: list[Placed] = []
        self.resources: dict[str, Resource] = {}
        self.pages: set[str] = set()
        self._notices: list[Link] = []
        self._random = random

    @property
    def home(self) -> str:
        """The URL of the home page."""
        return self.url("/")

    def url(self, target: str) -> str:
        """The URL of a path and query on this host."""
        return self.origin + target

    def put(self, target: str, resource: Resource) -> str:
        """Serve ``resource`` at ``target``; returns its URL."""
        url = self.url(target)
        self.resources[url] = resource
        return url

    def publish(self, target: str, resource: Resource) -> str:
        """Put a document that a crawl should find."""
        url = self.put(target, resource)
        self.pages.add(url)
        return url

    def announce(self, href: str, text: str, rel: str = "") -> None:
        """Link something from the home page."""
        self._notices.append(Link(href, text, rel))

    def place(self, article: Article) -> Placed:
        """Assign an article its URL."""
        placed = Placed(self.url(self.addressing.article(article)), article)
        self.articles.append(placed)
        return placed

    def spell_links_in_full(self, position: int) -> Placed:
        """Make the links of an article absolute, so that they have the same targets in copies of its page."""
        self.articles[position] = replace(self.articles[position], absolute=True)
        return self.articles[position]

    def frame(self, source: str, *, absolute: bool = False) -> Frame:
        """The frame of the page ``source``."""
        targets = [(self.home, "Home")]
        targets += [(self._section(slug, 1), theme.name) for slug, theme in self.themes.items()]
        links = (self.link(source, target, text, absolute=absolute) for target, text in targets)
        return Frame(self.name, tuple(links))

    def link(self, source: str, target: str, text: str, *, absolute: bool = False) -> Link:
        """A link between two pages of this host."""
        return Link(target if absolute else spelled_relatively(source, target, self._random), text)

    def article_html(self, placed: Placed, elsewhere: list[Link]) -> bytes:
        """The page of an article, with links to others on this host and to those on other hosts
        (``elsewhere``)."""
        links = [self._link_between(placed, each) for each in self._related(placed)]
        frame = self.frame(placed.url, absolute=placed.absolute)
        return article_page(placed.article, frame, links, elsewhere)

    def _related(self, placed: Placed) -> list[Placed]:
        """Other articles, those on the same theme first, and at least one on another theme."""
        shuffled = self._random.sample(self.articles, len(self.articles))
        others = [each for each in shuffled if each.url != placed.url]
        same = [each for each in others if each.article.theme == placed.article.theme][: _READ_NEXT - 1]
        different = [each for each in others if each.article.theme != placed.article.theme]
        return [*same, *different][:_READ_NEXT]

    def _link_between(self, source: Placed, target: Placed) -> Link:
        link = self.link(source.url, target.url, target.article.title, absolute=source.absolute)
        into_the_middle = self._random.random() < _LINKS_WITH_FRAGMENT
        return replace(link, href=f"{link.href}#part-2") if into_the_middle else link

    def publish_page(self, target: str, title: str, texts: Iterable[str], head: str = "") -> str:
        """Publish a page of a few paragraphs."""
        return self.publish(target, self.plain_page(target, title, texts, head))

    def plain_page(self, target: str, title: str, texts: Iterable[str], head: str = "") -> Resource:
        """A page of a few paragraphs."""
        return Resource(document(title, paragraphs(texts), self.frame(self.url(target)), head=head))

    def publish_lists(self) -> None:
        """Publish the lists of articles on each theme, which link to every article of the site."""
        by_theme = sorted(self.articles, key=lambda placed: placed.article.theme)
        for theme, group in groupby(by_theme, key=lambda placed: placed.article.theme):
            articles = list(group)
            last = 1 + (len(articles) - 1) // _LISTED_ON_A_PAGE
            for number in range(1, last + 1):
                listed = articles[(number - 1) * _LISTED_ON_A_PAGE : number * _LISTED_ON_A_PAGE]
                self._publish_list(self.themes[theme], number, last, listed)

    def _publish_list(self, theme: Theme, number: int, last: int, listed: Iterable[Placed]) -> None:
        target = self.addressing.section(theme.slug, number)
        source = self.url(target)
        links = [self.link(source, placed.url, placed.article.title) for placed in listed]
        content = f"{paragraphs([theme.summary])}\n{link_list(links)}"
        if number < last:
            content += f"\n<p>{self.link(source, self._section(theme.slug, number + 1), 'More')}</p>"
        title = theme.name if number == 1 else f"{theme.name}, page {number}"
        page = document(title, content, self.frame(source), language=theme.language)
        self.publish(target, Resource(page))

    def publish_home(self, neighbours: Iterable[Site], head: str = "") -> None:
        """Publish the home page: the themes, some articles, the neighbours and the announced links."""
        themes = list(self.themes.values())
        shelves = [self.link(self.home, self._section(theme.slug, 1), theme.name) for theme in themes]
        picks = self._random.sample(self.articles, min(_READ_NEXT, len(self.articles)))
        content = "\n".join(
            [
                paragraphs([" ".join(theme.summary for theme in themes if theme.language == "en")]),
                f"<h2>Themes</h2>\n{link_list(shelves)}",
                f"<h2>{language('en').labels.read_next}</h2>",
                link_list(self.link(self.home, placed.url, placed.article.title) for placed in picks),
                f"<h2>Neighbours</h2>\n{link_list(Link(site.home, site.name) for site in neighbours)}",
                f"<h2>Odds and ends</h2>\n{link_list(self._notices)}" if self._notices else "",
            ]
        )
        self.publish("/", Resource(document(self.name, content, self.frame(self.home), head=head)))

    def _section(self, theme: str, page: int) -> str:
        return self.url(self.addressing.section(theme, page))
