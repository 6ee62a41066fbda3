"""HTML: simple semantic pages that look fine in a browser."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from random import Random
from urllib.parse import urljoin, urlsplit

from crivello.lab.web.article import Article
from crivello.lab.web.themes import language

_STYLE = (
    "body{font:17px/1.6 Georgia,serif;max-width:42rem;margin:0 auto;padding:1rem;color:#222}"
    "header,footer,nav{font-family:sans-serif;font-size:.85rem;color:#666}"
    "header{border-bottom:1px solid #ccc;padding-bottom:.5rem}"
    "footer{border-top:1px solid #ccc;margin-top:2rem;padding-top:.5rem}"
    "nav a{margin-right:1em}a{color:#1a5276}h1{line-height:1.2}"
)


@dataclass(frozen=True, slots=True)
class Link:
    """An ``href`` as written in the page, and its anchor text."""

    href: str
    text: str
    rel: str = ""

    def __str__(self) -> str:
        rel = f' rel="{self.rel}"' if self.rel else ""
        return f'<a href="{escape(self.href)}"{rel}>{escape(self.text)}</a>'


@dataclass(frozen=True, slots=True)
class Frame:
    """The parts around the content of a page: the site's name and its navigation."""

    site_name: str
    navigation: tuple[Link, ...]


def spelled_relatively(source: str, target: str, random: Random) -> str:
    """An ``href`` in page ``source`` for ``target`` on the same host: from the root, or relative."""
    parts = urlsplit(target)
    query = f"?{parts.query}" if parts.query else ""
    from_root = parts.path + query
    if random.random() < 0.5:
        return from_root
    folder = posixpath.dirname(urlsplit(source).path)
    relative = posixpath.relpath(parts.path, folder) + ("/" if parts.path.endswith("/") else "") + query
    return relative if urljoin(source, relative) == target else from_root


def document(title: str, content: str, frame: Frame, *, language: str = "en", head: str = "") -> bytes:
    """A complete page around ``content``, which is already HTML."""
    navigation = "\n".join(map(str, frame.navigation))
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title, quote=False)}</title>\n{head}<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><strong>{escape(frame.site_name)}</strong>\n<nav>\n{navigation}\n</nav></header>\n"
        f"<main>\n<h1>{escape(title, quote=False)}</h1>\n{content}\n</main>\n"
        f"<footer>{escape(frame.site_name)}</footer>\n</body>\n</html>\n"
    ).encode()


def article_page(
    article: Article, frame: Frame, read_next: Sequence[Link], elsewhere: Sequence[Link]
) -> bytes:
    """The page of an article with its links."""
    labels = language(article.language).labels
    sections = [
        f'<section id="part-{number}">\n<h2>{escape(section.heading)}</h2>\n{paragraphs(section.paragraphs)}\n</section>'
        for number, section in enumerate(article.sections, start=1)
    ]
    content = "\n".join(
        [
            f"<article>\n{paragraphs([article.lead])}",
            *sections,
            f"<p>{escape(labels.see_also)} {read_next[0]}.</p>\n</article>",
            f"<aside>\n<h2>{escape(labels.read_next)}</h2>\n{link_list(read_next[1:])}",
            f"<h2>{escape(labels.elsewhere)}</h2>\n{link_list(elsewhere)}\n</aside>",
        ]
    )
    return document(article.title, content, frame, language=article.language)


def paragraphs(texts: Iterable[str]) -> str:
    """Each text in a separate paragraph."""
    return "\n".join(f"<p>{escape(text, quote=False)}</p>" for text in texts)


def link_list(links: Iterable[Link]) -> str:
    """The links as a list."""
    items = "\n".join(f"<li>{link}</li>" for link in links)
    return f"<ul>\n{items}\n</ul>"
