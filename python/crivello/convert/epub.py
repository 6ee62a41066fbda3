"""EPUB: the chapters of a book, in the order of its spine."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from crivello.convert import Converted, Markup, Unreadable
from crivello.convert.package import Package, metadata, parse

_BODY = re.compile(r"<body\b[^>]*>(.*?)(?:</body\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# A link inside the book leads nowhere on the web.
_INNER_LINK = re.compile(r"""\s(?:href|src)\s*=\s*(?!["']https?:)("[^"]*"|'[^']*')""", re.IGNORECASE)


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of a book, with its headings and its links to the web."""
    del url, media_type, charset
    package = Package(body)
    opf = _package_document(package)
    encrypted = _encrypted(package)
    markup = Markup()
    for chapter in _spine(package, opf):
        if chapter in encrypted:
            raise Unreadable("it is encrypted")
        page = _decoded(package.file(chapter))
        found = _BODY.search(page)
        if found:
            markup.html(_INNER_LINK.sub("", found[1]) + "\n")
    about = metadata(package.pieces(opf))
    date = about.get("date", "") or about.get("meta", "")
    return Converted(about.get("title", ""), str(markup), about.get("language", ""), date)


def _package_document(package: Package) -> str:
    found: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "rootfile" and "full-path" in attributes:
            found.append(attributes["full-path"])

    # Some books have all of their files in one folder.
    container = "META-INF/container.xml"
    where = next((name for name in package.names if name.endswith(container)), container)
    parse(package.pieces(where), start)
    if not found:
        raise Unreadable("it is damaged (there is no package document)")
    return where.removesuffix(container) + found[0]


def _spine(package: Package, opf: str) -> list[str]:
    """The files of the chapters, in reading order."""
    files: dict[str, str] = {}
    order: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "item":
            href = unquote(attributes.get("href", ""))
            files[attributes.get("id", "")] = posixpath.normpath(posixpath.join(posixpath.dirname(opf), href))
        elif tag == "itemref":
            order.append(attributes.get("idref", ""))

    parse(package.pieces(opf), start)
    return [files[item] for item in order if item in files]


def _encrypted(package: Package) -> set[str]:
    """The files that are encrypted: fonts often are, in a book that can be read."""
    found: set[str] = set()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "CipherReference":
            found.add(posixpath.normpath(unquote(attributes.get("URI", ""))))

    parse(package.pieces("META-INF/encryption.xml"), start)
    return found


def _decoded(chapter: bytes) -> str:
    is_utf_16 = chapter[:2] in (b"\xff\xfe", b"\xfe\xff")
    return chapter.decode("utf-16" if is_utf_16 else "utf-8-sig", errors="replace")
