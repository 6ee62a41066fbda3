"""Documents that are hard to parse: unusual formats, charsets, markup and links."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from crivello.lab.web.article import Article
from crivello.lab.web.features import Feature
from crivello.lab.web.page import Link, document, link_list, paragraphs
from crivello.lab.web.pdf import write_pdf
from crivello.lab.web.resource import TEXT, Resource
from crivello.lab.web.site import Site

SCRIPT_TITLE = "<script>alert(1)</script>"
NOINDEX = '<meta name="robots" content="noindex">\n'
_SPELLED_PATH = "/caf%C3%A9/opening-hours.html"

_CAFE_IN_FRENCH = (
    "Le café du phare, situé à côté du vieux môle, a été fondé par une famille de pêcheurs bretons. "
    "L'été, on y sert des crêpes au blé noir, des gâteaux à la crème brûlée et un thé glacé très apprécié. "
    "L'hiver, la salle chauffée au poêle reste ouverte jusqu'à l'extinction des réverbères."
)


@dataclass(frozen=True, slots=True)
class Documents:
    """The URLs of the documents, by feature."""

    urls: dict[Feature, str]
    spellings: tuple[str, ...]


def add_documents(first: Site, second: Site, third: Site, articles: Iterator[Article]) -> Documents:
    """Put each kind of document on one of the sites, with a link on that site's home page.

    The texts of the PDF and of the plain page are ``articles`` that occur nowhere else.
    """
    spelled, spellings = _many_spellings(second)
    urls = {
        Feature.UNDECLARED_LATIN1: _undeclared_latin1(first),
        Feature.PDF: _pdf(first, next(articles)),
        Feature.PLAIN_TEXT: _plain_text(second, next(articles)),
        Feature.IMAGE: _image(second),
        Feature.ARCHIVE: _archive(third),
        Feature.SCRIPT_TITLE: _script_title(third),
        Feature.NOINDEX: _noindex(first),
        Feature.NOFOLLOW_ONLY: _nofollow_only(third),
        Feature.MANY_SPELLINGS: spelled,
    }
    urls[Feature.BASE_HREF], urls[Feature.BEHIND_BASE] = _base_href(third)
    urls[Feature.MALFORMED], urls[Feature.BEHIND_MALFORMED] = _malformed(second)
    return Documents(urls, spellings)


def _undeclared_latin1(site: Site) -> str:
    page = (
        "<!DOCTYPE html>\n<html><head><title>Le café du phare à marée haute</title></head>\n"
        f"<body><h1>Le café du phare à marée haute</h1>\n<p>{_CAFE_IN_FRENCH}</p></body></html>\n"
    )
    url = site.publish("/old/cafe-du-phare.html", Resource(page.encode("latin-1"), "text/html"))
    site.announce(url, "Le café du phare (a page from the old site)")
    return url


def _pdf(site: Site, article: Article) -> str:
    url = site.publish(
        "/downloads/leaflet.pdf", Resource(write_pdf(article.title, article.paragraphs()), "application/pdf")
    )
    site.announce(url, f"Our leaflet as a PDF: {article.title}")
    return url


def _plain_text(site: Site, article: Article) -> str:
    text = "\n\n".join([article.title.upper(), *article.paragraphs()]) + "\n"
    url = site.publish("/texts/reading-copy.txt", Resource(text.encode(), TEXT))
    site.announce(url, f"A reading copy without markup: {article.title}")
    return url


def _image(site: Site) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = 16
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(16 * (row ^ column) for column in range(side)) for row in range(side))
    picture = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    url = site.put("/pictures/woven.png", Resource(picture, "image/png"))
    site.announce(url, "A picture of a woven pattern")
    return url


def _archive(site: Site) -> str:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("readme.txt"), "Nothing in here is a page.\n")
    url = site.put("/downloads/everything.zip", Resource(file.getvalue(), "application/zip"))
    site.announce(url, "Everything in one archive")
    return url


def _script_title(site: Site) -> str:
    text = "This page has a title that only a careless program would run. It is about quoting text in HTML."
    url = site.publish_page("/notes/quoting.html", SCRIPT_TITLE, [text])
    site.announce(url, "A note on quoting")
    return url


def _noindex(site: Site) -> str:
    text = "A draft that may be read by whoever finds it, but that wants to stay out of search engines."
    url = site.publish_page("/drafts/not-yet.html", "A draft, not for search engines", [text], NOINDEX)
    site.announce(url, "A draft of next month's issue")
    return url


def _nofollow_only(site: Site) -> str:
    text = "A visitor left a link to this page in the guest book, and nobody else vouches for it."
    target = "/guestbook/visitor.html"
    url = site.put(target, site.plain_page(target, "From the guest book", [text]))
    site.announce(url, "A visitor's page", rel="nofollow")
    return url


def _base_href(site: Site) -> tuple[str, str]:
    behind = site.publish_page(
        "/collection/drawers/third.html",
        "The third drawer of the collection",
        ["Whoever reads the base of the page before this one arrives here; the others do not."],
    )
    target = "/guide/collection.html"
    content = paragraphs(["The drawers of the collection are listed in the order in which they were filled."])
    content += link_list([Link("third.html", "The third drawer")])
    page = document(
        "A guide to the collection",
        content,
        site.frame(site.url(target), absolute=True),
        head='<base href="/collection/drawers/">\n',
    )
    url = site.publish(target, Resource(page))
    site.announce(url, "A guide to the collection")
    return url, behind


def _malformed(site: Site) -> tuple[str, str]:
    behind = site.publish_page(
        "/old/attic.html",
        "What was found in the attic",
        ["A page that only an untidy page links, in markup that no validator would pass."],
    )
    page = (
        "<html><title>An untidy page from the attic</title><body bgcolor=white>\n"
        "<h1>An untidy page <i>from the attic</h1></i>\n"
        "<p>The tags <b>overlap <i>each</b> other</i> and paragraphs are never closed\n"
        "<p>A table without rows: <table><td>one cell<p>and text in it\n"
        f"<ul><li>What was <a href={urlsplit(behind).path} class=x>found in the <b>attic</a></b>\n"
        '<li><a name="here">an anchor without a link &amp an entity without its end\n'
        "<p>An attribute <img alt='a \"quoted\" word' src=/pictures/woven.png> and a stray </div></span> end\n"
        "<!-- a comment that ends -- > late -->\n<p>The last words stand after the comment."
    )
    url = site.publish("/old/untidy.html", Resource(page.encode()))
    site.announce(url, "An untidy page from the attic")
    return url, behind


def _many_spellings(site: Site) -> tuple[str, tuple[str, ...]]:
    url = site.publish_page(
        _SPELLED_PATH,
        "Opening hours of the café",
        [
            "The café opens at eight and closes when the last guest has finished the tea. On Mondays it is closed."
        ],
    )
    hrefs = (
        _SPELLED_PATH,
        "/café/opening-hours.html",
        "/caf%c3%a9/opening-hours.html",
        "/kitchen/../caf%C3%A9/./opening-hours.html",
        "caf%C3%A9/opening-hours.html#monday",
        f" {url} ",
        url.replace("http://", "HTTP://"),
        url.removeprefix("http:"),
    )
    for number, href in enumerate(hrefs, start=1):
        site.announce(href, f"Opening hours of the café, spelling {number}")
    return url, hrefs
