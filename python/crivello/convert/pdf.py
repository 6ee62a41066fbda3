"""PDF, by pdfium: the lines of each page, headings by the outline, links by the annotations."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from crivello.convert import Converted, Markup, Unreadable

_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")
_URL = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]}]")
_WORD_BREAK = re.compile("[\ufffe\x02]\\s*")
_PASSWORD = 4


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of all pages."""
    del url, media_type, charset
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise Unreadable("it is encrypted") from None
        raise Unreadable(f"it is damaged ({error})") from None
    headings = _outline(document)
    markup = Markup()
    for number in range(len(document)):
        _page(document, number, headings[number], markup)
    about = document.get_metadata_dict()
    date = _DATE.match(about.get("ModDate", "") or about.get("CreationDate", ""))
    return Converted(
        about.get("Title", ""),
        str(markup),
        _language(document),
        "-".join(part for part in date.groups() if part) if date else "",
    )


def _outline(document: Any) -> dict[int, dict[str, int]]:
    """The titles of the outline and their levels, by page."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            found[page][_key(bookmark.get_title())] = min(bookmark.level + 1, 6)
    return found


def _key(text: str) -> str:
    """A heading without its number, its case and its spaces."""
    return re.sub(r"\W+", "", re.sub(r"^\W*(?:[A-Za-z]?[\d.]+\s)?", "", text.strip())).casefold()


def _page(document: Any, number: int, headings: dict[str, int], markup: Markup) -> None:
    page = document[number]
    text_page = page.get_textpage()
    lines = _WORD_BREAK.sub("", text_page.get_text_bounded()).splitlines()
    links = list(_links(document, page, text_page))
    for line in lines:
        level = headings.get(_key(line), 0) if headings else 0
        _line(line, links, markup)
        markup.line(level)
    for url, _ in links:
        # Its words were not found in one line.
        markup.link(url, "")
    markup.line()
    text_page.close()
    page.close()


def _line(line: str, links: list[tuple[str, str]], markup: Markup) -> None:
    """A line, with the links whose words are in it; each is used once, in order."""
    at = 0
    while links and (start := line.find(links[0][1], at)) >= 0 and links[0][1]:
        url, anchor = links.pop(0)
        markup.text(line[at:start])
        markup.link(url, anchor)
        at = start + len(anchor)
    for found in _URL.finditer(line, at):
        markup.text(line[at : found.start()])
        markup.link(found[0], found[0])
        at = found.end()
    markup.text(line[at:])


def _links(document: Any, page: Any, text_page: Any) -> Iterator[tuple[str, str]]:
    """The URLs of the annotations of a page, and the words under them."""
    import pypdfium2.raw as pdfium

    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
        buffer = ctypes.create_string_buffer(length)
        pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
        url = buffer.value.decode("utf-8", errors="replace")
        area = pdfium.FS_RECTF()
        if not url.startswith(("http://", "https://")):
            continue
        anchor = ""
        if pdfium.FPDFLink_GetAnnotRect(link, area):
            anchor = text_page.get_text_bounded(area.left, area.bottom, area.right, area.top)
        yield url, " ".join(_WORD_BREAK.sub("", anchor).split())


def _language(document: Any) -> str:
    import pypdfium2.raw as pdfium

    ask = getattr(pdfium, "FPDFCatalog_GetLanguage", None)
    if ask is None:
        return ""
    length = ask(document, None, 0)
    buffer = ctypes.create_string_buffer(length)
    ask(document, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", errors="replace")
